package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Slopes are lines of log weight by time, one for each chick. Given the three scales all else is normal; these are on a grid, which goes to where an intercept's scale
// is a ten thousandth of its mean: its posterior has a thin tail there, in which a sampler's steps are too long.
type slopes struct {
	n      int
	square float64      // Σy²
	g      [][3]float64 // by chick: Σ1, Σt, Σt²,
	h      [][2]float64 // and Σy, Σt·y
	scales [][3]float64 // sa, sb and s
	choose chooser
}

func newSlopes() *slopes {
	weight, time, number := column("chick.csv", "weight"), column("chick.csv", "Time"), column("chick.csv", "Chick")
	chicks := int(slices.Max(number))
	l := &slopes{n: len(weight), g: make([][3]float64, chicks), h: make([][2]float64, chicks)}
	for k, w := range weight {
		y, t, i := math.Log(w), time[k]/10, int(number[k])-1
		l.square += y * y
		l.g[i] = [3]float64{l.g[i][0] + 1, l.g[i][1] + t, l.g[i][2] + t*t}
		l.h[i] = [2]float64{l.h[i][0] + y, l.h[i][1] + t*y}
	}
	var logs []float64
	for a := -12.0; a < -1.9; a += 0.05 {
		for b := -2.2; b < -1; b += 0.04 {
			for c := -2.42; c < -2.05; c += 0.0125 {
				x := [3]float64{math.Exp(a), math.Exp(b), math.Exp(c)}
				log, _, _ := l.given(x, nil)
				l.scales = append(l.scales, x)
				logs = append(logs, log-x[0]*x[0]/2-x[1]*x[1]/0.08-x[2]*x[2]/0.5+a+b+c)
			}
		}
	}
	l.choose = newChooser(logs)
	return l
}

// A symmetric matrix has the elements 00, 01 and 11.
type symmetric [3]float64

func (m symmetric) det() float64 { return m[0]*m[2] - m[1]*m[1] }

func (m symmetric) inverse() symmetric {
	d := m.det()
	return symmetric{m[2] / d, -m[1] / d, m[0] / d}
}

func (m symmetric) times(x [2]float64) [2]float64 {
	return [2]float64{m[0]*x[0] + m[1]*x[1], m[1]*x[0] + m[2]*x[1]}
}

// draw is a normal with that covariance.
func (m symmetric) draw(mean [2]float64, rng *rand.Rand) [2]float64 {
	a := math.Sqrt(m[0])
	z := rng.NormFloat64()
	return [2]float64{mean[0] + a*z, mean[1] + m[1]/a*z + math.Sqrt(m.det())/a*rng.NormFloat64()}
}

// given is the log density of the data, but for a constant, and the mean and the covariance of (a, b); each is given the covariance of a chick's intercept and slope.
func (l *slopes) given(x [3]float64, each func(i int, covariance symmetric)) (log float64, mean [2]float64, covariance symmetric) {
	s2 := x[2] * x[2]
	log = -float64(l.n)*math.Log(x[2]) - l.square/(2*s2)
	precision, h := symmetric{1, 0, 1}, [2]float64{4, 0}
	for i, g := range l.g {
		p := symmetric{1/(x[0]*x[0]) + g[0]/s2, g[1] / s2, 1/(x[1]*x[1]) + g[2]/s2}
		log -= math.Log(p.det())/2 + math.Log(x[0]*x[1])
		c := p.inverse()
		if each != nil {
			each(i, c)
		}
		ch := c.times(l.h[i])
		log += (l.h[i][0]*ch[0] + l.h[i][1]*ch[1]) / (2 * s2 * s2)
		q, gch := symmetric(g), symmetric(g).times(ch)
		left, right := c.times([2]float64{q[0], q[1]}), c.times([2]float64{q[1], q[2]}) // columns of c·g
		precision[0] += (q[0] - (q[0]*left[0]+q[1]*left[1])/s2) / s2
		precision[1] += (q[1] - (q[0]*right[0]+q[1]*right[1])/s2) / s2
		precision[2] += (q[2] - (q[1]*right[0]+q[2]*right[1])/s2) / s2
		h[0] += (l.h[i][0] - gch[0]/s2) / s2
		h[1] += (l.h[i][1] - gch[1]/s2) / s2
	}
	covariance = precision.inverse()
	mean = covariance.times(h)
	return log - math.Log(precision.det())/2 + (h[0]*mean[0]+h[1]*mean[1])/2, mean, covariance
}

var lines *slopes

func chick(seed uint64) *moments {
	if lines == nil {
		lines = newSlopes()
	}
	l, rng := lines, random(seed)
	chicks := len(l.g)
	all := slices.Concat([]string{"a", "b", "sa", "sb", "s"}, names("u", chicks), names("v", chicks), []string{"log sa", "log sb", "log s"})
	m := newMoments(all...)
	covariances, draw := make([]symmetric, chicks), make([]float64, len(all))
	for range 50_000 {
		x := l.scales[l.choose.draw(rng)]
		_, mean, covariance := l.given(x, func(i int, c symmetric) { covariances[i] = c })
		line := covariance.draw(mean, rng)
		draw = append(draw[:0], line[0], line[1], x[0], x[1], x[2])
		draw = draw[:5+2*chicks]
		for i, c := range covariances {
			g, s2 := symmetric(l.g[i]), x[2]*x[2]
			fit := g.times(line)
			own := c.draw(c.times([2]float64{(l.h[i][0] - fit[0]) / s2, (l.h[i][1] - fit[1]) / s2}), rng)
			draw[5+i], draw[5+chicks+i] = own[0], own[1]
		}
		m.add(1, append(draw, math.Log(x[0]), math.Log(x[1]), math.Log(x[2]))...)
	}
	return m
}
