package vi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
)

// Shares say how much of the gradient of the ELBO each guard carries, at one
// member of the family.
type Shares struct {
	// RepGrad is the norm of the part inside the regions, the entropy's included,
	// and RepShare its share.
	RepGrad  Estimate
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
	// Latents are the coordinates that the hyperplane uses, and Mean and SE what
	// it adds to the derivatives with respect to μ and ρ of each, interleaved.
	Latents  []int
	Mean, SE []float64
	// Norm is the Euclidean norm of Mean, with what its noise adds taken off.
	Norm Estimate
	// Share is Norm over the sum of the norms of all hyperplanes and RepGrad.
	Share float64
}

// SharesByGuard estimates the boundary part of ∇ELBO at q by guard: which
// if-statements a fit is learning from. A guard with no share could be left to
// automatic differentiation here; elsewhere it may matter. samples are rounded
// up to a multiple of 512, at least 1024.
func SharesByGuard(d *graph.Density, q MeanField, samples int, seed uint64) (Shares, error) {
	if err := q.check(d); err != nil {
		return Shares{}, err
	}
	if samples < 1 {
		return Shares{}, fmt.Errorf("vi: %d samples", samples)
	}
	batches := batchesFor(samples)
	rep, planes := newChunked(2*d.Dim()), newPlaneSums(d, q)
	var scratch [partChunks][]float64
	for c := range scratch {
		scratch[c] = make([]float64, 2*d.Dim())
	}
	err := replicate(d, q, inside{}, batches, seed, func(c int, w worker, g []float64) {
		rep.add(c, g)
		planes.add(c, w, scratch[c])
	})
	if err != nil {
		return Shares{}, err
	}
	if _, err := rep.estimates(d, q, "reparam"); err != nil {
		return Shares{}, err
	}
	s := Shares{Samples: batches * partBatch * partChunks, RepGrad: norm(rep.means())}
	sum, guards := s.RepGrad.Mean, planeGuards(d)
	all, means := planes.sums.total(), planes.sums.means()
	for l, h := range d.Arrangement().Planes() {
		first, end := planes.first[l], planes.first[l]+2*len(h.Index)
		g := GuardShare{Plane: l, Equation: guards[l][0].Equation(), Guards: guards[l], Latents: slices.Clone(h.Index)}
		for _, m := range all[first:end] {
			g.Mean, g.SE = append(g.Mean, m.mean), append(g.SE, m.se())
		}
		own := make([][]float64, partChunks)
		for c := range own {
			own[c] = means[c][first:end]
		}
		g.Norm = norm(own)
		if !finite(g.Norm.Mean) {
			return Shares{}, fmt.Errorf("vi: the jump of log r at %s (%s) is not finite", g.Equation, placesOf(g.Guards))
		}
		sum += g.Norm.Mean
		s.Guards = append(s.Guards, g)
	}
	if sum > 0 {
		s.RepShare = s.RepGrad.Mean / sum
		for l := range s.Guards {
			s.Guards[l].Share = s.Guards[l].Norm.Mean / sum
		}
	}
	slices.SortStableFunc(s.Guards, func(a, b GuardShare) int { return cmp.Compare(b.Share, a.Share) })
	return s, nil
}

// SharesByGuard says how much of the gradient each guard carries at the fit; see
// the function SharesByGuard.
func (p *Posterior) SharesByGuard(samples int, seed uint64) (Shares, error) {
	return SharesByGuard(p.Density, p.Q, samples, seed)
}

// planeSums are running moments of BouContr by hyperplane and θ.
type planeSums struct {
	d     *graph.Density
	slope []float64
	first []int // of each hyperplane, among the moments
	sums  *chunked
}

func newPlaneSums(d *graph.Density, q MeanField) *planeSums {
	p := &planeSums{d: d, slope: slopes(q)}
	n := 0
	for _, h := range d.Arrangement().Planes() {
		p.first = append(p.first, n)
		n += 2 * len(h.Index)
	}
	p.sums = newChunked(n)
	return p
}

// add adds a batch's mean; scratch has room for 2·Dim zeros, and has them
// afterwards.
func (p *planeSums) add(c int, w worker, scratch []float64) {
	b, ok := w.(*insideWorker)
	if !ok {
		return
	}
	gMu, gScale := scratch[:p.d.Dim()], scratch[p.d.Dim():]
	b.AddPlanes(gMu, gScale, func(l int) {
		sums := p.sums[c][p.first[l]:]
		for k, i := range p.d.Arrangement().Plane(l).Index {
			sums[2*k].add(gMu[i] / partBatch)
			sums[2*k+1].add(gScale[i] / partBatch * p.slope[i])
			gMu[i], gScale[i] = 0, 0
		}
	})
}

// sharesShown is the number of guards that String lists.
const sharesShown = 20

// String is a table of the largest shares.
func (s Shares) String() string {
	rows := [][]string{
		{"part of the gradient", "where", "norm", "share"},
		{"inside the regions", "", plusMinus(s.RepGrad), percent(s.RepShare)},
	}
	for _, g := range s.Guards[:min(sharesShown, len(s.Guards))] {
		rows = append(rows, []string{g.Equation, placesOf(g.Guards), plusMinus(g.Norm), percent(g.Share)})
	}
	var b strings.Builder
	b.WriteString(table(rows, 2))
	if rest := s.Guards[min(sharesShown, len(s.Guards)):]; len(rest) > 0 {
		sum := 0.0
		for _, g := range rest {
			sum += g.Share
		}
		fmt.Fprintf(&b, "%d more guards share %s\n", len(rest), percent(sum))
	}
	return b.String()
}
