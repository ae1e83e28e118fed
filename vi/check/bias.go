package check

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// BiasCheck says whether reparameterization alone would have been biased, for one
// model at one member of the family.
type BiasCheck struct {
	// Biased is whether some component's |Z| is above Bound, the Bonferroni bound
	// of all components at the settings' level; MaxZ is the largest |Z|.
	Biased      bool
	Bound, MaxZ float64
	// Bias is the norm of the boundary part of the gradient, which
	// reparameterization leaves out, and Gradient that of the whole. What noise
	// adds to them is taken off.
	Bias, Gradient mc.Estimate
	// Components are those of θ, in its order.
	Components []BiasComponent
	Samples    int
	Guards     int // hyperplanes of the program
}

// A BiasComponent is the gradient with respect to one parameter, in the family's
// units. All are of the same draws, so that Boundary = Reparam + Term.
type BiasComponent struct {
	Name              string // "theta3 μ"
	Reparam, Boundary mc.Estimate
	// Term is the boundary term, what reparameterization leaves out, and Z its
	// mean in standard errors: the z-score of Boundary against Reparam with common
	// random numbers. Rounding counts in the standard error.
	Term mc.Estimate
	Z    float64
}

// BiasSettings are the settings of CheckBias. The zero value works.
type BiasSettings struct {
	// Samples are 32768 if 0. They are rounded up to a multiple of 512, at least 1024.
	Samples int
	Seed    uint64 // fixes the result
	// Level is the probability that chance alone makes the check say biased;
	// 0.001 if 0.
	Level float64
}

// CheckBias compares Reparam and Boundary at q. Their difference is the boundary
// term itself: its mean and standard error are the sharpest test of whether
// reparameterization is biased here, since all else cancels.
func CheckBias(d *graph.Density, q family.Q, s BiasSettings) (BiasCheck, error) {
	s.Samples, s.Level = cmp.Or(s.Samples, 32768), cmp.Or(s.Level, 0.001)
	if s.Samples < 1 || !(s.Level > 0 && s.Level < 1) {
		return BiasCheck{}, fmt.Errorf("check: BiasSettings: %d samples at level %v", s.Samples, s.Level)
	}
	if err := checkDraws(d, q, s.Samples); err != nil {
		return BiasCheck{}, err
	}
	batches := batchesFor(s.Samples)
	p, err := newParts(d, q, batches, s.Seed)
	if err != nil {
		return BiasCheck{}, err
	}
	c := BiasCheck{Samples: batches * partBatch * partChunks, Guards: d.Arrangement().Len()}
	if err := c.fill(d, q, p); err != nil {
		return BiasCheck{}, err
	}
	tested := 0
	for _, x := range c.Components {
		if x.Term != (mc.Estimate{}) {
			tested++
		}
		c.MaxZ = math.Max(c.MaxZ, math.Abs(x.Z))
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(batches*partChunks - 1)}
	c.Bound = -t.Quantile(s.Level / (2 * float64(max(1, tested)))) // Bonferroni's
	c.Biased = c.MaxZ > c.Bound
	c.Bias, c.Gradient = norm(p.bou.means()), norm(p.whole.means())
	return c, nil
}

// gradientParts are replicates of RepGrad, BouContr and their sum from common draws.
type gradientParts struct{ rep, bou, whole *chunked }

