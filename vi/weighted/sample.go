package weighted

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
)

// A Sample is draws of a proposal with importance weights: a posterior.
type Sample struct {
	// Z are the draws in unconstrained coordinates, latents × draws: the coordinate i of draw k is Z[i·Len() + k].
	Z []float64
	// Weights sum to 1. The largest are smoothed; see ParetoSmooth.
	Weights []float64
	// LogRatio is log r − log q at each draw; nil of chains.
	LogRatio []float64
	// K is the k-hat of the weights, −∞ of chains, and ESS the effective number of draws.
	K, ESS float64
	// LogEvidence is the logarithm of the mean weight, in nats: log p(data), if the model has no Factor. Up to a K of 0.5 its
	// standard error is right. In a test with weights of a Pareto distribution the root mean square of its errors was 1.2
	// standard errors for K = 0.6, and 1.4 for K = 0.69.
	LogEvidence mc.Estimate

	density *graph.Density
	q       family.Q  // that was drawn from
	ratios  []float64 // of a defensive mixture, the density of its base divided by its own; or nil
	strata  []stratum
	cubes   int         // of all strata
	chains  int         // the draws are of so many, draw k of chain k mod chains; 0 if they are independent
	groups  int         // of chains
	columns [][]float64 // by latent: the draws on the program's scale; nil until they are asked for
	// components are the parts of q whose laws are asked for, axes their laws of a latent, by latent, nil until they are asked for, and few the draws of
	// small strata.
	components []component
	axes       [][]family.Law
	few        []int
}

// A stratum is draws first to end − 1, all of one part of the proposal, which has a weight.
type stratum struct {
	weight           float64
	part, first, end int
	meanRatio        float64
	cubes            []int   // ends of groups of draws whose sums are independent of each other
	meanW, ww        float64 // mean and variance of n·w, of n draws in all
}

func (s stratum) len() int { return s.end - s.first }

// Draw weighs n draws of q by importance; the seed fixes them. It returns an error if there are fewer than 21 draws, the
// least for a k-hat, if log r is NaN or +Inf at one of them, or −Inf at all; and if ctx is done.
func Draw(ctx context.Context, d *graph.Density, q family.Q, n int, seed uint64) (*Sample, error) {
	if tailLength(max(0, n)) < minTail {
		return nil, fmt.Errorf("weighted: %d draws; a k-hat needs 21", n)
	}
	if err := family.Check(q, d); err != nil {
		return nil, fmt.Errorf("weighted: %w", err)
	}
	if err := memory.Check(fmt.Sprintf("%d draws", n), float64(n)*(50+16*float64(d.Dim()))); err != nil {
		return nil, fmt.Errorf("weighted: %w", err)
	}
	s := &Sample{density: d, q: q, Z: make([]float64, n*d.Dim()), LogRatio: make([]float64, n), columns: make([][]float64, d.Dim()), axes: make([][]family.Law, d.Dim())}
	part := s.stratify(q, n, seed)
	s.split()
	if err := s.draw(ctx, q, part, seed); err != nil {
		return nil, err
	}
	smoothed, err := ParetoSmooth(s.LogRatio)
	if err != nil {
		return nil, err
	}
	s.K, s.ESS = smoothed.K, smoothed.ESS
	s.Weights = smoothed.LogWeights
	s.share()
	sum := floats.LogSumExp(s.Weights)
	for k, x := range s.Weights {
		s.Weights[k] = math.Exp(x - sum)
	}
	s.spread()
	one := s.expect(nil, known{})
	s.LogEvidence = mc.Estimate{Value: sum - math.Log(float64(n)) + math.Log(one.Value), SE: one.SE / one.Value}
	return s, nil
}

