// How much of the posterior a cell has: its mode, a distribution of normals around it, and the draws of it that are weighed.

package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/newton"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/weighted"
)

// When log r at the edge of a cell is looked at.
const (
	farOutside = -1.5 // the log of a normal's mass in a cell below which its mode is far outside,
	uneven     = 0.05 // and the nats that its ELBO there is below the log evidence
	little     = 2.3  // and above the least that a cell may be worth,
	alike      = 0.01 // nats of the log integral, and squared standard deviations of the mode: then both normals are one
)

// evaluate finds what a cell is worth, if it may count beside those that are known: by the mode of what log r is there, which may be
// outside, and where that is far by the edge of the cell as well.
func (f *finder) evaluate(ctx context.Context, c *Cell, known totals, rng *rand.Rand) error {
	drawn := slices.Clone(c.point)
	precision, top, err := f.mode.extend(ctx, c.point, c.region)
	c.modeless = precision == nil
	if err != nil {
		return err
	}
	w := f.lines.boundsOf(c.span)
	inside := math.Inf(-1)
	if precision != nil && (c.drawn || f.counts(known, top, c.point)) {
		inside = f.most(c.point, precision, w.half)
	}
	if f.counts(known, top+inside, c.point) {
		if err := f.propose(ctx, c, c.point, precision, top+inside, known, rng); err != nil {
			return err
		}
	}
	if len(f.switches) > 0 || inside > farOutside || len(w.half) == 0 {
		return nil
	}
	if c.Q != nil && (c.LogEvidence.Value-c.ELBO.Value < uneven || !known.counts(c.LogEvidence.Value-little, c.moments)) {
		return nil
	}
	edge := *c
	edge.Q, edge.modeless = nil, false
	switch {
	case c.drawn:
		edge.point = drawn
	case c.Q != nil:
		edge.point = slices.Clone(c.center)
	default:
		return nil
	}
	mean, curvature, bound, err := f.mode.edge(ctx, edge.point, c.region, w.all)
	if err != nil || mean == nil {
		return err
	}
	if c.Q != nil && math.Abs(bound-top) < alike {
		off := mat.NewVecDense(len(mean), floats.SubTo(make([]float64, len(mean)), mean, c.point))
		if mat.Inner(off, curvature, off) < alike {
			return nil
		}
	}
	if bound += f.most(mean, curvature, w.half); !f.counts(known, bound, mean) {
		return nil
	}
	if err := f.propose(ctx, &edge, mean, curvature, bound, known, rng); err != nil {
		return err
	}
	if edge.Q != nil && (c.Q == nil || edge.ELBO.Value > c.ELBO.Value) {
		*c = edge
	}
	return nil
}

// propose gives a cell the normal with a mean and a precision, and those at its other modes, confined to the cell, and weighs it.
// bound is one of the log of the normal's integral in the cell.
func (f *finder) propose(ctx context.Context, c *Cell, mean []float64, precision *mat.SymDense, bound float64, known totals, rng *rand.Rand) error {
	w := f.lines.boundsOf(c.span)
	logs, normals, err := f.modes(ctx, c, mean, precision, bound, w)
	if err != nil {
		return err
	}
	c.open = w.curved
	parts := make([]family.Q, len(normals))
	for k, normal := range normals {
		if parts[k] = normal; len(w.half) == 0 {
			continue
		}
		confined, open, err := normal.Confine(w.half)
		if err != nil {
			return nil // the region is empty
		}
		parts[k] = confined
		for _, j := range open {
			if !slices.Contains(c.open, w.of[j]) {
				c.open = append(c.open, w.of[j])
			}
		}
	}
	if c.Q = parts[0]; len(parts) > 1 {
		c.Q = mixture.New(logs, parts)
	}
	if len(f.switches) > 0 {
		c.Q = f.given.Over(c.Q)
	}
	return f.weigh(ctx, c, known, rng)
}

