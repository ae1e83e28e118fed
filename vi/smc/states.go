package smc

// States are points side by side, latents × n, with log r, log q0, and how many requirements do not
// hold, with how far from that they are as long as there is a guide.
type states struct {
	z, logR, logQ, broken []float64
}

func newStates(dim, n int) states {
	return states{make([]float64, dim*n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

// set makes s a copy of o.
func (s *states) set(o *states) {
	copy(s.z, o.z)
	copy(s.logR, o.logR)
	copy(s.logQ, o.logQ)
	copy(s.broken, o.broken)
}

// take makes column i a copy of column j of o.
func (s *states) take(i int, o *states, j int) {
	n := len(s.logR)
	for r := 0; r < len(s.z); r += n {
		s.z[r+i] = o.z[r+j]
	}
	s.logR[i], s.logQ[i], s.broken[i] = o.logR[j], o.logQ[j], o.broken[j]
}

// point is column i.
func (s *states) point(i int) (z []float64) {
	for n := len(s.logR); i < len(s.z); i += n {
		z = append(z, s.z[i])
	}
	return z
}

// points are the columns.
func (s *states) points() (points [][]float64) {
	n := len(s.logR)
	dim, numbers := len(s.z)/n, make([]float64, len(s.z))
	for j := range dim {
		for i, x := range s.z[j*n:][:n] {
			numbers[i*dim+j] = x
		}
	}
	for i := range n {
		points = append(points, numbers[i*dim:][:dim:dim])
	}
	return points
}

// An island is particles that exchange nothing with those of others.
type island struct {
	number      int
	now         states
	half        states   // half-way of the last trajectory
	pool, next  []states // after each move at the last temperature, and at this one
	recent      []states // after each of the last moves at β = 1
	evidence    float64  // its logarithm
	weights     []float64
	acceptance  float64   // of the last trajectory,
	relocated   float64   // and of the relocations after it
	complete    states    // the last state that is kept, with what is summed out
	phase, turn []float64 // where its sequences of uniform numbers begin, and their steps
}

// resample draws the particles from the pool by systematic resampling, which u in (0, 1) fixes. An
// island whose weights are all 0 stays where it is.
func (l *island) resample(u float64) {
	sum, last := 0.0, 0
	for j, w := range l.weights {
		if sum += w; w > 0 {
			last = j
		}
	}
	n := len(l.now.logR)
	step := sum / float64(n)
	above, j := -step*u, -1 // above: from the end of state j's weight to the draw
	for i := range n {
		for above += step; above > 0 && j < last; {
			j++
			above -= l.weights[j]
		}
		from := max(j, 0)
		l.now.take(i, &l.pool[from%len(l.pool)], from/len(l.pool))
	}
}