func newParts(d *graph.Density, q family.Q, batches int, seed uint64) (gradientParts, error) {
	n := len(q.Theta())
	p := gradientParts{newChunked(n), newChunked(n), newChunked(n)}
	units := make([]float64, n)
	q.Units(units)
	return p, replicate(batches, seed, func() (func(int, *rand.Rand) error, error) {
		w, err := gradient.BindParts(d, q, partBatch, gradient.Boundary{})
		if err != nil {
			return nil, err
		}
		sums, rep, bou := make([]float64, w.Sampler().Sums()), make([]float64, n), make([]float64, n)
		return func(c int, rng *rand.Rand) error {
			if err := w.Run(rng); err != nil {
				return err
			}
			clear(sums)
			w.AddBoundary(sums)
			w.FinishPart(bou, sums, partBatch)
			floats.Mul(bou, units)
			p.bou.add(c, bou)
			clear(sums)
			w.AddInside(sums)
			w.Sampler().Finish(rep, sums, partBatch)
			floats.Mul(rep, units)
			p.rep.add(c, rep)
			floats.Add(rep, bou)
			p.whole.add(c, rep)
			return nil
		}, nil
	})
}

// roundingPart is the part of a gradient's size that is taken as rounding.
const roundingPart = 1e-10

// fill makes the components.
func (c *BiasCheck) fill(d *graph.Density, q family.Q, p gradientParts) error {
	rep, err := p.rep.estimates(d, q, "reparam")
	if err != nil {
		return err
	}
	bou, err := p.bou.estimates(d, q, "boundary")
	if err != nil {
		return err
	}
	whole, err := p.whole.estimates(d, q, "boundary")
	if err != nil {
		return err
	}
	rounding := roundingPart * (size(p.rep) + size(p.bou))
	for i := range rep {
		x := BiasComponent{Name: q.Param(i).Label(d.Latents()), Reparam: rep[i], Term: bou[i], Boundary: whole[i]}
		if x.Term.Value != 0 {
			x.Z = x.Term.Value / math.Hypot(x.Term.SE, rounding)
		}
		c.Components = append(c.Components, x)
	}
	return nil
}

// Verdict is the overall statement, in one line.
func (c BiasCheck) Verdict() string {
	silent := !slices.ContainsFunc(c.Components, func(x BiasComponent) bool { return x.Term != (mc.Estimate{}) })
	switch {
	case c.Guards == 0:
		return "not biased: the program has no guards"
	case silent:
		return "not biased: log r jumps nowhere that this fit reaches"
	case !c.Biased:
		return fmt.Sprintf("no bias seen: the largest |z| is %s, and %.1f could be chance; a bias of %.2g would be seen", zText(c.MaxZ), c.Bound, c.sees())
	}
	return fmt.Sprintf("BIASED: reparameterization alone is off by %s, where the gradient is %s; the largest |z| is %s, and %.1f could be chance",
		c.Bias.Short(), c.Gradient.Short(), zText(c.MaxZ), c.Bound)
}

// sees is the size of a bias of one component that would be seen.
func (c BiasCheck) sees() float64 {
	se := 0.0
	for _, x := range c.Components {
		se = math.Max(se, x.Term.SE)
	}
	return c.Bound * se
}

// biasShown is the number of components that String lists.
const biasShown = 12

// String is the verdict and a table of the components with the largest |Z|.
func (c BiasCheck) String() string {
	list := slices.Clone(c.Components)
	slices.SortStableFunc(list, func(a, b BiasComponent) int { return cmp.Compare(math.Abs(b.Z), math.Abs(a.Z)) })
	rows := [][]string{{"gradient by", "reparam", "boundary term", "z", "boundary"}}
	for _, x := range list[:min(biasShown, len(list))] {
		rows = append(rows, []string{x.Name, x.Reparam.Short(), x.Term.Short(), zText(x.Z), x.Boundary.Short()})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", c.Verdict())
	b.WriteString(text.Table(rows, 1))
	if n := len(list) - biasShown; n > 0 {
		fmt.Fprintf(&b, "%d more components\n", n)
	}
	return b.String()
}

// zText is a z-score with one decimal, or its sign and size if it is enormous.
func zText(z float64) string {
	switch {
	case z > 1e6:
		return "> 1e6"
	case z < -1e6:
		return "< -1e6"
	case math.Abs(z) >= 1000:
		return fmt.Sprintf("%.2g", z)
	}
	return fmt.Sprintf("%.1f", z+0)
}
