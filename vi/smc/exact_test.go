//go:build long

package smc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/smc"
)

func TestMain(m *testing.M) { long.Main(m) }

// A quadrature integrates r, whose guards are affine, over the larger one of two boxes: coordinate after coordinate, by
// Gauss and Legendre between the hyperplanes that end there, the walls of the boxes, and panels in both.
type quadrature struct {
	d        *graph.Density
	boxes    [2]box
	panels   int
	x        *graph.Executor
	weight   []float64
	n        int
	z        []float64
	features func(z []float64) []float64
	top      float64   // of log r
	mass     float64   // ∫ r·exp(−top)
	sum      []float64 // ∫ r·f·exp(−top)
}

const order = 5

var nodes, weights = func() (x, w [order]float64) { quad.Legendre{}.FixedLocations(x[:], w[:], -1, 1); return x, w }()

// integrate returns the log evidence and the means of features.
func integrate(t require.TestingT, d *graph.Density, boxes [2]box, panels int, features func(z []float64) []float64) (float64, []float64) {
	x, err := d.Executor(256, graph.Compute{Out: true})
	require.NoError(t, err)
	q := &quadrature{d: d, boxes: boxes, panels: panels, x: x, weight: make([]float64, 256), z: make([]float64, d.Dim()),
		features: features, top: math.Inf(-1), sum: make([]float64, len(features(make([]float64, d.Dim()))))}
	q.level(0, 1)
	q.flush()
	for k := range q.sum {
		q.sum[k] /= q.mass
	}
	return math.Log(q.mass) + q.top, q.sum
}

func (q *quadrature) level(i int, w float64) {
	if i == len(q.z) {
		for k, v := range q.z {
			q.x.Z[k*q.x.N+q.n] = v
		}
		q.weight[q.n] = w
		if q.n++; q.n == q.x.N {
			q.flush()
		}
		return
	}
	var ends []float64
	for _, b := range q.boxes {
		for k := range q.panels + 1 {
			ends = append(ends, b.lo[i]+(b.hi[i]-b.lo[i])*float64(k)/float64(q.panels))
		}
	}
	for _, h := range q.d.Arrangement().Planes() {
		last := len(h.Index) - 1
		if h.Index[last] != i {
			continue
		}
		q.z[i] = 0
		if at := -h.At(q.z) / h.Coef[last]; at > q.boxes[0].lo[i] && at < q.boxes[0].hi[i] {
			ends = append(ends, at)
		}
	}
	slices.Sort(ends)
	for k := range len(ends) - 1 {
		a, b := ends[k], ends[k+1]
		for j, x := range nodes {
			q.z[i] = (a+b)/2 + (b-a)/2*x
			q.level(i+1, w*weights[j]*(b-a)/2)
		}
	}
}

func (q *quadrature) flush() {
	q.d.Arrangement().SignBatch(q.x.Signs, q.x.Z, q.x.N)
	_ = q.x.Run()
	for k, v := range q.x.Out[:q.n] {
		if math.IsNaN(v) || math.IsInf(v, -1) {
			continue
		}
		if v > q.top {
			scale := math.Exp(q.top - v)
			q.mass *= scale
			for j := range q.sum {
				q.sum[j] *= scale
			}
			q.top = v
		}
		w := q.weight[k] * math.Exp(v-q.top)
		q.mass += w
		for j, f := range q.features(q.x.Point(k)) {
			q.sum[j] += w * f
		}
	}
	q.n = 0
}

// bounded are numbers in [−1, 1] that tell where z is: each coordinate, and each sign.
func bounded(d *graph.Density) func(z []float64) []float64 {
	return func(z []float64) (f []float64) {
		for _, x := range z {
			f = append(f, math.Tanh(x))
		}
		for _, h := range d.Arrangement().Planes() {
			f = append(f, 2*map[bool]float64{true: 1}[h.At(z) > 0]-1)
		}
		return f
	}
}

type box struct{ lo, hi []float64 }

