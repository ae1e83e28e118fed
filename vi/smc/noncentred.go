package smc

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/vec"
)

// A noncentring is coordinates w of trajectories, in which latents that have scales (see [derive.Noncentred]) are
//
//	z_i − place_i(z) = exp(Σ_s γ_s·power·(s − middle_s))·(w_i − place_i(w))
//
// With γ = 0 they are the program's, and with γ = 1 the scale is in w no more: the first is better where data say much of each latent, the second where they say
// little (Papaspiliopoulos, Roberts and Sköld, Statistical Science 2007). With the γ that is learned neither the spread of w_i, which a trajectory has to go, nor
// the gradient by w_i, which bounds its steps, changes much with s: of the logarithms of distances from places and of one over gradients, the mean has slope γ.
type noncentring struct {
	list    []noncentred
	degrees []degree
	middle  []float64 // by latent

	factors [][]derive.Exponent // γ·power
	volume  []derive.Exponent   // what log |∂z/∂w| has of s − middle
}

// A noncentred is a latent that has scales.
type noncentred struct {
	derive.Noncentred
	degrees []int // by scale
	factor  int
}

// A degree is the γ of a scale: one for the latents of which its power is positive, and one for the others.
type degree struct {
	by       int
	positive bool
	of       []use
	gamma    float64
	away     []float64 // s − middle
	sd       float64   // of these
}

// A use is the latent of the list that has a scale, to a power.
type use struct {
	k     int
	power float64
}

// newNoncentring is nil where no latent has a scale.
func newNoncentring(list []derive.Noncentred, dim int) *noncentring {
	if len(list) == 0 {
		return nil
	}
	s := &noncentring{middle: make([]float64, dim)}
	for k, x := range list {
		var degrees []int
		for _, e := range x.Scales {
			at := slices.IndexFunc(s.degrees, func(n degree) bool { return n.by == e.By && n.positive == (e.Power > 0) })
			if at < 0 {
				at, s.degrees = len(s.degrees), append(s.degrees, degree{by: e.By, positive: e.Power > 0})
			}
			s.degrees[at].of, degrees = append(s.degrees[at].of, use{k, e.Power}), append(degrees, at)
		}
		s.list = append(s.list, noncentred{Noncentred: x, degrees: degrees})
	}
	return s
}

const (
	degreeStates = 2    // of each particle, of which γ is
	degreePasses = 4    // over all scales
	leastDegree  = 0.05 // standard deviation of γ·s; below it nothing is gained
)

// A weighed is points with weights and the gradients of log π there, latents × n.
type weighed struct{ z, grad, weights []float64 }

// learn finds γ, and reports whether some is not 0.
func (s *noncentring) learn(points []weighed) bool {
	column := func(of func(p weighed) []float64, i int) (x []float64) {
		for _, p := range points {
			n := len(p.weights)
			x = append(x, of(p)[i*n:][:n]...)
		}
		return x
	}
	z := func(i int) []float64 { return column(func(p weighed) []float64 { return p.z }, i) }
	weights := column(func(p weighed) []float64 { return p.weights }, 0)
	for k := range s.degrees {
		n := &s.degrees[k]
		n.away, n.gamma = z(n.by), 0
		s.middle[n.by] = stat.Mean(n.away, weights)
		vec.Affine(n.away, n.away, 1, -s.middle[n.by])
		n.sd = stat.StdDev(n.away, weights)
	}
	logs := make([][]float64, len(s.list))
	for k, x := range s.list {
		logs[k] = s.distances(x, weights, z)
		for i, g := range column(func(p weighed) []float64 { return p.grad }, x.Latent) {
			logs[k][i] = (logAbs(logs[k][i]) - logAbs(g)) / 2
		}
	}
	for range degreePasses {
		s.improve(logs, weights)
	}
	s.combine()
	return len(s.volume) > 0
}

func logAbs(x float64) float64 { return math.Log(math.Abs(x) + math.SmallestNonzeroFloat64) }

// distances are those of a latent from its place, less what is linear in its scales.
func (s *noncentring) distances(x noncentred, weights []float64, z func(i int) []float64) []float64 {
	y := z(x.Latent)
	for _, t := range x.Place {
		vec.AddScaled(y, -t.Coef, z(int(t.Atom)))
	}
	for _, k := range x.degrees {
		away := s.degrees[k].away
		a, b := stat.LinearRegression(away, y, weights, false)
		vec.AddScaled(y, -b, away)
		vec.Affine(y, y, 1, -a)
	}
	return y
}

// improve fits one γ after another by least squares, and takes what they say out of logs.
func (s *noncentring) improve(logs [][]float64, weights []float64) {
	for k := range s.degrees {
		n, top, bottom := &s.degrees[k], 0.0, 0.0
		for _, u := range n.of {
			top += u.power * stat.Covariance(logs[u.k], n.away, weights)
			bottom += u.power * u.power * n.sd * n.sd
		}
		if !(bottom > 0) {
			continue
		}
		change := min(max(n.gamma+top/bottom, 0), 1) - n.gamma
		n.gamma += change
		for _, u := range n.of {
			vec.AddScaled(logs[u.k], -change*u.power, n.away)
		}
	}
}

