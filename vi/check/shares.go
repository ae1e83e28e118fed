package check

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// GuardShares say how much of the gradient of the ELBO each guard carries, at one
// member of the family.
type GuardShares struct {
	// RepGrad is the norm of the part inside the regions, the entropy's included,
	// and RepShare its share.
	RepGrad  mc.Estimate
	RepShare float64
	// Guards are the hyperplanes of the guards, those with the largest share
	// first.
	Guards  []GuardShare
	Samples int
}

// A GuardShare is what one hyperplane, with all guards that are merged into it,
// brings to the gradient.
type GuardShare struct {
	Plane    int               // number in the density's Arrangement
	Equation string            // the hyperplane as the program compares: "theta3 = 18"
	Guards   []graph.GuardInfo // the comparisons on it, with their names and places
	// Params are the parameters of θ that the hyperplane touches, and Mean and SE
	// what it adds to the derivatives with respect to them, in the family's units.
	Params   []int
	Mean, SE []float64
	// Norm is the Euclidean norm of Mean, with what its noise adds taken off.
	Norm mc.Estimate
	// Share is Norm over the sum of the norms of all hyperplanes and RepGrad.
	Share float64
}

// SharesByGuard estimates the boundary part of ∇ELBO at q by guard: which
// if-statements a fit is learning from. A guard with no share could be left to
// automatic differentiation here; elsewhere it may matter. samples are rounded
// up to a multiple of 512, at least 1024.
func SharesByGuard(d *graph.Density, q family.Q, samples int, seed uint64) (GuardShares, error) {
	if err := checkDraws(d, q, samples); err != nil {
		return GuardShares{}, err
	}
	if samples < 1 {
		return GuardShares{}, fmt.Errorf("check: %d samples", samples)
	}
	batches := batchesFor(samples)
	planes, err := newPlaneSums(d, q)
	if err != nil {
		return GuardShares{}, err
	}
	rep := newChunked(len(planes.units))
	err = replicate(batches, seed, func() (func(int, *rand.Rand) error, error) {
		p, err := gradient.BindParts(d, q, partBatch, gradient.Boundary{})
		if err != nil {
			return nil, err
		}
		sums, g := make([]float64, p.Sampler().Sums()), make([]float64, len(planes.units))
		return func(c int, rng *rand.Rand) error {
			if err := p.Run(rng); err != nil {
				return err
			}
			planes.add(c, p, sums, g)
			clear(sums)
			p.AddInside(sums)
			p.Sampler().Finish(g, sums, partBatch)
			floats.Mul(g, planes.units)
			rep.add(c, g)
			return nil
		}, nil
	})
	if err != nil {
		return GuardShares{}, err
	}
	if _, err := rep.estimates(d, q, "reparam"); err != nil {
		return GuardShares{}, err
	}
	s := GuardShares{Samples: batches * partBatch * partChunks, RepGrad: norm(rep.means())}
	if err := s.fill(d, planes); err != nil {
		return GuardShares{}, err
	}
	return s, nil
}

// fill makes the shares of guards by the sums.
func (s *GuardShares) fill(d *graph.Density, planes *planeSums) error {
	sum, guards := s.RepGrad.Value, d.GuardsByPlane()
	all, means := planes.sums.total(), planes.sums.means()
	for l := range guards {
		g := GuardShare{Plane: l, Equation: guards[l][0].Equation(), Guards: guards[l], Params: planes.params[l]}
		first, end := planes.first[l], planes.first[l]+len(g.Params)
		for _, m := range all[first:end] {
			g.Mean, g.SE = append(g.Mean, m.Mean), append(g.SE, m.SE())
		}
		own := make([][]float64, partChunks)
		for c := range own {
			own[c] = means[c][first:end]
		}
		g.Norm = norm(own)
		if !finite(g.Norm.Value) {
			return fmt.Errorf("check: the jump of log r at %s (%s) is not finite", g.Equation, graph.Places(g.Guards))
		}
		sum += g.Norm.Value
		s.Guards = append(s.Guards, g)
	}
	if sum > 0 {
		s.RepShare = s.RepGrad.Value / sum
		for l := range s.Guards {
			s.Guards[l].Share = s.Guards[l].Norm.Value / sum
		}
	}
	slices.SortStableFunc(s.Guards, func(a, b GuardShare) int { return cmp.Compare(b.Share, a.Share) })
	return nil
}

// planeSums are running moments of BouContr by hyperplane of the arrangement and
// the parameters that it touches; of one where log r does not jump there are none.
type planeSums struct {
	units  []float64 // of θ
	first  []int     // of each hyperplane, among the moments
	params [][]int
	sums   *chunked
}

func newPlaneSums(d *graph.Density, q family.Q) (*planeSums, error) {
	parts, err := gradient.BindParts(d, q, 1, gradient.Boundary{})
	if err != nil {
		return nil, err
	}
	p := &planeSums{units: make([]float64, len(q.Theta())), params: make([][]int, d.Arrangement().Len())}
	q.Units(p.units)
	onPlane := parts.Sampler().Reach().Name == boundary.OnPlane.Name
	of := map[int][]int{} // the parameters of each latent
	for k := range p.units {
		i := q.Param(k).Latent
		of[i] = append(of[i], k)
	}
	for k := range parts.Planes() {
		l := parts.Number(k)
		latents := slices.Collect(maps.Keys(of))
		if onPlane {
			latents = d.Arrangement().Latents(l)
		}
		for _, i := range latents {
			p.params[l] = append(p.params[l], of[i]...)
		}
		slices.Sort(p.params[l])
	}
	n := 0
	for _, list := range p.params {
		p.first = append(p.first, n)
		n += len(list)
	}
	if n > mostShares {
		return nil, fmt.Errorf("check: %d shares of guards in parameters; at most %d are estimated", n, mostShares)
	}
	p.sums = newChunked(n)
	return p, nil
}

// mostShares bounds the moments that SharesByGuard keeps: 16 chunks of them are a
// gigabyte.
const mostShares = 1 << 21

// add adds a batch's mean. sums and g are scratch.
func (p *planeSums) add(c int, parts *gradient.Parts, sums, g []float64) {
	for k := range parts.Planes() {
		clear(sums)
		parts.AddPlane(sums, k)
		parts.FinishPart(g, sums, partBatch)
		l := parts.Number(k)
		for j, of := range p.params[l] {
			p.sums[c][p.first[l]+j].Add(g[of] * p.units[of])
		}
	}
}

// sharesShown is the number of guards that String lists.
const sharesShown = 20

// String is a table of the largest shares.
func (s GuardShares) String() string {
	rows := [][]string{
		{"part of the gradient", "where", "norm", "share"},
		{"inside the regions", "", s.RepGrad.Short(), text.Percent(s.RepShare)},
	}
	for _, g := range s.Guards[:min(sharesShown, len(s.Guards))] {
		rows = append(rows, []string{g.Equation, graph.Places(g.Guards), g.Norm.Short(), text.Percent(g.Share)})
	}
	var b strings.Builder
	b.WriteString(text.Table(rows, 2))
	if rest := s.Guards[min(sharesShown, len(s.Guards)):]; len(rest) > 0 {
		sum := 0.0
		for _, g := range rest {
			sum += g.Share
		}
		fmt.Fprintf(&b, "%d more guards share %s\n", len(rest), text.Percent(sum))
	}
	return b.String()
}