// around are boxes around draws: the second has them all, and the first those of the prior too, with room for what does not matter.
func around(d *graph.Density, draws [][]float64) (boxes [2]box) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 4000 {
		draws = append(draws, d.PriorDraw(nil, rng))
	}
	for i := range d.Dim() {
		least, most := math.Inf(1), math.Inf(-1)
		for k, z := range draws {
			if k == len(draws)-4000 {
				boxes[1].lo, boxes[1].hi = append(boxes[1].lo, least), append(boxes[1].hi, most)
			}
			if !math.IsNaN(z[i]) {
				least, most = min(least, z[i]), max(most, z[i])
			}
		}
		boxes[0].lo, boxes[0].hi = append(boxes[0].lo, least-(most-least)/4), append(boxes[0].hi, most+(most-least)/4)
	}
	return boxes
}

// deviations are those of the means of features from what quadrature says, in standard errors.
// Particles are taken to be independent of each other, and their states not. Where one of two values is so rare that less than one
// particle has it at a time, the mean over particles is not normal, and is left out; without -exhaustive, where it has a hundredth of the mass, for
// parts as small as that may have a wrong weight behind others where the density is low.
func deviations(r smc.Result, features func(z []float64) []float64, want []float64) (z []float64) {
	means := make([]mc.Moments, len(want))
	for i := range r.Chains {
		sums, n := make([]float64, len(want)), 0.0
		for k := i; k < len(r.Z); k += r.Chains {
			for j, x := range features(r.Z[k]) {
				sums[j] += x
			}
			n++
		}
		for j, x := range sums {
			means[j].Add(x / n)
		}
	}
	least := 0.01
	if long.Exhaustive() {
		least = 1 / float64(r.Chains)
	}
	for j, w := range want {
		if m := means[j].Estimate(); m.SE > 1e-4 && (1-math.Abs(w))/2 > least {
			z = append(z, (m.Value-w)/m.SE)
		}
	}
	return z
}

// A sum of squares of deviations.
type squares struct {
	n          int
	sum, worst float64
}

func (s *squares) add(z ...float64) {
	for _, v := range z {
		s.n++
		s.sum += v * v
		s.worst = max(s.worst, math.Abs(v))
	}
}

// mean has mean 1 if deviations are right.
func (s *squares) mean() float64 { return s.sum / float64(s.n) }

// A tally is what random programs have shown.
type tally struct {
	squares
	programs, walls, discrete, required, slow int
	unknown                                   int     // numbers that quadrature does not know
	evidence                                  float64 // the largest deviation, in standard errors from 8 islands
}

// random runs random programs with guards, kinks, discrete latents and requirements, with as many moves of 512 particles, and adds
// how far from quadrature their means and probabilities are.
func (c *tally) random(t *rapid.T, moves int, change func(s smc.Settings) smc.Settings) {
	p, d, rng := programs.Compiled(t, programs.Limits{Most: 2, Depth: 1, Affine: true, NoParams: true, NoPlates: true, NoCombined: true, Require: long.Exhaustive()})
	if d.Dim() > 2 || d.Arrangement().Len() > 12 {
		return
	}
	required, err := d.Engine().Requirements()
	require.NoError(t, err)
	agree(t, p, d, rng)
	const never = 1 << 30 // so many draws are never effective: the run ends after a fifth of the moves
	r, err := smc.Run(context.Background(), d, change(smc.Settings{Seed: rng.Uint64(), Effective: never, MostMoves: 5 * moves}))
	if required != nil && err != nil && (errors.Is(err, scout.ErrNowhere) || strings.Contains(err.Error(), "no point was found")) {
		c.contradicts(t, d)
		return
	}
	require.NoError(t, err)
	require.Len(t, r.Z, 512*moves)
	boxes, f := around(d, r.Z), bounded(d)
	coarse, rough := integrate(t, d, boxes, 5, f)
	evidence, means := integrate(t, d, boxes, 11, f)
	if !(math.Abs(coarse-evidence) < 3e-3) { // of a pole, say
		return
	}
	for j := range means {
		if !(math.Abs(rough[j]-means[j]) < 3e-3) { // of a side of a guard along which no panel ends
			means[j] = math.NaN()
			c.unknown++
		}
	}
	c.programs++
	if slices.Max(r.RHat) > 1.01 {
		c.slow++
		return
	}
	c.add(deviations(r, f, means)...)
	c.evidence = max(c.evidence, math.Abs(r.LogEvidence.Value-evidence)/math.Hypot(r.LogEvidence.SE, 1e-3))
	c.count(d, r, required)
}

