package family

import (
	"math"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A curves is the Surface of a model some of whose guards are not affine. Onto a piece
// of a curve one latent i moves alone, to a root z_b of Φ = 0 given all others, and the
// boundary term of Φ is
//
//	E[ Σ_pieces w·Δ·(∂z/∂θ)ᵀ∇Φ ] at z_b,   w = ρ_i·h_i/|∂_iΦ|,   ρ_i = (∂_iΦ)²·v_i / Σ_j (∂_jΦ)²·v_j,
//
// with the density h_i of z_i given all other latents and their scale v_j = Var(z_j | all
// others). Every point of the surface is a root for each latent of Φ, and the ρ of these,
// over the latents whose pieces there are, share it (see boundary.Sharing): w·∇Φ is
// bounded also where one of the slopes vanishes.
type curves struct {
	Surface // of the hyperplanes, which are the pieces before first
	s       curveSampler
	first   int
	pieces  []curvePiece
	field   [][]float64 // scratch: Σ w·Δ·∇Φ
	total   []float64   // scratch: Σ_j (∂_jΦ)²·v_j by sample
}

// A curvePlane is a guard that is not affine.
type curvePlane struct {
	curve    *regions.Curve
	pivots   []int               // of which there are pieces, by position in Latents
	at       *regions.CurveBatch // at the samples
	mean     *regions.CurveBatch // at the mean of q
	roots    []float64           // for the latent of the piece that was last solved for
	variance []float64           // of pivots given all other latents
	counts   []bool              // whether a latent has a share in the surface
	chooses  bool                // that depends on the parameters of the family
	part     []float64           // scratch: of Σx
}

type curvePiece struct {
	*curvePlane
	displaced
	pivot, root int
	shares      bool        // the latent has a share in the surface
	solves      bool        // it is the first of those of its pivot
	w           []float64   // by sample
	to          []float64   // the latent at the points
	field       [][]float64 // w·∇Φ, by Latents
	some        bool        // of it is not 0
}

// surfaceOf is the Surface of s for pieces, of which hyperplanes makes that of the
// hyperplanes.
func surfaceOf(s curveSampler, n int, pieces []boundary.Piece, at [][]int, hyperplanes func(planes []regions.Hyperplane, at [][]int) Surface) Surface {
	var planes []regions.Hyperplane
	for _, p := range pieces {
		if p.Curve == nil {
			planes = append(planes, p.Hyperplane)
		}
	}
	c := &curves{Surface: hyperplanes(planes, at[:len(planes)]), s: s, first: len(planes)}
	if len(planes) == len(pieces) {
		return c.Surface
	}
	most := 0
	var plane *curvePlane
	for _, p := range pieces[c.first:] {
		latents := p.Curve.Latents()
		most = max(most, len(latents))
		x := curvePiece{pivot: p.Pivot, root: p.Root, w: make([]float64, n), to: make([]float64, n), field: rowsOf(len(latents), n)}
		if plane == nil || plane.curve != p.Curve {
			plane = &curvePlane{
				curve: p.Curve, mean: p.Curve.Bind(1), variance: make([]float64, len(latents)), counts: make([]bool, len(latents)), part: make([]float64, len(latents)),
			}
			for l := range latents {
				plane.mean.In[l] = make([]float64, 1)
			}
		}
		if last := len(plane.pivots) - 1; last < 0 || plane.pivots[last] != p.Pivot {
			plane.pivots = append(plane.pivots, p.Pivot)
		}
		x.curvePlane = plane
		x.displaced = displaced{latent: p.Latent(), latents: latents, local: s.prepare(p.Latent(), latents), delta: make([]float64, n), noise: make([]float64, n)}
		c.pieces = append(c.pieces, x)
	}
	for k := range c.pieces {
		p := c.pieces[k].curvePlane
		p.chooses = boundary.Sharing(p.counts, p.curve, p.pivots, p.part)
	}
	c.field, c.total = rowsOf(most, n), make([]float64, n)
	return c
}

func rowsOf(k, n int) [][]float64 {
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = make([]float64, n)
	}
	return rows
}

// Locate implements Surface.
func (c *curves) Locate() {
	c.Surface.Locate()
	c.s.follow()
	var last *curvePiece // of those that count
	for k := range c.pieces {
		p := &c.pieces[k]
		if k == 0 || p.curvePlane != c.pieces[k-1].curvePlane {
			p.share(c.s)
			last = nil
		}
		p.shares = p.counts[p.pivot]
		p.solves = p.shares && (last == nil || p.pivot != last.pivot)
		if p.shares {
			last = p
		}
	}
}

// leastDensity is what a curve's density is taken to be at least, for subsampling: it
// need not be as straight as it is at the mean of q.
const leastDensity = 0.02

// share decides which latents share the surface.
func (p *curvePlane) share(s curveSampler) {
	latents := p.curve.Latents()
	for l, i := range latents {
		p.mean.In[l][0] = s.mean(i)
	}
	for _, l := range p.pivots {
		p.variance[l] = s.variance(latents[l])
	}
	if p.chooses {
		p.typical()
		boundary.Sharing(p.counts, p.curve, p.pivots, p.part)
	}
}

