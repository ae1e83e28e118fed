package smc

import "github.com/facetvi/facet/internal/vec"

// A flight is the way of a column of a batch, from wall to wall.
type flight struct {
	column, of  int       // of so many
	z, v        []float64 // latents × of: where it ends and its velocity, if it meets no wall
	signs       []float64 // planes × of, now
	time, until float64   // since it began, and its end
	last        int       // the wall that it met last; −1 if none
	shift, turn []float64 // by latent: it ends at z + shift, with velocity v + turn
	turns       bool      // turn is needed: for curves, for signs that are no walls, and for jumps of log r that depend on latents
	due         []pushed  // what is missing in turn
	point       []float64
}

// A push changes a point's momentum by a multiple of the normal a of a wall, and so its velocity.
type push struct {
	latents []int32 // of a
	a       []float64
	q       float64   // a·C·a
	both    []float64 // C·a along the normals of the affine functions, and C·a itself
	reach   []float64 // the latter
}

// Pushed is a multiple of a push.
type pushed struct {
	by   *push
	gain float64
}

func newFlight(dim, of int) flight {
	return flight{of: of, turn: make([]float64, dim), point: make([]float64, dim)}
}

// start is the beginning of the way of a column.
func (f *flight) start(column int) {
	f.column, f.time, f.last = column, 0, -1
}

// settle completes turn, for latent and velocity.
func (f *flight) settle() {
	for _, x := range f.due {
		vec.AddScaled(f.turn, x.gain, x.by.reach)
	}
	f.due = f.due[:0]
}

// latent is a latent at a time, if it meets no other wall until then.
func (f *flight) latent(i int, time float64) float64 {
	at := i*f.of + f.column
	return f.z[at] + f.shift[i] - (f.until-time)*(f.v[at]+f.turn[i])
}

// velocity is that of a latent now.
func (f *flight) velocity(i int) float64 { return f.v[i*f.of+f.column] + f.turn[i] }

// signOf is the sign of a plane, 1 or 0.
func (f *flight) signOf(plane int) *float64 { return &f.signs[plane*f.of+f.column] }
