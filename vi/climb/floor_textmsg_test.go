package climb

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
)

// textMsgData are the constants of textmsg: day k's count is Poisson(exp x0) if
// z > threshold[k], else Poisson(exp x1).
type textMsgData struct {
	guards           bool
	mean             float64 // of the priors of x0 and x1, whose variance is log 2
	count, threshold [textMsgDays]float64
	mu, s            [3]float64
	sums             textMsgSums
}

const textMsgDays = 37

// textMsgSums are sums over samples.
type textMsgSums struct {
	x0, x0Eps, x1, x1Eps, z, zEps float64 // gradients, and times ε
}

func newTextMsgData(guards bool) textMsgData {
	f := textMsgData{guards: guards, mean: math.Log(models.TextMsgMean()) - math.Ln2/2}
	days, counts := models.TextMsgData()
	f.count = [textMsgDays]float64(counts)
	for k, day := range days {
		f.threshold[k] = models.TextMsgThreshold(day)
	}
	return f
}

func (f *textMsgData) locate(mu, s []float64) {
	f.mu, f.s = [3]float64(mu), [3]float64(s)
	f.sums = textMsgSums{}
}

// textMsgFloor is the floor of textmsg with all that the model allows: the
// observations enter through the number of days before the switch and the sum
// of their counts, found by bisection, and since the jump on day k is
// count[k]·(x0 − x1) − (exp x0 − exp x1), all jumps are two sums.
type textMsgFloor struct {
	textMsgData
	edge       [64]float64              // the thresholds, ascending, and +Inf
	before     [textMsgDays + 1]float64 // sum of the first counts
	jump, rise float64                  // sums of x0 − x1 and exp x0 − exp x1
}

func newTextMsgFloor(guards bool) *textMsgFloor {
	f := &textMsgFloor{textMsgData: newTextMsgData(guards)}
	for k := range f.edge {
		f.edge[k] = math.Inf(1)
	}
	copy(f.edge[:], f.threshold[:])
	for k, c := range f.count {
		f.before[k+1] = f.before[k] + c
	}
	return f
}

func (f *textMsgFloor) locate(mu, s []float64) {
	f.textMsgData.locate(mu, s)
	f.jump, f.rise = 0, 0
}

func (f *textMsgFloor) add(eps []float64) {
	sum, jump, rise := f.sums, f.jump, f.rise
	all := f.before[textMsgDays]
	for len(eps) >= 3 {
		e0, e1, ez := eps[0], eps[1], eps[2]
		eps = eps[3:]
		x0, x1, z := f.mu[0]+f.s[0]*e0, f.mu[1]+f.s[1]*e1, f.mu[2]+f.s[2]*ez
		exp0, exp1 := math.Exp(x0), math.Exp(x1)
		days := 0 // whose threshold is below z
		for step := 32; step > 0; step /= 2 {
			next := days + step
			if z > f.edge[(next-1)&63] {
				days = next
			}
		}
		days = min(days, textMsgDays)
		n, c := float64(days), f.before[days]
		g0 := (f.mean-x0)*(1/math.Ln2) + c - n*exp0
		g1 := (f.mean-x1)*(1/math.Ln2) + (all - c) - (textMsgDays-n)*exp1
		sum.x0 += g0
		sum.x0Eps += g0 * e0
		sum.x1 += g1
		sum.x1Eps += g1 * e1
		sum.z -= z
		sum.zEps -= z * ez
		jump += x0 - x1
		rise += exp0 - exp1
	}
	f.sums, f.jump, f.rise = sum, jump, rise
}

func (f *textMsgFloor) gradient(gMu, gScale []float64) {
	if f.guards {
		for k, c := range f.threshold {
			w, t := floorWeight(c, f.mu[2], f.s[2])
			w *= f.count[k]*f.jump - f.rise
			f.sums.z += w
			f.sums.zEps += w * t
		}
	}
	f.sums.gradient(gMu, gScale)
}

func (s *textMsgSums) gradient(gMu, gScale []float64) {
	copy(gMu, []float64{s.x0, s.x1, s.z})
	copy(gScale, []float64{s.x0Eps, s.x1Eps, s.zEps})
}

// textMsgTermsFloor is the fused loop of textmsg that visits every observation
// and every guard for each sample, as a program for any counts and guards must.
type textMsgTermsFloor struct {
	textMsgData
	days [textMsgDays]struct{ threshold, count, w, wt float64 }
}

func newTextMsgTermsFloor(guards bool) *textMsgTermsFloor {
	f := &textMsgTermsFloor{textMsgData: newTextMsgData(guards)}
	for k := range f.days {
		f.days[k].threshold, f.days[k].count = f.threshold[k], f.count[k]
	}
	return f
}

func (f *textMsgTermsFloor) locate(mu, s []float64) {
	f.textMsgData.locate(mu, s)
	if f.guards {
		for k := range f.days {
			w, t := floorWeight(f.threshold[k], mu[2], s[2])
			f.days[k].w, f.days[k].wt = w, w*t
		}
	}
}

func (f *textMsgTermsFloor) add(eps []float64) {
	sum := f.sums
	for len(eps) >= 3 {
		e0, e1, ez := eps[0], eps[1], eps[2]
		eps = eps[3:]
		x0, x1, z := f.mu[0]+f.s[0]*e0, f.mu[1]+f.s[1]*e1, f.mu[2]+f.s[2]*ez
		exp0, exp1 := math.Exp(x0), math.Exp(x1)
		g0, g1 := (f.mean-x0)*(1/math.Ln2), (f.mean-x1)*(1/math.Ln2)
		if f.guards {
			jump, rise := x0-x1, exp0-exp1
			m, s := 0.0, 0.0
			for k := range f.days {
				d := &f.days[k]
				before := mask(z > d.threshold)
				g0 += keep(d.count-exp0, before)
				g1 += keep(d.count-exp1, ^before)
				delta := d.count*jump - rise
				m += d.w * delta
				s += d.wt * delta
			}
			sum.z += m
			sum.zEps += s
		} else {
			for k := range f.days {
				d := &f.days[k]
				before := mask(z > d.threshold)
				g0 += keep(d.count-exp0, before)
				g1 += keep(d.count-exp1, ^before)
			}
		}
		sum.x0 += g0
		sum.x0Eps += g0 * e0
		sum.x1 += g1
		sum.x1Eps += g1 * e1
		sum.z -= z
		sum.zEps -= z * ez
	}
	f.sums = sum
}

func (f *textMsgTermsFloor) gradient(gMu, gScale []float64) { f.sums.gradient(gMu, gScale) }

// BenchmarkFloorTerms is BenchmarkFloor of textmsg without the sums over
// observations that its author could take on paper.
func BenchmarkFloorTerms(b *testing.B) {
	g, err := models.LoadGolden("textmsg")
	require.NoError(b, err)
	for _, estimator := range floorEstimators {
		for _, n := range iterationSamples {
			b.Run(fmt.Sprintf("model=textmsg/estimator=%s/N=%d", estimator, n), func(b *testing.B) {
				benchmarkFloor(b, newFloor(newTextMsgTermsFloor(estimator == "boundary"), g.ThetaInit, n))
			})
		}
	}
}
