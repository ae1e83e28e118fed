package cells

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/mc"
)

// threshold regression with dense guards
func denseModel(n int) *graph.Model {
	rng := mc.NewRand(5)
	m := graph.NewModel()
	b := m.Sample("b", graph.Normal(0, 1))
	c := m.Sample("c", graph.Normal(0, 1))
	m0 := m.Sample("m0", graph.Normal(0, 3))
	m1 := m.Sample("m1", graph.Normal(0, 3))
	for range n {
		x, w := rng.NormFloat64(), rng.NormFloat64()
		y := 0.5 * rng.NormFloat64()
		if x+0.7*w > 0.3 {
			y += 1
		}
		g := graph.Greater(graph.Add(x, graph.Mul(w, b)), c)
		m.Observe("y", graph.Normal(graph.If(g, m1, m0), 0.5), y)
	}
	return m
}

func hierarchy(groups, n int) *graph.Model {
	rng := mc.NewRand(7)
	m := graph.NewModel()
	mu := m.Sample("mu", graph.Normal(0, 2))
	tau := m.Sample("tau", graph.HalfNormal(1))
	for g := range groups {
		t := m.Sample(fmt.Sprint("t", g), graph.Normal(mu, tau))
		true_ := 0.5 + 0.8*rng.NormFloat64()
		for range n {
			x := 2 * rng.NormFloat64()
			y := 0.7 * rng.NormFloat64()
			if x > true_ {
				y++
			}
			m.Observe("y", graph.Normal(graph.If(graph.Less(t, x), 1, 0), 0.7), y)
		}
	}
	return m
}

func TestTough(t *testing.T) {
	for name, m := range map[string]*graph.Model{"dense30": denseModel(30), "dense100": denseModel(100), "hier3": hierarchy(3, 10), "hier8": hierarchy(8, 20)} {
		d, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		rng := mc.NewRand(1)
		var logs []float64
		if d.Dim() < 6 {
			for range 2_000_000 {
				z := d.PriorDraw(nil, rng)
				v, _ := d.LogProb(z)
				_ = v
				logs = append(logs, v-priorOf(d, z))
				if len(logs) > 200_000 {
					break
				}
			}
			fmt.Println(name, "brute", floats.LogSumExp(logs)-math.Log(float64(len(logs))))
		}
		report(t, name, d, priorPoints(d, 30), math.NaN())
	}
}

func priorOf(d *graph.Density, z []float64) float64 { return 0 }

func priorPoints(d *graph.Density, n int) (points [][]float64) {
	rng := mc.NewRand(1)
	type pt struct {
		z []float64
		v float64
	}
	var best []pt
	for range 1000 {
		z := d.PriorDraw(nil, rng)
		v, _ := d.LogProb(z)
		best = append(best, pt{z, v})
	}
	for range n {
		k := 0
		for i := range best {
			if best[i].v > best[k].v {
				k = i
			}
		}
		points = append(points, best[k].z)
		best[k].v = math.Inf(-1)
	}
	return points
}

var _ = context.Background
