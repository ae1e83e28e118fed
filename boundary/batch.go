package boundary

import (
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A Surface says how a batch of samples gets onto the planes of Jumps, in their
// numbers: sample z moves to z_b = z − Φ(z)·v with the same direction v for all
// samples, a·v = 1. A family of distributions has one (package family).
type Surface interface {
	// Locate follows the parameters of the family, which have changed.
	Locate()
	// Along is v at the latents that Jumps.Latents lists: a view, always the same.
	Along(k int) []float64
	// Density is that of Φ at 0.
	Density(k int) float64
	// Reached is false if no sample counts on the plane.
	Reached(k int) bool
	// Each reports whether the samples count differently, so that the sum of their
	// jumps is not enough.
	Each(k int) bool
}

// Curves are a Surface that moves samples onto some planes along curves.
type Curves interface {
	Surface
	// Curved reports whether plane k is one of them. Its Along does not count.
	Curved(k int) bool
	// Move writes the points on plane k to dst, Jumps.Latents × N, given Φ at the
	// samples.
	Move(dst []float64, k int, phi []float64)
}

// A Batch evaluates the jumps of a density at boundary points made from batches
// of N samples, and with them the gradient of log r at the samples themselves.
// That boundary points reuse the samples is unbiased by linearity; draws of their
// own have no less variance on any of the paper's models. A Batch is not safe for
// concurrent use, and allocates nothing after it is made.
//
// For each batch: fill Z and Signs of Samples, call Run, and read the jumps of the
// planes. Call Locate before that whenever the Surface's parameters have changed.
type Batch struct {
	j       *Jumps
	n       int
	surface Surface
	ex      *graph.Executor
	planes  []regions.Hyperplane

	used   []int // hyperplanes of the arrangement whose Φ is needed
	row    []int // of those: their rows in phi; else −1
	points []boundPoint
	phi    []float64   // Φ at the samples
	ratio  []float64   // of each row of signs; see signs.go
	chosen *choice     // nil if all guards are used
	curved [][]float64 // by plane: the points, Latents × N; nil if samples move along a line
}

// Bind returns a Batch of n samples for the data of d, which surface moves.
func (j *Jumps) Bind(d *graph.Density, n int, surface Surface, s Settings) (*Batch, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := &Batch{j: j, n: n, surface: surface, planes: j.Planes(), ratio: make([]float64, len(j.signs))}
	each := s.Guards > 0
	for k := range b.planes {
		each = each || surface.Each(k)
	}
	var err error
	if b.ex, err = d.ExecutorOf(j.prog, n, graph.Compute{Out: each, OutSum: !each, Grad: true}); err != nil {
		return nil, err
	}
	b.findUsed()
	b.curved = make([][]float64, len(b.planes))
	if m, ok := surface.(Curves); ok {
		for k := range b.planes {
			if m.Curved(k) {
				b.curved[k] = make([]float64, len(j.latents[k])*n)
			}
		}
	}
	for r, x := range j.points {
		if k := x.plane; k >= 0 {
			i := j.latents[k][x.at]
			p := boundPoint{k, b.ex.Points[r*n:][:n], b.ex.Z[i*n:][:n], b.Values(k), &surface.Along(k)[x.at]}
			if rows := b.curved[k]; rows != nil {
				p.z, p.along = rows[x.at*n:][:n], nil
			}
			b.points = append(b.points, p)
		}
	}
	if s.Guards > 0 {
		b.chosen = newChoice(s, len(b.planes), n)
	}
	return b, nil
}

// A boundPoint is where one latent's value on a plane is written, and what it is
// made of: z itself if along is nil.
type boundPoint struct {
	plane      int
	to, z, phi []float64
	along      *float64
}

// findUsed lists the hyperplanes whose Φ is needed at the samples.
func (b *Batch) findUsed() {
	b.row = slices.Repeat([]int{-1}, b.j.arr.Len())
	use := func(l int) {
		if b.row[l] < 0 {
			b.row[l] = len(b.used)
			b.used = append(b.used, l)
		}
	}
	for k, l := range b.j.numbers {
		if b.surface.Each(k) {
			use(l)
		}
	}
	for _, x := range b.j.points {
		if x.plane >= 0 {
			use(b.j.numbers[x.plane])
		}
	}
	for _, x := range b.j.signs {
		if x.plane >= 0 {
			use(b.j.numbers[x.plane])
			use(x.other)
		}
	}
	b.phi = make([]float64, len(b.used)*b.n)
}

// Samples is the executor whose Z and Signs hold the samples. After Run its Grad
// is the gradient of log r there.
func (b *Batch) Samples() *graph.Executor { return b.ex }

// Len is the number of planes.
func (b *Batch) Len() int { return len(b.planes) }

// Locate follows a Surface whose parameters have changed.
func (b *Batch) Locate() {
	b.surface.Locate()
	b.locateSigns()
	if b.chosen != nil {
		b.chosen.locate(b.surface)
	}
}

// Run moves the samples to all planes and evaluates the jumps there. rng is used
// only if guards are subsampled.
func (b *Batch) Run(rng *rand.Rand) error {
	if b.chosen != nil {
		b.chosen.draw(rng)
	}
	for _, l := range b.used {
		b.evaluate(l)
	}
	for k, rows := range b.curved {
		if rows != nil && b.surface.Reached(k) {
			b.surface.(Curves).Move(rows, k, b.Values(k))
		}
	}
	for _, x := range b.points {
		switch {
		case !b.surface.Reached(x.plane):
		case x.along == nil:
			copy(x.to, x.z)
		default:
			vec.Affine2(x.to, x.z, x.phi, 1, -*x.along, 0)
		}
	}
	b.fillSigns()
	return b.ex.Run()
}

// Values are Φ of plane k at the samples; nil if nothing needs them.
func (b *Batch) Values(k int) []float64 { return b.values(b.j.numbers[k]) }

// Sums are the sums of the samples' jumps, by plane, if no plane needs them one
// by one; nil if some does, and then Jumps has them.
func (b *Batch) Sums() []float64 { return b.ex.OutSum }

// Jumps are the jumps of the samples at plane k, times the factors of
// subsampling. They are valid until the next call.
func (b *Batch) Jumps(k int) []float64 {
	delta := b.ex.Out[k*b.n:][:b.n]
	if b.chosen != nil {
		return b.chosen.apply(k, delta)
	}
	return delta
}
