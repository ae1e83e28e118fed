//go:build long

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// programOf is a program that is written by hand.
func programOf(write func(b *builder)) *program {
	b := &builder{program: &program{model: graph.NewModel()}, rng: rand.New(rand.NewPCG(1, 2))}
	write(b)
	return b.program
}

func lettered(l law, letter string) law {
	l.letter = letter
	return l
}

// A normal mean with a normal prior has a closed form, and so has its probability of a side.
func TestConjugate(t *testing.T) {
	var y float64
	p := programOf(func(b *builder) {
		mu := b.sample(lettered(reals[0], "x"), b.number(1), b.number(2))
		b.name("high", b.compare(true, mu, b.number(0.7), false))
		k := b.sample(lettered(bernoulli, "k"), b.number(0.3))
		b.observe("y", reals[0], 1, 0, mu, b.number(0.5))
		b.name("one", b.equal(k, 1))
	})
	_, err := p.model.Compile()
	require.NoError(t, err)
	_, err = fmt.Sscanf(p.lines[3], `m.Observe("y", Normal(x0, 0.5), %g)`, &y)
	require.NoError(t, err)
	post, doubtful, err := p.posterior(1, 1)
	require.NoError(t, err)
	require.Empty(t, doubtful)
	variance := 1 / (1/4. + 1/0.25)
	mean := variance * (1/4. + y/0.25)
	sd := math.Sqrt(variance)
	require.InDelta(t, mean, post.mean[0], 1e-5*sd)
	require.InEpsilon(t, sd, post.sd[0], 1e-5)
	require.InDelta(t, 0.5*math.Erfc((0.7-mean)/sd/math.Sqrt2), post.probs[0], 1e-6)
	require.InDelta(t, 0.3, post.probs[1], 1e-6)
	require.InDelta(t, logNormal(y, 1, math.Sqrt(4.25)), post.logEvidence, 1e-6)
}

// Events of two uniform latents are areas, though values depend on other guards.
func TestAreas(t *testing.T) {
	p := programOf(func(b *builder) {
		x, y := b.sample(lettered(uniform(-10, 10), "x")), b.sample(lettered(uniform(-5, 5), "y"))
		y2 := b.choose(b.compare(false, b.add(x, y), b.number(4), false), b.add(y, b.number(5)), y)
		x2 := b.choose(b.compare(false, b.add(x, y2), b.number(3), false), x, b.add(y2, b.number(1)))
		b.name("high", b.compare(true, b.add(x2, y2), b.number(10), false))
		b.name("round", b.compare(false, b.add(b.square(x), b.square(y)), b.number(9), true))
	})
	post, doubtful, err := p.posterior(1, 1)
	require.NoError(t, err)
	require.Empty(t, doubtful)
	require.InDelta(t, 0.191875, post.probs[0], 1e-5)
	require.InDelta(t, 9*math.Pi/200, post.probs[1], 1e-5)
	require.InDelta(t, 20/math.Sqrt(12), post.sd[0], 1e-4)
}

// A latent without moments has none, and one of which only the mean exists.
func TestNoMoments(t *testing.T) {
	p := programOf(func(b *builder) {
		z := b.sample(lettered(reals[6], "x"), b.number(1), b.number(2))
		b.sample(lettered(student(1.5), "x"), b.number(0), b.number(1))
		b.name("high", b.compare(true, z, b.number(3), false))
	})
	post, doubtful, err := p.posterior(1, 1)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, doubtful)
	require.InDelta(t, 0.25, post.probs[0], 1e-6)
}

// The tape and the density of the model agree at draws from the prior, where the slope of
// each latent in its coordinate is a difference.
func TestTapeAgainstDensity(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	points := 0
	for n := range uint64(60) {
		p := generate(5, n)
		d, err := p.model.Compile()
		if err != nil || len(p.continuous()) < len(p.latents) {
			continue
		}
		r, l := p.registers(), p.levels(p.continuous())
		for range 5 {
			z := d.PriorDraw(nil, rng)
			want := 0.0
			for i, x := range d.Constrain(z) {
				r[p.latents[i].reg] = x
				if d.Coordinate(i).Transformed() {
					h := 1e-5
					want += math.Log((d.Coordinate(i).Value(z[i]+h) - d.Coordinate(i).Value(z[i]-h)) / (2 * h))
				}
			}
			for k := range l {
				want += l[k].compute(r)
			}
			got, err := d.LogProb(z)
			require.NoError(t, err)
			if math.IsNaN(want) || math.IsInf(want, 0) || math.Abs(want) > 1e8 {
				continue
			}
			points++
			assert.InDelta(t, want, got, 1e-5*(1+math.Abs(want)), "program %d\n%v", n, p)
		}
	}
	require.Greater(t, points, 80)
}

// Each kind of number that is wrong is found, and none that is right.
func TestCompare(t *testing.T) {
	p := problem{
		log: -3, mean: map[string]float64{"x": 1, "k": 0.5}, sd: map[string]float64{"x": 2, "k": 0.5},
		probs: map[string][]float64{"g": {0.2}}, masses: map[string][]float64{"k": {0.5, 0.5}},
	}
	said := func() fitted {
		return fitted{
			trust: true, log: -3.04, logE: 0.001, mean: map[string]float64{"x": 1.09, "k": 0.5}, sd: map[string]float64{"x": 1.91, "k": 0.5},
			probs: map[string][]float64{"g": {0.209}}, masses: func(string) (v, m []float64) { return []float64{0, 1}, []float64{0.495, 0.505} },
		}
	}
	require.Empty(t, p.compare(said()))
	for what, spoil := range map[string]func(f *fitted){
		"mean of x":    func(f *fitted) { f.mean["x"] = 1.11 },
		"sd of x":      func(f *fitted) { f.sd["x"] = math.NaN() },
		"P(g)":         func(f *fitted) { f.probs["g"][0] = 0.18 },
		"log evidence": func(f *fitted) { f.log = -2.9 },
		"P(k = 0)":     func(f *fitted) { f.masses = func(string) (v, m []float64) { return []float64{1}, []float64{0.5} } },
	} {
		f := said()
		spoil(&f)
		list := p.compare(f)
		require.Len(t, list, 1, what)
		require.Equal(t, what, list[0].what)
	}
	wide := said()
	wide.log, wide.logE = -2.9, 0.03
	require.Empty(t, p.compare(wide))
}

// The command writes a report of as many programs as it is told.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	out := filepath.Join(t.TempDir(), "verdict.md")
	require.NoError(t, options{programs: 2, seed: 1, out: out}.run())
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(text), "| all | 2 |")
}
