package smc

// A flight is the way of a column of a batch, from wall to wall.
type flight struct {
	column, of   int       // of so many
	z, v         []float64 // latents × of, where it began
	value, speed []float64 // Φ and how fast it changes, by affine wall
	side         []float64 // the sign 1 or −1, by wall
	time         float64   // since it began
	events       []event
	rooms        [][]float64 // of events
	shift, point []float64
}

// An event is a change of velocity by gain·C·a of a wall.
type event struct {
	wall       int
	reach      []float64 // C·a
	time, gain float64
}

// latent is a latent at a time, if there are no other events until then.
func (f *flight) latent(i int, time float64) float64 {
	at := i*f.of + f.column
	x := f.z[at] + time*f.v[at]
	for _, e := range f.events {
		x += e.gain * (time - e.time) * e.reach[i]
	}
	return x
}

// velocity is that of a latent now.
func (f *flight) velocity(i int) float64 {
	v := f.v[i*f.of+f.column]
	for _, e := range f.events {
		v += e.gain * e.reach[i]
	}
	return v
}

// room is that of the next event.
func (f *flight) room() []float64 {
	for len(f.rooms) <= len(f.events) {
		f.rooms = append(f.rooms, make([]float64, len(f.point)))
	}
	return f.rooms[len(f.events)]
}