// typical is Φ at the mean of q in units of its scale, about. It leaves what Σx is made of there in p.part.
func (p *curvePlane) typical() float64 {
	phi, slopes, total := p.mean.Values()[0], p.mean.Slopes(), 0.0
	for _, l := range p.pivots {
		p.part[l] = slopes[l][0] * slopes[l][0] * p.variance[l]
		total += p.part[l]
	}
	return phi / math.Sqrt(total)
}

// Along implements Surface.
func (c *curves) Along(k int) []float64 {
	if k >= c.first {
		return nil
	}
	return c.Surface.Along(k)
}

// Density implements Surface.
func (c *curves) Density(k int) float64 {
	if k >= c.first {
		p := &c.pieces[k-c.first]
		if !p.shares {
			return 0
		}
		density := normalDensity(p.typical())
		if !(density > leastDensity) {
			density = leastDensity
		}
		return density / math.Sqrt(p.variance[p.pivot])
	}
	return c.Surface.Density(k)
}

// Reached implements Surface.
func (c *curves) Reached(k int) bool {
	if k >= c.first {
		return c.pieces[k-c.first].shares
	}
	return c.Surface.Reached(k)
}

// Each implements Surface.
func (c *curves) Each(k int) bool { return k >= c.first || c.Surface.Each(k) }

// Seeds implements Surface.
func (c *curves) Seeds() bool { return c.s.seeds() }

// Curved implements boundary.Curves.
func (c *curves) Curved(k int) bool { return k >= c.first }

// Move implements boundary.Curves.
func (c *curves) Move(dst []float64, k int, z, _ []float64, at *regions.CurveBatch) {
	p := &c.pieces[k-c.first]
	p.at, p.z = at, z
	p.solve()
	copy(dst, p.to)
	c.s.densityGiven(p.w, &p.displaced)
	p.weigh(c.total)
}

// solve finds the points. Where there is no root they are the samples, and w is NaN.
func (p *curvePiece) solve() {
	n := len(p.to)
	if p.solves {
		p.roots = p.at.Solve(p.pivot)
	}
	from := p.at.In[p.pivot]
	for b, x := range p.roots[p.root*n:][:n] {
		p.w[b] = 0
		if math.IsNaN(x) {
			x, p.w[b] = from[b], x
		}
		p.to[b], p.delta[b] = x, x-from[b]
	}
}

// weigh makes w·∇Φ of the densities in w: w = h·|∂_iΦ|·v_i/Σ_j (∂_jΦ)²·v_j, which has no
// |∂_iΦ| below.
func (p *curvePiece) weigh(total []float64) {
	slopes := p.at.SlopesBeside(p.pivot, p.to)
	clear(total)
	for l, v := range p.variance {
		if p.counts[l] {
			for b, x := range slopes[l] {
				total[b] += float64(float64(x*x) * v)
			}
		}
	}
	own, variance := slopes[p.pivot], p.variance[p.pivot]
	p.some = false
	for b, h := range p.w {
		if h == 0 {
			continue
		}
		x := math.Abs(own[b])
		if s := total[b]; s > leastTotal && s < mostTotal {
			h *= x * variance / s
		} else {
			h *= p.scaledShare(slopes, b)
		}
		if !(h > 0 && h <= math.MaxFloat64) {
			h = 0
		}
		p.w[b] = h
		p.some = p.some || h > 0
	}
	if p.some {
		for l, row := range slopes {
			vec.GatedMul(p.field[l], p.w, row, 1)
		}
	}
}

// Sums of squares between these have lost nothing.
const (
	leastTotal = 1e-250
	mostTotal  = 1e250
)

// scaledShare is |∂_iΦ|·v_i/Σ_j (∂_jΦ)²·v_j of sample b by slopes in units of the largest one.
func (p *curvePiece) scaledShare(slopes [][]float64, b int) float64 {
	largest, total := 0.0, 0.0
	for l := range slopes {
		if x := math.Abs(slopes[l][b]); p.counts[l] && x > largest {
			largest = x
		}
	}
	for l, v := range p.variance {
		if p.counts[l] {
			x := slopes[l][b] / largest
			total += x * x * v
		}
	}
	return math.Abs(slopes[p.pivot][b]) / largest * p.variance[p.pivot] / (total * largest)
}

// Add implements Surface.
func (c *curves) Add(sums, grad []float64, k int, phi, jumps []float64) {
	if k < c.first {
		c.Surface.Add(sums, grad, k, phi, jumps)
		return
	}
	p := &c.pieces[k-c.first]
	if !p.some {
		return
	}
	field := c.field[:len(p.field)]
	for l, row := range p.field {
		vec.GatedMul(field[l], row, jumps, 1)
	}
	c.s.pullAt(sums, grad, &p.displaced, field)
}
