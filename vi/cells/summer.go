package cells

import (
	"math"
	"slices"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A summer sums switches out (see graph.Switches): given the other latents, a switch
// has in each interval between its thresholds its prior, times what log r knows of
// the interval,
//
//	r(rest) = r₀(rest)·Π_i Σ_j P_ij(rest)·exp(L_ij(rest)),   L_ij = Σ_{l ≤ j} Δ_il,
//
// where Δ are the jumps of log r and r₀ is r below all thresholds, without the priors of
// the switches. It works on batches.
type summer struct {
	d        *graph.Density
	switches []graph.SwitchLatent
	cuts     []*graph.Thresholds // nil where they are the same for all samples
	cut      [][]float64         // by switch: its thresholds, planes × n, or one for all samples
	n        int
	x        *graph.Executor // log r below all thresholds
	jumps    *boundary.Batch
	jump     [][]int // by switch and threshold: the number of the jump, or −1
	prior    *graph.Residuals
	mass     [][]float64 // by switch: log P_ij, where it is always the same
	part     [][]float64 // by switch: log P_ij + L_ij, intervals × n
	total    []float64   // Σ_j of these, by switch and sample
	out      []float64
	// of the switch under way, by sample
	sum, top []float64
}

// toCut is the boundary.Surface that moves switches alone: along a line, or for
// curves to the thresholds.
type toCut struct {
	s     *summer
	along [][]float64
	cut   []cut // by piece
	at    [][]int
}

// A cut is threshold j of switch i; i is −1 for pieces that no switch moves to.
type cut struct{ i, j int }

func newToCut(s *summer, j *boundary.Jumps) *toCut {
	c := &toCut{s: s, at: j.Latents()}
	of := map[[2]int]cut{} // by plane and latent
	for i, w := range s.switches {
		for k, l := range w.Planes {
			of[[2]int{l, w.Latent}] = cut{i, k}
		}
	}
	for k, p := range j.Pieces() {
		along, to := make([]float64, len(c.at[k])), cut{i: -1}
		if p.Curve != nil {
			if x, ok := of[[2]int{p.Plane, p.Latent()}]; ok {
				to = x
			}
		}
		for l, i := range p.Index {
			if x, ok := of[[2]int{p.Plane, i}]; ok {
				to = x
				if at, ok := slices.BinarySearch(c.at[k], i); ok {
					along[at] = 1 / p.Coef[l]
				}
			}
		}
		c.along, c.cut = append(c.along, along), append(c.cut, to)
	}
	return c
}

func (*toCut) Locate()                 {}
func (c *toCut) Along(k int) []float64 { return c.along[k] }
func (*toCut) Density(int) float64     { return 1 }
func (*toCut) Reached(int) bool        { return true }
func (*toCut) Each(int) bool           { return true }
func (c *toCut) Curved(k int) bool     { return c.cut[k].i >= 0 && c.s.switches[c.cut[k].i].Curved() }

func (c *toCut) Move(dst []float64, k int, z, _ []float64, _ *regions.CurveBatch) {
	n, to := c.s.n, c.cut[k]
	for l, i := range c.at[k] {
		row := dst[l*n:][:n]
		copy(row, z[i*n:][:n])
		if i == c.s.switches[to.i].Latent {
			for b := range row {
				row[b] = c.s.finite(to.i, to.j, b)
			}
		}
	}
}

func newSummer(d *graph.Density, switches []graph.SwitchLatent, n int) (*summer, error) {
	s := &summer{d: d, switches: switches, n: n, out: make([]float64, n), total: make([]float64, len(switches)*n)}
	s.sum, s.top = make([]float64, n), make([]float64, n)
	j, err := boundary.NewJumps(d, boundary.OnPlane)
	if err != nil {
		return nil, err
	}
	surface := newToCut(s, j)
	if s.jumps, err = j.Bind(d, n, surface, boundary.Settings{}); err != nil {
		return nil, err
	}
	s.jumps.Locate()
	if s.x, err = d.Executor(n, graph.Compute{Out: true}); err != nil {
		return nil, err
	}
	if s.prior, err = d.Residuals(n); err != nil {
		return nil, err
	}
	for i, w := range switches {
		if len(w.Index) == 0 {
			s.cuts, s.cut = append(s.cuts, nil), append(s.cut, make([]float64, len(w.Planes)))
			w.Thresholds(1).Fill(s.cut[i], make([]float64, d.Dim()))
		} else {
			s.cuts, s.cut = append(s.cuts, w.Thresholds(n)), append(s.cut, make([]float64, len(w.Planes)*n))
		}
		s.jump = append(s.jump, slices.Repeat([]int{-1}, len(w.Planes)))
		s.part = append(s.part, make([]float64, (len(w.Planes)+1)*n))
		s.mass = append(s.mass, nil)
		if len(w.Index) == 0 && s.prior.Fixed(w.Latent) {
			for j := range len(w.Planes) + 1 {
				lo, hi := s.between(len(s.mass)-1, j, 0)
				s.mass[len(s.mass)-1] = append(s.mass[len(s.mass)-1], s.prior.LogMass(w.Latent, 0, lo, hi))
			}
		}
	}
	for k, to := range surface.cut {
		if to.i >= 0 {
			s.jump[to.i][to.j] = k
		}
	}
	return s, nil
}

// run computes out, the log of r with the switches summed out, at the samples in x.Z,
// whose switches it puts below all thresholds. Signs of the other planes are those of
// forced, or the samples' own if that is nil.
func (s *summer) run(forced *regions.Signs) error {
	n := s.n
	for i, w := range s.switches {
		if s.cuts[i] != nil {
			s.cuts[i].Fill(s.cut[i], s.x.Z)
		}
		row := s.x.Z[w.Latent*n:][:n]
		for k := range row {
			row[k] = s.finite(i, 0, k) - 1
		}
	}
	s.d.Arrangement().SignBatch(s.x.Signs, s.x.Z, n)
	for _, w := range s.switches {
		below := 0.0
		if w.Down {
			below = 1
		}
		for _, l := range w.Planes {
			row := s.x.Signs[l*n:][:n]
			for k := range row {
				row[k] = below
			}
		}
	}
	if forced != nil {
		own := make([]bool, s.d.Arrangement().Len())
		for _, w := range s.switches {
			for _, l := range w.Planes {
				own[l] = true
			}
		}
		for l, own := range own {
			if own {
				continue
			}
			v := 0.0
			if forced.Positive(l) {
				v = 1
			}
			row := s.x.Signs[l*n:][:n]
			for k := range row {
				row[k] = v
			}
		}
	}
	if err := s.x.Run(); err != nil {
		return err
	}
	b := s.jumps.Samples()
	copy(b.Z, s.x.Z)
	copy(b.Signs, s.x.Signs)
	if err := s.jumps.Run(nil); err != nil {
		return err
	}
	copy(s.prior.Z, s.x.Z)
	s.prior.Invert()
	copy(s.out, s.x.Out)
	for i, w := range s.switches {
		s.addUp(i, w)
		for k, total := range s.total[i*n:][:n] {
			s.out[k] += total - s.prior.LogPriorOf(w.Latent, k)
		}
	}
	return nil
}

// addUp finds what switch i has in each interval, and in all.
func (s *summer) addUp(i int, w graph.SwitchLatent) {
	n, total := s.n, s.total[i*s.n:][:s.n]
	clear(s.sum)
	clear(total)
	top := s.top
	for k := range top {
		top[k] = math.Inf(-1)
	}
	for j := range len(w.Planes) + 1 {
		if j > 0 && s.jump[i][j-1] >= 0 {
			sign := 1.0
			if w.Down {
				sign = -1
			}
			vec.AddScaled(s.sum, sign, s.jumps.Jumps(s.jump[i][j-1]))
		}
		part := s.part[i][j*n:][:n]
		for k, v := range s.sum {
			if s.mass[i] != nil {
				v += s.mass[i][j]
			} else {
				lo, hi := s.between(i, j, k)
				v += s.prior.LogMass(w.Latent, k, lo, hi)
			}
			part[k] = v
			top[k] = max(top[k], v)
		}
	}
	for j := range len(w.Planes) + 1 {
		for k, v := range s.part[i][j*n:][:n] {
			if d := v - top[k]; !(d < leastExp) {
				total[k] += math.Exp(d)
			}
		}
	}
	for k, t := range top {
		total[k] = t + math.Log(total[k])
		if math.IsInf(t, 0) {
			total[k] = t
		}
	}
}

// threshold is threshold j of switch i at sample k.
func (s *summer) threshold(i, j, k int) float64 {
	if s.cuts[i] == nil {
		return s.cut[i][j]
	}
	return s.cut[i][j*s.n+k]
}

// finite is threshold j of switch i at sample k, or if that is not finite a number
// between those that are and it.
func (s *summer) finite(i, j, k int) float64 {
	at := func(j int) float64 { return s.threshold(i, j, k) }
	planes, low := len(s.switches[i].Planes), j
	for low < planes && math.IsInf(at(low), -1) {
		low++
	}
	switch {
	case low < planes && !math.IsInf(at(low), 1):
		return at(low) - float64(low-j)
	case low == planes || j == 0: // none is finite
		return 0
	}
	return s.finite(i, j-1, k) + 1
}

// leastExp is below all numbers whose exponential is not 0.
const leastExp = -746

// draw draws switch i of sample k, given what run has found there, by two uniform
// numbers: one for its interval and one for its place.
func (s *summer) draw(i, k int, u []float64) float64 {
	w := s.switches[i]
	left, j := u[0], 0
	for ; j < len(w.Planes); j++ {
		if left -= s.share(i, j, k); left < 0 {
			break
		}
	}
	lo, hi := s.between(i, j, k)
	return s.prior.Within(w.Latent, k, u[1], lo, hi)
}