// combine finds the factors.
func (s *noncentring) combine() {
	s.factors, s.volume = nil, nil
	of := make([][]derive.Exponent, len(s.list))
	for _, n := range s.degrees {
		if !(n.gamma*n.sd >= leastDegree) {
			continue
		}
		sum := 0.0
		for _, u := range n.of {
			of[u.k] = append(of[u.k], derive.Exponent{By: n.by, Power: n.gamma * u.power})
			sum += n.gamma * u.power
		}
		s.volume = append(s.volume, derive.Exponent{By: n.by, Power: sum})
	}
	for k, x := range of {
		at := slices.IndexFunc(s.factors, func(y []derive.Exponent) bool { return slices.Equal(x, y) })
		if at < 0 {
			at, s.factors = len(s.factors), append(s.factors, x)
		}
		s.list[k].factor = at
	}
}

// scales computes the factors at n points, of which either coordinates do, into room.
func (s *noncentring) scales(room, z []float64, n int) {
	for k, x := range s.factors {
		row := room[k*n:][:n]
		clear(row)
		for _, e := range x {
			vec.AddScaled(row, e.Power, z[e.By*n:][:n])
			vec.Affine(row, row, 1, -e.Power*s.middle[e.By])
		}
		vec.Exp(row, row)
	}
}

// toZ computes the program's coordinates of points, with their factors in room.
func (s *noncentring) toZ(z, w, room []float64, n int) {
	s.scales(room, w, n)
	s.stretch(z, w, n, func(k int, row []float64) { vec.Mul(row, row, room[s.list[k].factor*n:][:n]) })
}

// toW is its inverse.
func (s *noncentring) toW(w, z, room []float64, n int) {
	s.scales(room, z, n)
	s.stretch(w, z, n, func(k int, row []float64) { vec.Div(row, row, room[s.list[k].factor*n:][:n]) })
}

// stretch changes distances from places, which are those of the same coordinates.
func (s *noncentring) stretch(to, from []float64, n int, change func(k int, row []float64)) {
	copy(to, from)
	for k, x := range s.list {
		row := to[x.Latent*n:][:n]
		x.addPlace(row, -1, from, n)
		change(k, row)
		x.addPlace(row, 1, to, n)
	}
}

// addPlace adds a multiple of the place to a row.
func (x *noncentred) addPlace(row []float64, a float64, z []float64, n int) {
	for _, t := range x.Place {
		vec.AddScaled(row, a*t.Coef, z[int(t.Atom)*n:][:n])
	}
	if x.Constant != 0 {
		vec.Affine(row, row, 1, a*x.Constant)
	}
}

// pull makes gradients by z those by w, of what has log |∂z/∂w| added to it. sum is room for as many numbers, and tmp for two rows.
func (s *noncentring) pull(grad, w, room, sum, tmp []float64, n int) {
	clear(sum)
	stretched, distance := tmp[:n], tmp[n:2*n]
	for _, x := range slices.Backward(s.list) {
		row := grad[x.Latent*n:][:n]
		vec.Mul(stretched, row, room[x.factor*n:][:n])
		vec.Add(sum[x.Latent*n:][:n], sum[x.Latent*n:][:n], stretched)
		for _, t := range x.Place {
			vec.AddScaled(grad[int(t.Atom)*n:][:n], t.Coef, row)
			vec.AddScaled(sum[int(t.Atom)*n:][:n], -t.Coef, stretched)
		}
		clear(row)
		copy(distance, w[x.Latent*n:][:n])
		x.addPlace(distance, -1, w, n)
		vec.Mul(distance, distance, stretched)
		for _, e := range s.factors[x.factor] {
			vec.AddScaled(sum[e.By*n:][:n], e.Power, distance)
		}
	}
	vec.Add(grad, grad, sum)
	for _, e := range s.volume {
		vec.Affine(grad[e.By*n:][:n], grad[e.By*n:][:n], 1, e.Power)
	}
}

// addVolume adds a multiple of log |∂z/∂w|.
func (s *noncentring) addVolume(dst []float64, a float64, z []float64, n int) {
	for _, e := range s.volume {
		vec.AddScaled(dst, a*e.Power, z[e.By*n:][:n])
		vec.Affine(dst, dst, 1, -a*e.Power*s.middle[e.By])
	}
}

// points makes rows of z rows of w.
func (s *noncentring) points(points *mat.Dense) {
	rows, _ := points.Dims()
	room, w := make([]float64, len(s.factors)), []float64(nil)
	for r := range rows {
		z := points.RawRowView(r)
		w = append(w[:0], z...)
		s.toW(w, z, room, 1)
		copy(z, w)
	}
}
