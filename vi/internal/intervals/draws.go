package intervals

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/newton"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
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

// weigh makes a sample of what find has found, of about so many draws. It reports false where log r is not finite. The draws are those of
// the intervals' normals, or log-Gamma where log r is more like that, along the columns of their roots.
func (f *Fitter) weigh(seed uint64, draws int) (bool, error) {
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
	for k := range f.kept {
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
func (f *Fitter) allot(draws int) (count int) {
	least := max(leastDraws, min(enoughDraws, draws/32))
	shares := 0.0
	for _, j := range f.kept {
		shares += f.share(j)
	}
	first := f.sample.first[:0]
	for _, j := range f.kept {
		first = append(first, count)
		count += max(least, 2*int(math.Round(float64(draws)/4*(f.mass[j]+f.share(j)/shares))))
	}
	f.sample.first = append(first, count)
	return count
}

// drawAll draws, and stores log r at the draws in ratio. Columns behind the last draw are copies of it.
func (f *Fitter) drawAll(rng *rand.Rand) error {
	x, out := f.draws, &f.sample
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
				x.put(f.kept[k], c, last)
			}
			if c < width {
				f.half[d], f.normal[d] = f.draw(&f.climbs[f.kept[k]], d%2 == 1, rng)
				f.record(d, &f.parts[f.kept[k]])
			}
			x.fill(c, f.moved)
		}
		if err := x.Run(); err != nil {
			return err
		}
		copy(out.ratio[first:], x.Out[:width])
	}
	return nil
}

// record stores the latents of draw d, and their squares, on the program's own scale.
func (f *Fitter) record(d int, p *part) {
	out, at := &f.sample, d*(len(f.rest)+1)
	for r, i := range f.rest {
		x := f.moved[r] * f.scale[r]
		if f.bent[i] {
			x = f.d.Coordinate(i).Value(x)
		}
		out.x[at+i], out.xx[at+i] = x, x*x
	}
	out.x[at+f.at], out.xx[at+f.at] = p.mean, p.square
}

// weighCell weighs the draws of the k-th interval that is kept, and makes a cell of it. It reports false where log r is not
// finite.
func (f *Fitter) weighCell(k int) bool {
	out, j := &f.sample, f.kept[k]
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
	f.moments(out, j)
	f.logs, f.normals = append(f.logs, cell.LogEvidence.Value), append(f.normals, f.q(j))
	return true
}

// polish makes the normals of the intervals that are kept those of highest ELBO: where E[∇log r] is 0, with the
// precision −E[∇²log r] = −E[∇log r·εᵀ]·Lᵀ, by the cubature of the 2n points √n·±ε_k. Of a normal posterior that is
// what it was.
func (f *Fitter) polish() error {
	each := 2*len(f.rest) + 1
	f.todo = append(f.todo[:0], f.kept...)
	for pass := 0; pass < polishPasses && len(f.todo) > 0; pass++ {
		x := f.gradients()
		for batch := range slices.Chunk(f.todo, x.N/each) {
			for s, j := range batch {
				x.put(j, s*each, (s+1)*each)
				f.cubature(x, s*each, &f.climbs[j])
			}
			if err := x.Run(); err != nil {
				return err
			}
			for s, j := range batch {
				f.repolish(&f.climbs[j], x, s*each, pass == polishPasses-1)
			}
		}
		f.todo = slices.DeleteFunc(f.todo, func(j int) bool { return f.climbs[j].State == newton.Arrived })
	}
	return nil
}

// cubature fills the columns of x from first on with the mode of c and the points √n·±ε_k of its normal.
func (f *Fitter) cubature(x *columns, first int, c *climb) {
	n := len(f.rest)
	far := math.Sqrt(float64(n))
	x.fill(first, c.mode)
	for k := range n {
		for side, by := range [2]float64{far, -far} {
			clear(f.moved)
			f.moved[k] = by
			newton.SolveUpper(c.Root, f.moved, n)
			for i, m := range c.mode {
				f.moved[i] += m
			}
			x.fill(first+1+2*k+side, f.moved)
		}
	}
}

// repolish moves the normal of c by what the points of polish say, in the columns of x from first on, and finds its log-Gamma distributions. Its
// state is arrived, and nothing moves, where that would be little, where they do not say, and the last time.
func (f *Fitter) repolish(c *climb, x *columns, first int, last bool) {
	n := len(f.rest)
	c.State = newton.Arrived
	for k := range n {
		up, mid, down := f.slope(c, x, first+1+2*k, k), f.slope(c, x, first, k), f.slope(c, x, first+2+2*k, k)
		c.logGammas[k] = newLogGamma(down, mid, up, math.Sqrt(float64(n)))
	}
	h, g := c.NextH, c.G
	clear(g)
	for i := range n {
		for j := range n { // (E[∇log r·εᵀ]·Lᵀ)_ij
			h[i*n+j] = 0
			for k := range j + 1 {
				up, down := x.at(f.rest[i], first+1+2*k), x.at(f.rest[i], first+2+2*k)
				h[i*n+j] -= (up - down) * f.scale[i] / (2 * math.Sqrt(float64(n))) * c.Root[j*n+k]
			}
		}
		for k := range 2 * n {
			g[i] += x.at(f.rest[i], first+1+k) * f.scale[i] / float64(2*n)
		}
	}
	for i := range n {
		for j := range i {
			h[i*n+j] = (h[i*n+j] + h[j*n+i]) / 2
			h[j*n+i] = h[i*n+j]
		}
	}
	if !newton.Cholesky(f.lower, h, n, 0) || !finite(floats.Sum(g)) {
		return
	}
	gain, change := newton.Step(c.Step, f.lower, g), 0.0
	for i := range n {
		change = max(change, math.Abs(math.Log(f.lower[i*n+i]/c.Root[i*n+i])))
	}
	if last || gain <= newton.Gain && change <= polishEnd || gain > 1 || change > 0.7 {
		return // it is there, or too far for its points to know
	}
	for i, s := range c.Step {
		c.mode[i] += s
		c.logZ -= math.Log(f.lower[i*n+i] / c.Root[i*n+i])
	}
	copy(c.Root, f.lower)
	copy(c.H, h)
	c.State = newton.Climbing
}