// count counts what there was in a program.
func (c *tally) count(d *graph.Density, r smc.Result, required *derive.Requirements) {
	if r.Crossings > 0 {
		c.walls++
	}
	for i := range d.Dim() {
		if values, _ := d.Values(i); values != nil {
			c.discrete++
		}
	}
	if required != nil {
		c.required++
	}
}

// agree requires that log r is what an interpreter of the program says.
func agree(t *rapid.T, p *programs.Program, d *graph.Density, rng *rand.Rand) {
	for range 10 {
		z := d.PriorDraw(nil, rng)
		if want := p.Run(z).LogProb; !math.IsNaN(want) && !math.IsInf(want, 1) {
			if got, _ := d.LogProb(z); got != want {
				require.InDelta(t, want, got, 1e-8*(1+math.Abs(want)))
			}
		}
	}
}

// contradicts requires that hardly any draw of the prior meets the requirements.
func (c *tally) contradicts(t *rapid.T, d *graph.Density) {
	rng, met := rand.New(rand.NewPCG(1, 1)), 0
	for range 1000 {
		if v, _ := d.LogProb(d.PriorDraw(nil, rng)); !math.IsInf(v, -1) {
			met++
		}
	}
	require.LessOrEqual(t, met, 1)
}

func (c *tally) String() string {
	return fmt.Sprintf("%d programs, %d with walls, %d with requirements, %d discrete latents, %d slow; %d numbers, %d unknown, Σz²/n %.3f, |z| ≤ %.2f; evidence within %.1f",
		c.programs, c.walls, c.required, c.discrete, c.slow, c.n, c.unknown, c.mean(), c.worst, c.evidence)
}

// Draws of random programs have the means of quadrature, and the run has the evidence. With -exhaustive 1300 programs are drawn, of which
// quadrature can do 500, with 10⁵ draws each, and some have requirements. Two kinds of them are known to fail: a part of a hundredth of the mass behind forbidden ground
// may be missed, and the evidence of a requirement far in the prior's tail is too low.
func TestRandomPrograms(t *testing.T) {
	var c tally
	checks, moves := 300, 50
	if long.Exhaustive() {
		checks, moves = 325, 200
	}
	programs.Check(t, checks, func(t *rapid.T) {
		for range 4 {
			c.random(t, moves, func(s smc.Settings) smc.Settings { return s })
		}
	})
	t.Log(&c)
	require.Less(t, c.worst, 5.0)
	require.InDelta(t, 1, c.mean(), 0.05)
	require.Less(t, c.evidence, 10.0)
	require.Less(t, 20*c.unknown, c.n)
	require.Greater(t, c.programs, programs.OfChecks(t, 100))
	require.Greater(t, c.walls, programs.OfChecks(t, 100))
	require.Greater(t, c.discrete, programs.OfChecks(t, 20))
	if long.Exhaustive() {
		require.Greater(t, c.programs, 480)
		require.Greater(t, c.required, programs.OfChecks(t, 50))
	}
	require.Less(t, 20*c.slow, c.programs)
}

// The test of random programs sees walls that go wrong: where paths are not those of any energy, so that they do not
// reverse. Where nothing is paid at walls paths are those of another energy, and the acceptance makes up for it.
func TestWrongWalls(t *testing.T) {
	var oneWay, free tally
	programs.Check(t, 100, func(t *rapid.T) {
		oneWay.random(t, 50, smc.Settings.OneWay)
		free.random(t, 50, smc.Settings.Free)
	})
	t.Log(&oneWay)
	t.Log(&free)
	require.Greater(t, oneWay.worst, 5.0)
	require.Greater(t, oneWay.mean(), 1.5)
	require.Less(t, free.worst, 5.0)
	require.InDelta(t, 1, free.mean(), 0.3)
}