// counts reports whether a cell of so much mass near z may be one to look at.
func (f *finder) counts(known totals, log float64, z []float64) bool {
	return known.counts(log, moments{f.values(z), make([]float64, len(z))})
}

// When another mode counts.
const (
	modeBelow = 12 // nats of its integral below the first one's
	mostModes = 8
	lostWays  = 16   // climbs that end where another one did, or nowhere: then there are no more
	fewDraws  = 2000 // are asked whether they are in a cell that is not everything
)

// modes are the normals at all modes of a cell that climbs from f.draws find, beside a first one, with bounds of the
// logs of their integrals in the cell, of which the first one's is given. A mixture has as many when its components may change places.
func (f *finder) modes(ctx context.Context, c *Cell, mean []float64, precision *mat.SymDense, bound float64, w bounds) (
	logs []float64, normals []*family.Normal, err error,
) {
	logs, normals = []float64{bound}, []*family.Normal{f.normal(mean, precision)}
	apart := make([]bool, f.d.Dim()) // latents whose place says nothing
	for i := range apart {
		apart[i] = i < f.d.Params() || sumout.Among(f.switches, i)
	}
	found := []moments{momentsOfNormal(normals[0])}
	known := func(at []float64) bool {
		return slices.ContainsFunc(found, func(m moments) bool { return m.near(at, apart) })
	}
	lost := 0
	for _, z := range f.startsIn(w.all) {
		if lost == lostWays || len(normals) == mostModes {
			break
		}
		if known(z) {
			continue
		}
		at := slices.Clone(z)
		lost++
		p, top, err := f.mode.extend(ctx, at, c.region)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			continue
		}
		for _, s := range f.switches { // whose place in the normal says nothing
			at[s.Latent] = c.point[s.Latent]
			p.SetSym(s.Latent, s.Latent, precision.At(s.Latent, s.Latent))
		}
		if top += f.most(at, p, w.half); top > logs[0]-modeBelow && !known(at) {
			lost--
			logs, normals = append(logs, top), append(normals, f.normal(at, p))
			found = append(found, momentsOfNormal(normals[len(normals)-1]))
		}
	}
	return logs, normals, nil
}

// startsIn are the points from which climbs to other modes of a cell begin: draws on its sides.
func (f *finder) startsIn(sides []regions.Side) (starts [][]float64) {
	stride := 1
	if len(sides) > 0 {
		stride = max(1, len(f.draws)/fewDraws)
	}
	for k := 0; k < len(f.draws); k += stride {
		if z := f.draws[k]; !f.lines.outside(sides, z) {
			starts = append(starts, z)
		}
	}
	return starts
}

// most is a bound of the log probability of sides under a normal: that of the least
// probable one.
func (f *finder) most(mean []float64, precision *mat.SymDense, sides []family.Side) float64 {
	n, first := len(mean), f.d.Params()
	raw := precision.RawSymmetric()
	h, root := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			h[i*n+j] = raw.Data[j*raw.Stride+i]
		}
	}
	if !newton.Cholesky(root, h, n, 0) {
		return 0
	}
	most, a := 0.0, make([]float64, n)
	for _, h := range sides {
		clear(a)
		for k, i := range h.Index {
			if i >= first {
				a[i] = h.Coef[k]
			}
		}
		newton.SolveLower(root, a, n)
		v := floats.Dot(a, a)
		t := h.At(mean) / math.Sqrt(v)
		if !h.Positive {
			t = -t
		}
		most = min(most, truncnorm.LogMass(-t, math.Inf(1)))
	}
	return most
}

const (
	thorough = 512 // draws of a cell of which those of its search say little
	tiltMore = 1.1 // times as many draws should be effective if a cell is tilted
)