// slope is that of log r along column k of the inverse of c.rootᵀ, at the point in a column of x.
func (f *Fitter) slope(c *climb, x *columns, column, k int) float64 {
	for i, at := range f.rest {
		f.moved[i] = x.at(at, column) * f.scale[i]
	}
	newton.SolveLower(c.Root, f.moved, len(f.rest))
	return f.moved[k]
}

// place is latent i of the rest at the mode of interval j, or the mean of the switch there.
func (f *Fitter) place(j, i int) float64 {
	if i == len(f.rest) {
		return f.parts[j].mean
	}
	return f.climbs[j].mode[i]
}

// square is the mean squared distance of latent i of the rest, or of the switch, from mean, in interval j.
func (f *Fitter) square(j, i int, mean float64) float64 {
	n, p, c := len(f.rest), &f.parts[j], &f.climbs[j]
	if i == n {
		return p.square - 2*mean*p.mean + mean*mean
	}
	off := c.mode[i] - mean
	clear(f.moved)
	f.moved[i] = 1
	newton.SolveLower(c.Root, f.moved, n)
	for _, x := range f.moved {
		off = math.Hypot(off, x)
	}
	return off * off
}

// spread finds mean and variance of each latent, and what each interval has of them: squares.
func (f *Fitter) spread() {
	n := len(f.rest)
	for i := range n + 1 {
		f.mean[i], f.variance[i] = 0, 0
		for j := range f.climbs {
			f.mean[i] += f.mass[j] * f.place(j, i)
		}
		for j := range f.climbs {
			f.squares[j*(n+1)+i] = f.mass[j] * f.square(j, i, f.mean[i])
			f.variance[i] += f.squares[j*(n+1)+i]
		}
	}
	clear(f.left)
}

// leaves leaves interval j out, if no latent then misses more than most of its variance.
func (f *Fitter) leaves(j int, most float64) bool {
	for i := range f.left {
		if f.left[i] += f.squares[j*len(f.left)+i]; f.left[i] > most*f.variance[i] {
			return false
		}
	}
	return true
}

// share is the largest part of a latent's variance that interval j has.
func (f *Fitter) share(j int) (share float64) {
	for i, v := range f.variance {
		share = max(share, f.squares[j*len(f.left)+i]/v)
	}
	return share
}

// draw puts a draw of interval c in f.moved, or one opposite of the last where all is normal, and returns minus the log of its
// density, and minus that of the normal there, both but for what the normal's normaliser is.
func (f *Fitter) draw(c *climb, opposite bool, rng *rand.Rand) (half, normal float64) {
	n := len(f.noise)
	for i := range f.noise {
		b := &c.logGammas[i]
		if b.c != 0 {
			t, h := b.put(b.draw(rng))
			f.moved[i], half, normal = t, half+h, normal+t*t/2
			continue
		}
		if opposite {
			f.noise[i] = -f.noise[i]
		} else {
			f.noise[i] = rng.NormFloat64()
		}
		h := f.noise[i] * f.noise[i] / 2
		f.moved[i], half, normal = f.noise[i], half+h, normal+h
	}
	newton.SolveUpper(c.Root, f.moved, n)
	for i := range f.moved {
		f.moved[i] += c.mode[i]
	}
	return half, normal
}

// moments adds the moments of the draws in interval j.
func (f *Fitter) moments(out *sample, j int) {
	n, c, p := len(f.rest), &f.climbs[j], &f.parts[j]
	at := len(out.mean)
	out.mean, out.square = slices.Grow(out.mean, n+1)[:at+n+1], slices.Grow(out.square, n+1)[:at+n+1]
	out.mean[at+f.at], out.square[at+f.at] = p.mean, p.square
	for r, i := range f.rest {
		mean, sd := c.mode[r]*f.scale[r], math.Sqrt(f.square(j, r, c.mode[r]))*f.scale[r]
		row := f.moved // of the inverse of c.Rootᵀ, by square
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
func (f *Fitter) expect(i int, mean, by float64, b *logGamma) (m, s float64) {
	for k, node := range f.nodes {
		t, w := b.node(node)
		if w *= f.weights[k]; w == 0 {
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

// q is the normal of interval j, confined to it, until the next fit. Where its precision is UUᵀ with U upper
// triangular, s_i = 1/U_ii and B_ij = −U_ji·s_i.
func (f *Fitter) q(j int) family.Q {
	n, c, p := len(f.rest), &f.climbs[j], &f.parts[j]
	back, l := f.back, f.lower // the latents in reverse, where U is the usual factor
	for i := range n {
		for k := range n {
			back[i*n+k] = c.H[(n-1-i)*n+n-1-k]
		}
	}
	newton.Cholesky(l, back, n, 0)
	theta := f.theta
	theta[2*f.at], theta[2*f.at+1] = p.center, p.width
	b := theta[2*(n+1):]
	for i, at := range f.rest {
		u := n - 1 - i
		s := f.scale[i] / l[u*n+u]
		theta[2*at], theta[2*at+1] = c.mode[i]*f.scale[i], s
		for k := range i {
			b[k] = -l[(n-1-k)*n+u] * s / f.scale[k]
		}
		b = b[i:]
	}
	p.q.Set(theta)
	return p.q
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
