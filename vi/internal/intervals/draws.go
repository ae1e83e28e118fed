package intervals

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/newton"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
)

const (
	enoughDraws = 64 // draws for any interval that is kept, where draws are many,
	leastDraws  = 8  // draws in an interval that is kept, an even number
)

// A sample is of draws in pairs, each of a cell: cell[k] is that of draw k, and first[c] the first draw
// of cell c, after the last cell the number of draws.
type sample struct {
	q           *mixture.Mixture
	cells       []Cell // of q
	cell, first []int
	// ratio is log r − log q of the draws in their cells, without the switch, less what Laplace has; and logWeight that of the
	// whole: the mean of its exponentials is the evidence. tail is ratio less the logarithm of its cell's mean weight.
	ratio, logWeight, tail []float64
	// x are the latents of the draws on the program's scale, draws × latents, and xx their squares. Those
	// of the switch are its means in the interval. mean and square are the same of what is drawn from, cells × latents, or
	// NaN where they are not known.
	x, xx, mean, square []float64
}

// A Cell is an interval.
type Cell struct {
	Where             string
	Weight            float64 // its probability
	ELBO, LogEvidence mc.Estimate
	KHat              float64 // of the draws in all cells
}

// A drawer draws from the normals of the intervals that are kept, and weighs the draws.
type drawer struct {
	*finder
	shares *shares
	sample sample
	x      *columns
	nodes  quadrature
	// scratch
	noise, point       []float64
	half, normal, elbo []float64 // of draws: as logGamma.put has it, and that of the normal
	logs               []float64 // of the cells' evidences,
	normals            []family.Q
}

func newDrawer(f *finder, s *shares) (*drawer, error) {
	x, err := f.columns(mostColumns, false)
	n := len(f.rest)
	return &drawer{finder: f, shares: s, x: x, nodes: newQuadrature(), noise: make([]float64, n), point: make([]float64, n)}, err
}

// weigh makes a sample of what find has found, of about so many draws. It reports false where log r is not finite. The draws are those of
// the intervals' normals, or log-Gamma where log r is more like that, along the columns of their roots.
func (f *drawer) weigh(seed uint64, draws int) (bool, error) {
	out := &f.sample
	count := f.allot(draws)
	n := len(f.rest) + 1
	out.ratio, out.logWeight, out.x, out.xx = cleared(out.ratio, count), cleared(out.logWeight, count), cleared(out.x, count*n), cleared(out.xx, count*n)
	f.half, f.normal = cleared(f.half, count), cleared(f.normal, count)
	if err := f.drawAll(parallel.NewRand(seed)); err != nil {
		return false, err
	}
	out.cells, out.cell, out.tail, out.mean, out.square = out.cells[:0], out.cell[:0], out.tail[:0], out.mean[:0], out.square[:0]
	f.logs, f.normals = f.logs[:0], f.normals[:0]
	for k := range f.shares.kept {
		if !f.weighCell(k) {
			return false, nil
		}
	}
	out.q = mixture.New(f.logs, f.normals)
	for k := range out.cells {
		out.cells[k].Weight = out.q.Weight(k)
	}
	return true, nil
}

// allot shares about so many draws out among the intervals that are kept, as mixture.Mixture.Defensive does: those of the k-th
// are first[k] to first[k+1]. It returns their number.
func (f *drawer) allot(draws int) (count int) {
	least := max(leastDraws, min(enoughDraws, draws/32))
	shares := 0.0
	for _, j := range f.shares.kept {
		shares += f.shares.ofVariance(j)
	}
	first := f.sample.first[:0]
	for _, j := range f.shares.kept {
		first = append(first, count)
		count += max(least, 2*int(math.Round(float64(draws)/4*(f.shares.mass[j]+f.shares.ofVariance(j)/shares))))
	}
	f.sample.first = append(first, count)
	return count
}

// drawAll draws, and stores log r at the draws in ratio. Columns behind the last draw are copies of it.
func (f *drawer) drawAll(rng *rand.Rand) error {
	x, out := f.x, &f.sample
	count, k := len(out.ratio), 0
	for first := 0; first < count; first += x.N {
		width := min(x.N, count-first)
		for c := range x.N {
			d := first + min(c, width-1)
			if c == 0 || d >= out.first[k+1] {
				for d >= out.first[k+1] {
					k++
				}
				last := out.first[k+1] - first
				if last >= width {
					last = x.N
				}
				x.put(f.shares.kept[k], c, last)
			}
			if c < width {
				f.half[d], f.normal[d] = f.draw(&f.climbs[f.shares.kept[k]], d%2 == 1, rng)
				f.record(d, &f.parts[f.shares.kept[k]])
			}
			x.fill(c, f.point)
		}
		if err := x.Run(); err != nil {
			return err
		}
		copy(out.ratio[first:], x.Out[:width])
	}
	return nil
}