// stratify gives the parts of a mixture their draws, one part after the other: n·π of n, rounded up or down at random. It
// returns the part of each draw; nil if q has none.
func (s *Sample) stratify(q family.Q, n int, seed uint64) (part []int) {
	m, ok := q.(*mixture.Mixture)
	if !ok {
		s.strata = []stratum{{weight: 1, end: n}}
		return nil
	}
	u, k, sum := parallel.NewRand(parallel.Mix(seed, uint64(n))).Float64(), 0, m.Weight(0)
	if part = make([]int, n); m.BaseWeight(0) >= 0 {
		s.ratios = make([]float64, n)
	}
	for j := range part {
		for k < m.Len()-1 && (float64(j)+u)/float64(n) >= sum {
			k++
			sum += m.Weight(k)
		}
		if j == 0 || part[j-1] != k {
			s.strata = append(s.strata, stratum{weight: m.Weight(k), part: k, first: j, end: j})
		}
		part[j] = k
		s.strata[len(s.strata)-1].end++
	}
	return part
}

// share undoes that numbers of draws are whole: the weights of a stratum that has enough draws are as if it had n·π. Those of
// small strata, rounded at random, are right on average.
func (s *Sample) share() {
	for _, t := range s.strata {
		if t.len() >= enoughDraws {
			by := t.weight * float64(len(s.Weights)) / float64(t.len())
			floats.AddConst(math.Log(by), s.Weights[t.first:t.end])
			if s.ratios != nil {
				floats.Scale(by, s.ratios[t.first:t.end])
			}
		}
	}
}

// spread finds the means and variances of the strata's weights.
func (s *Sample) spread() {
	n := float64(s.Len())
	for j := range s.strata {
		t := &s.strata[j]
		weights := s.Weights[t.first:t.end]
		t.meanW, t.ww = floats.Sum(weights)/float64(t.len())*n, 0
		for _, w := range weights {
			t.ww += (n*w - t.meanW) * (n*w - t.meanW)
		}
		t.ww /= float64(t.len() - 1)
		if s.ratios != nil {
			t.meanRatio = floats.Sum(s.ratios[t.first:t.end]) / float64(t.len())
		}
	}
}

// group lists the hypercubes of all strata, by blocks of draws.
func (s *Sample) group(part []int, cut parallel.Blocks) {
	at, j := 0, 0
	for b := range cut.Len() {
		width, sizes := cut.Width(b), []int(nil)
		if part != nil {
			sizes = mixture.Hypercubes(part[at:][:width])
		} else {
			sizes = slices.Repeat([]int{1}, width)
		}
		for _, size := range sizes {
			if at += size; at > s.strata[j].end {
				j++
			}
			s.strata[j].cubes = append(s.strata[j].cubes, at)
			s.cubes++
		}
	}
}

// termsOfLatent is how many terms of log r make blocks as short as a latent does: of much data longer ones would take
// gigabytes.
const termsOfLatent = 64

// A worker draws and weighs blocks of draws.
type worker struct {
	x      *graph.Executor
	drawer family.Drawer
}

// draw fills Z and LogRatio, block by block, each with a random stream of its own.
func (s *Sample) draw(ctx context.Context, q family.Q, part []int, seed uint64) error {
	n, d := len(s.LogRatio), s.density
	cut := parallel.Cut(n, max(d.Dim(), d.Terms()/termsOfLatent))
	s.group(part, cut)
	bind := func(n int) (w worker, err error) {
		if ctx.Err() != nil { // a drawer of many parts takes time
			return w, context.Cause(ctx)
		}
		if w.x, err = d.Executor(n, graph.Compute{Out: true}); err != nil {
			return w, err
		}
		w.drawer = q.Drawer(n)
		return w, nil
	}
	pool, err := parallel.NewPool(cut, parallel.Processors(cut.Len()), seed, bind, func(worker) {}, func(w worker, b int, rng *rand.Rand) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		first, x := b*cut.Size, w.x
		if part == nil {
			w.drawer.Draw(x.Z, rng)
		} else {
			w.drawer.(*mixture.Drawer).DrawParts(x.Z, part[first:][:x.N], rng)
		}
		d.Arrangement().SignBatch(x.Signs, x.Z, x.N)
		if err := x.Run(); err != nil {
			return err
		}
		ratio := s.LogRatio[first:][:x.N]
		copy(ratio, x.Out)
		for _, v := range ratio {
			if math.IsNaN(v) || math.IsInf(v, 1) {
				return s.bad(q, v)
			}
		}
		if w.drawer.SubLogQ(ratio); s.ratios != nil {
			copy(s.ratios[first:], w.drawer.(*mixture.Drawer).BaseRatios())
		}
		for i := range d.Dim() {
			copy(s.Z[i*n+first:][:x.N], x.Z[i*x.N:][:x.N])
		}
		return nil
	})
	if err == nil {
		err = pool.Round()
	}
	if err != nil {
		return fmt.Errorf("weighted: %w", err)
	}
	return nil
}