// weigh estimates the evidence of a cell, well enough for what it is beside those that are known. It tilts a distribution, if that makes
// weights more even and finds no less.
func (f *finder) weigh(ctx context.Context, c *Cell, known totals, rng *rand.Rand) error {
	if err := f.weighBy(ctx, c, quick, rng); err != nil {
		return err
	}
	if t := *c; c.even*tiltMore < 1 {
		if t.Q = family.Tilted(c.Q); !slices.Equal(t.Q.Theta(), c.Q.Theta()) {
			if err := f.weighBy(ctx, &t, quick, rng); err != nil {
				return err
			}
			if t.even > tiltMore*c.even && t.LogEvidence.Value > c.LogEvidence.Value-4*math.Hypot(t.LogEvidence.SE, c.LogEvidence.SE) {
				*c = t
			}
		}
	}
	if c.share = known.share(c.LogEvidence.Value, c.moments); c.known() {
		return nil
	}
	return f.weighBy(ctx, c, thorough, rng)
}

func (f *finder) weighBy(ctx context.Context, c *Cell, n int, rng *rand.Rand) error {
	w, err := ratios(ctx, f.d, f.x, c.Q, n, rng)
	if err != nil {
		return err
	}
	c.center = make([]float64, f.d.Dim())
	var inside []float64
	var values [][]float64
	for k, z := range w.z {
		if f.lines.outside(c.open, z) {
			w.ratio[k] = math.Inf(-1)
			continue
		}
		inside, values = append(inside, w.ratio[k]), append(values, f.values(z))
		floats.Add(c.center, z)
	}
	if len(inside) == 0 {
		c.moments = moments{make([]float64, f.d.Dim()), make([]float64, f.d.Dim())}
		c.LogEvidence = mc.Estimate{Value: math.Inf(-1), SE: math.Inf(1)}
		return nil
	}
	floats.Scale(1/float64(len(inside)), c.center)
	c.moments = momentsOf(values)
	if smoothed, err := weighted.ParetoSmooth(inside); err == nil {
		c.KHat = smoothed.K
	}
	c.ELBO = mc.Mean(inside)
	c.ELBO.Value += math.Log(float64(len(inside)) / float64(n))
	c.LogEvidence, c.even = mc.LogMean(w.ratio), evenness(w.ratio)
	return nil
}

// How a cell is judged.
const (
	leastDraws = 400
	mostDraws  = 8000
	unreliable = 0.7 // k-hat
)

// draws is how many judge a cell of a part of the mass.
func (f *Search) draws(part float64) int {
	return max(leastDraws, int(mostDraws*part)*cheapGuards/max(cheapGuards, f.d.Arrangement().Len()))
}

// judge measures a cell by n draws of its own distribution, and some of one that is
// wider. It returns the part of them that is effective.
func (f *Search) judge(ctx context.Context, x *graph.Executor, c *Cell, n int, rng *rand.Rand) (effective float64, err error) {
	narrow, err := ratios(ctx, f.d, x, c.Q, n, rng)
	if err != nil {
		return 0, err
	}
	c.ELBO = mc.Mean(narrow.ratio)
	smoothed, err := weighted.ParetoSmooth(narrow.ratio)
	if err != nil {
		return 0, err
	}
	c.KHat = smoothed.K
	broad := mixture.Widened(c.Q, mixture.WideScale(f.d.Dim()))
	far, err := ratios(ctx, f.d, x, broad, n/mixture.WideShare, rng)
	if err != nil {
		return 0, err
	}
	// the balance heuristic (Veach and Guibas, 1995)
	share := float64(n/mixture.WideShare) / float64(n+n/mixture.WideShare)
	all := make([]float64, 0, n+n/mixture.WideShare)
	inner, outer := narrow.logQ(), far.logQ()
	for k, l := range mixture.LogProbsBeside(broad, narrow.z, c.Q, inner) {
		all = append(all, narrow.logR[k]-logAdd(math.Log1p(-share)+inner[k], math.Log(share)+l))
	}
	for k, l := range mixture.LogProbsBeside(c.Q, far.z, broad, outer) {
		all = append(all, far.logR[k]-logAdd(math.Log1p(-share)+l, math.Log(share)+outer[k]))
	}
	if e := mc.LogMean(all); finite(e.Value) { // else what the search has found stands
		c.LogEvidence = e
	}
	return evenness(all), nil
}
