package boundary

import (
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A Surface says how a batch of samples gets onto the pieces of Jumps, in their
// numbers: sample z moves to z_b = z − Φ(z)·v with the same direction v for all
// samples, a·v = 1. A family of distributions has one (package family).
type Surface interface {
	// Locate follows the parameters of the family, which have changed.
	Locate()
	// Along is v at the latents that Jumps.Latents lists: a view, always the same.
	Along(k int) []float64
	// Density is that of Φ at 0, or near it: positive wherever samples count.
	Density(k int) float64
	// Reached is false if no sample counts on the piece.
	Reached(k int) bool
	// Each reports whether the samples count differently, so that the sum of their
	// jumps is not enough.
	Each(k int) bool
}

// Curves are a Surface that moves samples onto some pieces in other ways than along a
// line. A Surface that is none does not reach the pieces of curves.
type Curves interface {
	Surface
	// Curved reports whether piece k is one of them. Its Along does not count. Pieces
	// of curves that it is false for are not reached.
	Curved(k int) bool
	// Move writes the points on piece k to dst, Jumps.Latents × N, given the samples z,
	// latents × N, and Φ there: of a hyperplane as phi, of a curve as the last Values of
	// at. All points must be finite.
	Move(dst []float64, k int, z, phi []float64, at *regions.CurveBatch)
}

// A Batch evaluates the jumps of a density at boundary points made from batches
// of N samples, and with them the gradient of log r at the samples themselves.
// That boundary points reuse the samples is unbiased by linearity; draws of their
// own have no less variance on any of the paper's models. A Batch is not safe for
// concurrent use, and allocates nothing after it is made.
//
// For each batch: fill Z of Samples, call Sign and Run, and read the jumps of the
// pieces. Call Locate before that whenever the Surface's parameters have changed.
type Batch struct {
	j       *Jumps
	n       int
	surface Surface
	ex      *graph.Executor

	used   regions.Forms // Φ of the hyperplanes where it is needed
	row    []int32       // by plane of the arrangement: that of its Φ in phi; else −1
	pieces []int32       // by piece: row of its plane
	points []boundPoint
	phi    []float64 // Φ at the samples
	ratio  []float64 // of each row of signs; see signs.go
	chosen *choice   // nil if all pieces are used

	along   []float64         // scratch of locateSigns, by latent; 0
	changes map[[2]int]change // of the normals of hyperplanes
	scratch []float64         // a row

	straight [][]straightSign // by row of signs; see signs.go

	moved  []mover               // by piece
	at     [][]float64           // by piece: the points, Latents × N; nil if nothing needs them
	lines  []int                 // pieces onto which samples move along a line, and whose points are needed
	curves []*regions.CurveBatch // by plane of the arrangement: at points on others; nil if it is not needed
	own    []*regions.CurveBatch // by plane: at the samples; nil if samples do not move onto it
}

// A mover says how samples get onto a piece.
type mover uint8

const (
	line    mover = iota
	byCurve       // by the surface's Move
	never
)

// Bind returns a Batch of n samples for the data of d, which surface moves.
func (j *Jumps) Bind(d *graph.Density, n int, surface Surface, s Settings) (*Batch, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := &Batch{j: j, n: n, surface: surface, ratio: make([]float64, len(j.signs)), along: make([]float64, d.Dim()), changes: map[[2]int]change{}, scratch: make([]float64, n)}
	b.findMovers()
	each := s.Guards > 0
	for k := range j.pieces {
		each = each || b.moved[k] != never && surface.Each(k)
	}
	var err error
	each = each || d.IsSimulation()
	if b.ex, err = d.Engine().Executor(j.prog, n, graph.Compute{Out: each, OutSum: !each, Grad: true, NewData: s.NewData}); err != nil {
		return nil, err
	}
	b.findUsed()
	b.findStraight()
	for r, x := range j.points {
		if k := x.piece; k >= 0 && b.moved[k] != never {
			i := j.latents[k][x.at]
			p := boundPoint{piece: k, to: b.ex.Points[r*n:][:n], z: b.ex.Z[i*n:][:n], phi: b.Values(k)}
			if b.moved[k] == line {
				p.along = &surface.Along(k)[x.at]
			} else {
				p.z = b.at[k][x.at*n:][:n]
			}
			b.points = append(b.points, p)
		}
	}
	if s.Guards > 0 {
		b.chosen = newChoice(s, len(j.pieces), n)
	}
	return b, nil
}

// findMovers decides how samples get onto pieces, and makes room for the points.
func (b *Batch) findMovers() {
	planes := b.j.arr.Len()
	b.at, b.curves, b.own = make([][]float64, len(b.j.pieces)), make([]*regions.CurveBatch, planes), make([]*regions.CurveBatch, planes)
	curves, _ := b.surface.(Curves)
	for k, p := range b.j.pieces {
		how := line
		switch {
		case curves != nil && curves.Curved(k):
			how = byCurve
			b.makeRoom(k)
			if p.Curve != nil && b.own[p.Plane] == nil {
				b.own[p.Plane] = p.Curve.Bind(b.n)
			}
		case p.Curve != nil:
			how = never
		}
		b.moved = append(b.moved, how)
	}
	for _, x := range b.j.signs {
		if c := b.j.arr.Curve(x.other); c != nil && x.piece >= 0 && b.moved[x.piece] != never {
			b.makeRoom(x.piece)
			if b.curves[x.other] == nil {
				b.curves[x.other] = c.Bind(b.n)
			}
		}
	}
	for k, rows := range b.at {
		if rows != nil && b.moved[k] == line {
			b.lines = append(b.lines, k)
		}
	}
}

func (b *Batch) makeRoom(k int) {
	if b.at[k] == nil {
		b.at[k] = make([]float64, len(b.j.latents[k])*b.n)
	}
}

// A boundPoint is where one latent's value on a piece is written, and what it is
// made of: z itself if along is nil.
type boundPoint struct {
	piece      int
	to, z, phi []float64
	along      *float64
}

// findUsed lists the hyperplanes whose Φ is needed at the samples.
func (b *Batch) findUsed() {
	b.row = slices.Repeat([]int32{-1}, b.j.arr.Len())
	use := func(l int) {
		if b.row[l] < 0 {
			b.row[l] = int32(len(b.used.Const))
			b.used.Add(b.j.arr.Plane(l))
		}
	}
	own := func(k int) {
		if b.j.pieces[k].Curve == nil {
			use(b.j.pieces[k].Plane)
		}
	}
	for k := range b.j.pieces {
		if b.surface.Each(k) {
			own(k)
		}
	}
	for _, x := range b.j.points {
		if x.piece >= 0 {
			own(x.piece)
		}
	}
	for _, x := range b.j.signs {
		if x.piece >= 0 {
			own(x.piece)
			if b.j.arr.Curve(x.other) == nil {
				use(x.other)
			}
		}
	}
	b.phi = make([]float64, len(b.used.Const)*b.n)
	for _, p := range b.j.pieces {
		b.pieces = append(b.pieces, b.row[p.Plane])
	}
}

// Samples is the executor whose Z and Signs hold the samples. After Run its Grad
// is the gradient of log r there.
func (b *Batch) Samples() *graph.Executor { return b.ex }

// Len is the number of pieces.
func (b *Batch) Len() int { return len(b.j.pieces) }

// Locate follows a Surface whose parameters have changed.
func (b *Batch) Locate() {
	b.surface.Locate()
	b.locateSigns()
	if b.chosen != nil {
		b.chosen.locate(b.surface)
	}
}

// Sign fills Signs of Samples from Z. A caller whose Surface asks nothing of the curves
// at the samples may fill them otherwise.
func (b *Batch) Sign() { b.j.arr.SignBatchWith(b.ex.Signs, b.ex.Z, b.n, b.own) }

// Run moves the samples to all pieces and evaluates the jumps there. rng is used
// only if guards are subsampled.
func (b *Batch) Run(rng *rand.Rand) error {
	if b.chosen != nil {
		b.chosen.draw(rng)
	}
	b.used.AtBatch(b.phi, b.ex.Z, b.n)
	for k, how := range b.moved {
		if how == byCurve && b.surface.Reached(k) {
			b.surface.(Curves).Move(b.at[k], k, b.ex.Z, b.Values(k), b.own[b.j.pieces[k].Plane])
		}
	}
	for _, x := range b.points {
		switch {
		case !b.surface.Reached(x.piece):
		case x.along == nil:
			copy(x.to, x.z)
		default:
			vec.Affine2(x.to, x.z, x.phi, 1, -*x.along, 0)
		}
	}
	b.fillSigns()
	return b.ex.Run()
}

// Values are Φ at the samples on piece k; nil if nothing needs them, and on a piece of
// a curve.
func (b *Batch) Values(k int) []float64 { return b.rowOf(b.pieces[k]) }

// Sums are the sums of the samples' jumps, by piece, if no piece needs them one
// by one; nil if some does, and then Jumps has them.
func (b *Batch) Sums() []float64 {
	if b.ex.OutSum == nil {
		return nil
	}
	return b.ex.OutSum[:len(b.j.pieces)]
}

// LogProbs is the sum of log r over the samples, of NewValuedJumps.
func (b *Batch) LogProbs() float64 {
	if k := len(b.j.pieces); b.ex.OutSum != nil {
		return b.ex.OutSum[k]
	} else {
		return vec.Sum(b.ex.Out[k*b.n:][:b.n])
	}
}

// Jumps are the jumps of the samples at piece k, times the factors of
// subsampling. They are valid until the next call.
func (b *Batch) Jumps(k int) []float64 {
	delta := b.ex.Out[k*b.n:][:b.n]
	if b.chosen != nil {
		return b.chosen.apply(k, delta)
	}
	return delta
}