// bad is the error of a log density that is NaN or +Inf at a draw.
func (s *Sample) bad(q family.Q, value float64) error {
	err := fmt.Errorf("log r is %v at a draw", value)
	if why := gradient.Blame(s.density, q); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

// Len is the number of draws.
func (s *Sample) Len() int { return len(s.Weights) }

// Proposal is the distribution that the draws are of, or a distribution near the posterior if they are those of chains.
func (s *Sample) Proposal() family.Q { return s.q }

// Density is the density whose posterior the sample stands for.
func (s *Sample) Density() *graph.Density { return s.density }

// Of is the same sample with another density, which must have the same latents and the same posterior.
func (s *Sample) Of(d *graph.Density) *Sample {
	other := *s
	other.density = d
	return &other
}

// Point is draw k in unconstrained coordinates.
func (s *Sample) Point(k int) []float64 {
	n := s.Len()
	z := make([]float64, len(s.columns))
	for i := range z {
		z[i] = s.Z[i*n+k]
	}
	return z
}

// Latent are the values of latent i at the draws, on the program's own scale. They must not be changed.
func (s *Sample) Latent(i int) []float64 {
	if s.columns[i] == nil {
		z := s.Z[i*s.Len():][:s.Len()]
		if s.density.Coordinate(i).Transformed() {
			x := make([]float64, len(z))
			for k, u := range z {
				x[k] = s.density.Coordinate(i).Value(u)
			}
			z = x
		}
		s.columns[i] = z
	}
	return s.columns[i]
}

// Shares are the posterior probabilities that the proposal's first n parts stand for: the sums of the weights of their
// draws.
func (s *Sample) Shares(n int) []float64 {
	list := make([]float64, n)
	for _, t := range s.strata {
		list[t.part] += floats.Sum(s.Weights[t.first:t.end])
	}
	return list
}

// Resample chooses m draws that have equal weights, by systematic resampling, and returns their numbers in random order. Draw k
// is there m·w_k times, rounded up or down.
func (s *Sample) Resample(m int, rng *rand.Rand) []int {
	list := make([]int, 0, m)
	u, sum := rng.Float64(), 0.0
	for k, w := range s.Weights {
		for sum += w; len(list) < m && (float64(len(list))+u)/float64(m) < sum; {
			list = append(list, k)
		}
	}
	for len(list) < m { // rounding left the sum below 1
		list = append(list, floats.MaxIdx(s.Weights))
	}
	rng.Shuffle(m, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// What Oversampling aims at.
const (
	duplicates = 0.01 // of resampled draws
	mostOver   = 30   // draws for each that is kept
)

// Oversampling is by how much the sample should be larger than m, so that of the m draws of Resample fewer than one in a hundred
// is a duplicate. It is 30 at most: with very uneven weights there are more duplicates.
func (s *Sample) Oversampling() float64 {
	n := float64(s.Len())
	for c := 1.0; c < mostOver; c *= 1.25 {
		twice := 0.0
		for _, w := range s.Weights {
			twice += max(0, n*w-c) / n
		}
		if twice < duplicates {
			return c
		}
	}
	return mostOver
}
