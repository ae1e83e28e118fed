// What a search has found.

package cells

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
)

// Settings say how far a search goes.
type Settings struct {
	// Points are where it starts.
	Points [][]float64
	// Draws are from where else to climb in a cell: it may have several modes.
	Draws [][]float64
	// Most is the number of cells that it looks at. Over, if not nil, is asked by several
	// goroutines whether to end, once it has found one; what it finds then depends on the machine.
	Most int
	Over func() bool
	// Lost is how much of the posterior may be left out, below 1; 0.0001 if 0. A cell that
	// may have a hundredth of it, or five times as much of the variance of a latent, is measured, and the search ends when it has
	// looked at the neighbours of all these cells, or has met no more of them for long.
	Lost float64
	Seed uint64
	// Switches are summed out: guards on them bound no cells.
	Switches []derive.SwitchLatent
	Progress func(tried, found int)
}

// A Search is what was found.
type Search struct {
	Cells   []*Cell // by evidence, falling
	Tried   int     // cells that were looked at
	Leads   int     // regions that promised something, and were not looked at
	d       *graph.Density
	lines   *lines
	s       Settings
	finders []*finder
	seen    map[string]bool
	failed  map[string]int // how often no mode of a cell was found
	queue   queue
}

// over reports whether the time for the search is.
func (f *Search) over() bool { return f.s.Over != nil && f.s.Over() }

func (f *Search) total() float64 {
	if len(f.Cells) == 0 {
		return math.Inf(-1)
	}
	v := make([]float64, len(f.Cells))
	for k, c := range f.Cells {
		v[k] = c.LogEvidence.Value
	}
	return floats.LogSumExp(v)
}

// byEvidence puts cells with more first.
func byEvidence(a, b *Cell) int { return cmp.Compare(b.LogEvidence.Value, a.LogEvidence.Value) }

// part is how much of the mass a cell has.
func (f *Search) part(c *Cell, known totals) float64 {
	return math.Exp(c.LogEvidence.Value - known.total)
}

// values tell which values discrete latents have in a cell.
func (f *Search) values(c *Cell) string {
	var at []span
	for k, planes := range f.lines.group {
		if of := f.lines.arr.Latents(planes[0]); len(of) == 1 && f.finders[0].discrete[of[0]] {
			at = append(at, c.span[k])
		}
	}
	return key(at)
}

const (
	cautious   = 100 // a cell counts from this part of the mass that may be left out on,
	lostSquare = 5   // and from so many times that mass in the variance of a latent on
	noVariance = 1   // the k-hat from which on the draws of a cell's distribution say nothing of variances
)

// together is what the cells are together.
func (f *Search) together() totals {
	w := totals{total: f.total(), mean: make([]float64, f.d.Dim()), variance: make([]float64, f.d.Dim()), leastVariance: lostSquare * f.s.Lost}
	w.least = w.total + math.Log(f.s.Lost/cautious)
	for _, c := range f.Cells {
		floats.AddScaled(w.mean, math.Exp(c.LogEvidence.Value-w.total), c.moments.mean)
	}
	for _, c := range f.Cells {
		if !(c.KHat < noVariance) {
			continue
		}
		for i := f.d.Params(); i < f.d.Dim(); i++ {
			w.variance[i] += w.square(i, c.LogEvidence.Value, c.moments)
		}
	}
	return w
}

// Unfinished is about how much mass cells may have that were not looked at, in parts of what was found,
// if the search ended before it had seen all that promised something: as much as those that were found last, or where it ended because
// they were so many, what is beyond the last of a series that falls as theirs.
func (f *Search) Unfinished() float64 {
	if f.Leads == 0 {
		return 0
	}
	total := f.total()
	var quarters [4]float64
	for _, c := range f.Cells {
		quarters[min(3, 4*c.order/max(1, f.Tried))] += math.Exp(c.LogEvidence.Value - total)
	}
	if f.Tried < f.s.Most {
		return quarters[3]
	}
	return min(1, max(quarters[3], beyond(quarters[2], quarters[3])))
}

// beyond is Σ_{k>n} k^−a, where third and fourth are the sums of the third and the fourth quarter of the n terms before: these are as
// integrals, by x = (4/3)^(a−1)
//
//	third/fourth = (x^(ln 2/ln 4/3) − x)/(x − 1),    beyond/fourth = 1/(x − 1).
//
// It is infinite if they fall as slowly as 1/k, or not.
func beyond(third, fourth float64) float64 {
	if fourth == 0 {
		return 0
	}
	const steepest = 1e6
	least, most := 1.0, steepest
	ratio := func(x float64) float64 { return (math.Pow(x, math.Ln2/math.Log(4./3)) - x) / (x - 1) }
	for range 60 {
		if x := math.Sqrt(least * most); ratio(x)*fourth < third {
			least = x
		} else {
			most = x
		}
	}
	if most-1 < 1e-9 {
		return math.Inf(1)
	}
	return fourth / (most - 1)
}
