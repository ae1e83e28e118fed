package smc

// A flight is the way of a column of a batch, from wall to wall.
type flight struct {
	column, of  int       // of so many
	z, v        []float64 // latents × of, where it began
	signs       []float64 // planes × of, now
	time        float64   // since it began
	last        int       // the wall that it met last; −1 if none
	bent        bool      // it meets curves, or may as it has met a wall
	shift, turn []float64 // by latent: it is at z + shift + time·(v + turn)
	point       []float64
}

func newFlight(dim, of int) flight {
	room := func() []float64 { return make([]float64, dim) }
	return flight{of: of, shift: room(), turn: room(), point: room()}
}

// start is the beginning of the way of a column; bent says whether it gets behind a curve if it meets no other wall.
func (f *flight) start(column int, bent bool) { f.column, f.time, f.last, f.bent = column, 0, -1, bent }

// latent is a latent at a time, if it meets no other wall until then.
func (f *flight) latent(i int, time float64) float64 {
	at := i*f.of + f.column
	return f.z[at] + f.shift[i] + time*(f.v[at]+f.turn[i])
}

// velocity is that of a latent now.
func (f *flight) velocity(i int) float64 { return f.v[i*f.of+f.column] + f.turn[i] }

// signOf is the sign of a plane, 1 or 0.
func (f *flight) signOf(plane int) *float64 { return &f.signs[plane*f.of+f.column] }