// draw puts a draw of interval c in f.point, or one opposite of the last where all is normal, and returns minus the log of its
// density, and minus that of the normal there, both but for what the normal's normaliser is.
func (f *drawer) draw(c *climb, opposite bool, rng *rand.Rand) (half, normal float64) {
	n := len(f.noise)
	for i := range f.noise {
		b := &c.logGammas[i]
		if b.c != 0 {
			t, h := b.put(b.draw(rng))
			f.point[i], half, normal = t, half+h, normal+t*t/2
			continue
		}
		if opposite {
			f.noise[i] = -f.noise[i]
		} else {
			f.noise[i] = rng.NormFloat64()
		}
		h := f.noise[i] * f.noise[i] / 2
		f.point[i], half, normal = f.noise[i], half+h, normal+h
	}
	newton.SolveUpper(c.Root, f.point, n)
	for i := range f.point {
		f.point[i] += c.mode[i]
	}
	return half, normal
}

// record stores the latents of draw d, and their squares, on the program's own scale.
func (f *drawer) record(d int, p *part) {
	out, at := &f.sample, d*(len(f.rest)+1)
	for r, i := range f.rest {
		x := f.point[r] * f.scale[r]
		if f.bent[i] {
			x = f.d.Coordinate(i).Value(x)
		}
		out.x[at+i], out.xx[at+i] = x, x*x
	}
	out.x[at+f.at], out.xx[at+f.at] = p.mean, p.square
}

// weighCell weighs the draws of the k-th interval that is kept, and makes a cell of it. It reports false where log r is not
// finite.
func (f *drawer) weighCell(k int) bool {
	out, j := &f.sample, f.shares.kept[k]
	c, first, end := &f.climbs[j], out.first[k], out.first[k+1]
	f.elbo = f.elbo[:0]
	for d := first; d < end; d++ {
		ratio := &out.ratio[d]
		f.elbo = append(f.elbo, math.Exp(f.half[d]-f.normal[d])*(*ratio+f.normal[d]-c.top))
		*ratio += f.half[d] - c.top
		if !finite(*ratio) {
			return false
		}
		out.cell = append(out.cell, k)
		out.logWeight[d] = *ratio + c.logZ + math.Log(float64(len(out.ratio))/float64(end-first))
	}
	group := out.ratio[first:end]
	cell := Cell{Where: f.parts[j].name, ELBO: mc.Mean(f.elbo), LogEvidence: mc.LogMean(group)}
	for _, r := range group {
		out.tail = append(out.tail, r-cell.LogEvidence.Value)
	}
	cell.ELBO.Value += c.logZ
	cell.LogEvidence.Value += c.logZ
	out.cells = append(out.cells, cell)
	f.moments(j)
	f.logs, f.normals = append(f.logs, cell.LogEvidence.Value), append(f.normals, f.q(j))
	return true
}

// moments adds the moments of the draws in interval j.
func (f *drawer) moments(j int) {
	n, c, p, out := len(f.rest), &f.climbs[j], &f.parts[j], &f.sample
	at := len(out.mean)
	out.mean, out.square = slices.Grow(out.mean, n+1)[:at+n+1], slices.Grow(out.square, n+1)[:at+n+1]
	out.mean[at+f.at], out.square[at+f.at] = p.mean, p.square
	for r, i := range f.rest {
		mean, sd := c.mode[r]*f.scale[r], math.Sqrt(f.square(j, r, c.mode[r]))*f.scale[r]
		row := f.row(c, r)
		one, skew := -1, false
		for k, x := range row {
			if x != 0 {
				skew = skew || c.logGammas[k].c != 0
				if one++; one > 0 {
					one = n
				}
			}
		}
		m, s := mean, mean*mean+sd*sd
		if skew {
			m, s = math.NaN(), math.NaN()
			if one == 0 {
				k := slices.IndexFunc(row, func(x float64) bool { return x != 0 })
				if c.logGammas[k].hasMoments(f.bent[i]) {
					m, s = f.expect(i, mean, row[k]*f.scale[r], &c.logGammas[k])
				}
			}
		} else if f.bent[i] {
			m, s = f.expect(i, mean, sd, &logGamma{})
		}
		out.mean[at+i], out.square[at+i] = m, s
	}
}

// expect are the means of x and x² on the program's scale where latent i is mean + by·t, and t is as b has it.
func (f *drawer) expect(i int, mean, by float64, b *logGamma) (m, s float64) {
	for k, node := range f.nodes.at {
		t, w := b.node(node)
		if w *= f.nodes.weight[k]; w == 0 {
			continue
		}
		x := mean + by*t
		if f.bent[i] {
			x = f.d.Coordinate(i).Value(x)
		}
		m += w * x
		s += w * x * x
	}
	return m, s
}

// A quadrature is one for the standard normal.
type quadrature struct{ at, weight []float64 }

func newQuadrature() quadrature {
	const nodes = 24
	q := quadrature{make([]float64, nodes), make([]float64, nodes)}
	quad.Hermite{}.FixedLocations(q.at, q.weight, math.Inf(-1), math.Inf(1))
	floats.Scale(1/math.Sqrt(math.Pi), q.weight)
	floats.Scale(math.Sqrt2, q.at)
	return q
}

// cleared is a list of n zeros, in list if there is room.
func cleared(list []float64, n int) []float64 {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}
