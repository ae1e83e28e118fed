package graph_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/facetvi/facet/graph"
)

// exactLog is the log density of each law in arithmetic of b bits, straight from
// its definition.
var exactLog = map[string]func(b bits, x num, p []num) num{
	"Normal": exactNormal,
	"Logistic": func(b bits, x num, p []num) num {
		r := b.abs(b.div(b.sub(x, p[0]), p[1])) // the density is even
		return b.sub(b.neg(r), b.add(b.log(p[1]), b.times(2, b.softplusNeg(r))))
	},
	"Laplace": func(b bits, x num, p []num) num {
		return b.sub(b.neg(b.div(b.abs(b.sub(x, p[0])), p[1])), b.log(b.times(2, p[1])))
	},
	"StudentsT": func(b bits, x num, p []num) num {
		r := b.div(b.sub(x, p[0]), p[1])
		half := b.times(0.5, b.add(p[2], b.num(1)))
		norm := b.sub(b.lgamma(half), b.lgamma(b.times(0.5, p[2])))
		norm = b.sub(norm, b.add(b.times(0.5, b.log(b.mul(b.constants().pi, p[2]))), b.log(p[1])))
		return b.sub(norm, b.mul(half, b.log1p(b.div(b.mul(r, r), p[2]))))
	},
	"Cauchy": exactCauchy,
	"HalfCauchy": func(b bits, x num, p []num) num {
		return b.add(exactCauchy(b, x, []num{b.num(0), p[0]}), b.constants().ln2)
	},
	"Gumbel": func(b bits, x num, p []num) num {
		r := b.div(b.sub(p[0], x), p[1])
		return b.sub(b.sub(r, b.expAny(r)), b.log(p[1]))
	},
	"Weibull": func(b bits, x num, p []num) num {
		h := b.mul(p[0], b.log(b.div(x, p[1])))
		return b.sub(b.sub(b.add(b.log(p[0]), h), b.expAny(h)), b.log(x))
	},
	"InverseGamma": func(b bits, x num, p []num) num {
		one := b.num(1)
		return b.sub(exactGamma(b, b.div(one, x), p), b.times(2, b.log(x)))
	},
	"Categorical": func(b bits, x num, p []num) num {
		k, _ := x.Int64()
		return b.sub(b.log(p[k]), b.log(b.add(b.add(p[0], p[1]), p[2])))
	},
	"OrderedLogistic": func(b bits, x num, p []num) num { // see dist_test.go for the difference that it is
		k, _ := x.Int64()
		softplus := func(d num) num {
			if d.Sign() < 0 {
				return b.softplusNeg(b.neg(d))
			}
			return b.add(d, b.softplusNeg(d))
		}
		sum := b.num(0)
		if k < 3 {
			sum = b.sub(sum, softplus(b.sub(p[0], b.num(orderedCuts[k]))))
		}
		if k > 0 {
			sum = b.sub(sum, softplus(b.sub(b.num(orderedCuts[k-1]), p[0])))
		}
		if k > 0 && k < 3 {
			sum = b.add(sum, b.log1p(b.neg(b.exp(b.num(orderedCuts[k-1]-orderedCuts[k])))))
		}
		return sum
	},
	"LogNormal": func(b bits, x num, p []num) num { return b.sub(exactNormal(b, b.log(x), p), b.log(x)) },
	"HalfNormal": func(b bits, x num, p []num) num {
		return b.add(exactNormal(b, x, []num{b.num(0), p[0]}), b.constants().ln2)
	},
	"Exponential": func(b bits, x num, p []num) num { return b.sub(b.log(p[0]), b.mul(p[0], x)) },
	"Gamma":       exactGamma,
	"ChiSquared":  func(b bits, x num, p []num) num { return exactGamma(b, x, []num{b.times(0.5, p[0]), b.num(0.5)}) },
	"Beta": func(b bits, x num, p []num) num {
		one := b.num(1)
		power := b.add(b.mul(b.sub(p[0], one), b.log(x)), b.mul(b.sub(p[1], one), b.log(b.sub(one, x))))
		return b.add(power, b.sub(b.lgamma(b.add(p[0], p[1])), b.add(b.lgamma(p[0]), b.lgamma(p[1]))))
	},
	"Uniform": func(b bits, _ num, p []num) num { return b.neg(b.log(b.sub(p[1], p[0]))) },
	"Poisson": func(b bits, x num, p []num) num {
		return b.sub(b.mul(x, b.log(p[0])), b.add(p[0], b.lgamma(b.add(x, b.num(1)))))
	},
	"Bernoulli": func(b bits, x num, p []num) num { return exactTrials(b, x, b.sub(b.num(1), x), p[0]) },
	"Binomial": func(b bits, x num, p []num) num {
		fails := b.sub(p[0], x)
		return b.add(exactChoose(b, x, fails), exactTrials(b, x, fails, p[1]))
	},
	"Geometric": func(b bits, x num, p []num) num { return exactTrials(b, b.num(1), b.sub(x, b.num(1)), p[0]) },
	"NegativeBinomial": func(b bits, x num, p []num) num {
		return b.add(exactChoose(b, x, b.sub(p[0], b.num(1))), exactTrials(b, p[0], x, p[1]))
	},
}

func (b bits) neg(x num) num { return b.new().Neg(x) }
func (b bits) abs(x num) num { return b.new().Abs(x) }

// softplusNeg is log(1 + e⁻ʳ) for r ≥ 0.
func (b bits) softplusNeg(r num) num {
	if r.Cmp(b.num(10*float64(b))) > 0 {
		return b.num(0)
	}
	return b.log1p(b.exp(b.neg(r)))
}

// expAny is eˣ, 0 where that is nothing beside x, and 10¹⁰⁰⁰ where it is more than that.
func (b bits) expAny(x num) num {
	switch most := b.num(10 * float64(b)); {
	case x.Cmp(most) > 0:
		return b.pow2(3322)
	case x.Cmp(b.neg(most)) < 0:
		return b.num(0)
	}
	return b.exp(x)
}

func exactCauchy(b bits, x num, p []num) num {
	r := b.div(b.sub(x, p[0]), p[1])
	return b.neg(b.add(b.log(b.mul(b.constants().pi, p[1])), b.log1p(b.mul(r, r))))
}

func exactNormal(b bits, x num, p []num) num {
	r := b.div(b.sub(x, p[0]), p[1])
	return b.sub(b.times(-0.5, b.mul(r, r)), b.add(b.log(p[1]), b.times(0.5, b.constants().log2pi)))
}

func exactGamma(b bits, x num, p []num) num {
	power := b.sub(b.mul(b.sub(p[0], b.num(1)), b.log(x)), b.mul(p[1], x))
	return b.add(power, b.sub(b.mul(p[0], b.log(p[1])), b.lgamma(p[0])))
}

// exactTrials is the log probability of s successes and f failures in a row.
func exactTrials(b bits, s, f, p num) num {
	return b.add(b.mul(s, b.log(p)), b.mul(f, b.log(b.sub(b.num(1), p))))
}

// exactChoose is log (x+y choose x).
func exactChoose(b bits, x, y num) num {
	one := b.num(1)
	return b.sub(b.lgamma(b.add(b.add(x, y), one)), b.add(b.lgamma(b.add(x, one)), b.lgamma(b.add(y, one))))
}

// An input of a log density, one of its parameters or its value, is a number, or
// a function of a latent's coordinate.
type input struct {
	kind   byte // of a parameter as in law.kinds; of a value by its space: r, p, u, or i for an interval
	latent bool
	v      float64 // the number, or the coordinate
}

// A point is where a law is compared with its exact log density. Its inputs are
// the parameters and, last, the value. Observed values may follow, of the same
// parameters.
type point struct {
	law
	in   []input
	more []float64
}

// bits are enough for 100 right ones of a derivative after the worst
// cancellation.
func (pt point) bits() bits {
	most := 0.0
	for _, in := range pt.in {
		size := math.Abs(math.Log2(math.Abs(in.v)))
		if in.latent && in.kind != 'r' {
			size = math.Abs(in.v) * math.Log2E
		}
		if in.v != 0 {
			most = max(most, size)
		}
	}
	for _, x := range pt.more {
		most = max(most, math.Abs(math.Log2(x)))
	}
	b := bits(640)
	for float64(b) < 300+3*most { // few precisions, whose constants are kept
		b += b / 4
	}
	return b
}

// exact is the log density where the inputs' numbers and coordinates are v; of a
// latent value, that of its coordinate.
func (pt point) exact(b bits, v []num) num {
	last := len(v) - 1
	args, logJac := make([]num, len(v)), b.num(0)
	for i, in := range pt.in {
		args[i] = v[i]
		if !in.latent || in.kind == 'r' {
			continue
		}
		slope := b.exp(v[i])
		if args[i] = slope; in.kind != 'p' {
			args[i] = b.div(slope, b.add(b.num(1), slope))
			slope = b.mul(args[i], b.sub(b.num(1), args[i]))
		}
		if in.kind == 'i' {
			width := b.sub(args[1], args[0])
			args[i], slope = b.add(args[0], b.mul(width, args[i])), b.mul(width, slope)
		}
		if i == last {
			logJac = b.log(slope)
		}
	}
	sum := b.add(exactLog[pt.name](b, args[last], args[:last]), logJac)
	for _, x := range pt.more {
		sum = b.add(sum, exactLog[pt.name](b, b.num(x), args[:last]))
	}
	return sum
}

// slope is ∂f/∂vᵢ by a central difference.
func (b bits) slope(f func(v []num) num, v []num, i int) num {
	h := b.pow2(-int(b) / 3)
	up := f(moved(v, i, h))
	return b.div(b.sub(up, f(moved(v, i, b.neg(h)))), b.times(2, h))
}

// moved is v with d added to vᵢ.
func moved(v []num, i int, d num) []num {
	w := slices.Clone(v)
	w[i] = new(big.Float).Add(v[i], d)
	return w
}

// An answer is the log density or one of its derivatives.
type answer struct {
	exactNumber
	beyond     bool    // beyond the numbers, or computed from what is
	negligible float64 // an error that makes no difference
}

const (
	nats      = 1e-15  // negligible in a log density, and in its slope along a coordinate without unit
	underflow = 1e-290 // negligible in what has a unit
)

// answers are the exact log density and its gradient by the latents.
func (pt point) answers(t *testing.T) []answer {
	list := pt.exactNumbers(t, pt.bits(), t.Name(), fmt.Sprint(t.Name(), " ", pt, pt.more), pt.exact)
	density := answer{list[0], math.IsInf(list[0].want, 0), nats * pt.weight()}
	answers := []answer{density}
	for _, in := range pt.in {
		if !in.latent {
			continue
		}
		negligible := nats
		if in.kind == 'r' {
			negligible = underflow
		}
		slope := answer{exactNumber: list[len(answers)], negligible: negligible}
		slope.beyond = density.beyond || in.kind == 'p' && math.IsInf(slope.want/math.Exp(in.v), 0)
		answers = append(answers, slope)
	}
	return answers
}

// weight is 1, and of categories the largest |log weight|: log p is off by 1e-16 of that,
// which counts where p is nearly 1.
func (pt point) weight() float64 {
	most := 1.0
	if pt.name == "Categorical" {
		for _, in := range pt.in[:len(pt.in)-1] {
			if !in.latent {
				in.v = math.Log(in.v)
			}
			most = max(most, math.Abs(in.v))
		}
	}
	return most
}

// exactNumbers are f at the inputs and its derivatives by the latents: see exactOf.
func (pt point) exactNumbers(t *testing.T, b bits, group, key string, f func(b bits, v []num) num) []exactNumber {
	t.Helper()
	inputs := func() (v []num) {
		for _, in := range pt.in {
			v = append(v, b.num(in.v))
		}
		return v
	}
	value := func(v []num) num { return f(b, v) }
	return exactOf(t, group, key, func() float64 {
		x, _ := value(inputs()).Float64()
		return x
	}, func() []exactNumber {
		v := inputs()
		list := []exactNumber{pt.answer(b, value, v)}
		for i, in := range pt.in {
			if in.latent {
				list = append(list, pt.answer(b, func(v []num) num { return b.slope(value, v, i) }, v))
			}
		}
		return list
	})
}

// answer is f at v. An input may be off by ε|vᵢ|, and by ε(1+|vᵢ|) if it is the
// coordinate of a function that is rounded.
func (pt point) answer(b bits, f func(v []num) num, v []num) (a exactNumber) {
	value := f(v)
	a.want, _ = value.Float64()
	for i, in := range pt.in {
		scale := math.Abs(in.v)
		if in.latent && in.kind != 'r' {
			scale++
		}
		change, _ := b.sub(f(moved(v, i, b.num(0x1p-52*scale))), value).Float64()
		a.slack += math.Abs(change)
	}
	return a
}

// accepts reports whether got is right to a relative 1e-12, or to four times the
// slack.
func (a answer) accepts(got float64) bool {
	off := math.Abs(got - a.want)
	return got == a.want || off <= a.negligible+1e-12*math.Abs(a.want) || off <= 4*a.slack
}

// computed are the log density and its gradient by the latents as graph has
// them. Latents that are parameters have priors that a factor takes away.
func (pt point) computed() ([]float64, error) {
	m := graph.NewModel()
	var z []float64
	flat := func(v float64) graph.Expr {
		x := m.Sample(fmt.Sprint("z", len(z)), graph.Normal(0, 1))
		m.Factor(graph.Add(graph.Mul(0.5, graph.Square(x)), 0.5*math.Log(2*math.Pi)))
		z = append(z, v)
		return x
	}
	last := len(pt.in) - 1
	var p []graph.Expr
	for _, in := range pt.in[:last] {
		switch {
		case !in.latent:
			p = append(p, graph.Add(in.v, 0))
		case in.kind == 'r':
			p = append(p, flat(in.v))
		case in.kind == 'p':
			p = append(p, graph.Exp(flat(in.v)))
		case in.kind == 'u':
			p = append(p, graph.Sigmoid(flat(in.v)))
		}
	}
	if x := pt.in[last]; x.latent {
		m.Sample("x", pt.make(p))
		z = append(z, x.v)
	} else {
		if len(z) == 0 {
			flat(0)
		}
		m.Observe("x", pt.make(p), x.v)
	}
	for _, x := range pt.more {
		m.Observe("x", pt.make(p), x)
	}
	d, err := m.Compile()
	if err != nil {
		return nil, err
	}
	value, err := d.LogProb(z)
	if err != nil {
		return nil, err
	}
	slopes, err := d.GradAt(z, d.Arrangement().Signs(z))
	return append([]float64{value}, slopes...), err
}

// typical is where the coordinate of a law's value is likely: a centre and a
// width.
func typical(name string, p []float64) (centre, width float64) {
	switch name {
	case "HalfNormal", "HalfCauchy":
		return math.Log(p[0]), 1
	case "Weibull":
		return math.Log(p[1]), 1 / p[0]
	case "InverseGamma":
		return math.Log(p[1]) - math.Log(p[0]), 1 / math.Sqrt(p[0])
	case "Categorical":
		return 1, 1
	case "OrderedLogistic":
		return 1.5, 1.5
	case "Exponential":
		return -math.Log(p[0]), 1
	case "Gamma":
		return math.Log(p[0]) - math.Log(p[1]), 1 / math.Sqrt(p[0])
	case "ChiSquared":
		return math.Log(p[0]), math.Sqrt(2 / p[0])
	case "Beta":
		return math.Log(p[0]) - math.Log(p[1]), math.Sqrt(1/p[0] + 1/p[1])
	case "Uniform":
		return 0, 10
	case "Poisson":
		return p[0], math.Sqrt(p[0])
	case "Bernoulli":
		return 0.5, 0.4
	case "Binomial":
		return p[0] * p[1], math.Sqrt(p[0] * p[1] * (1 - p[1]))
	case "Geometric":
		return 1 + 1/p[0], 1 / p[0]
	case "NegativeBinomial":
		return p[0] * (1 - p[1]) / p[1], math.Sqrt(p[0]*(1-p[1])) / p[1]
	}
	return p[0], p[1] // a location and a scale
}

// A source draws points.
type source struct{ *rand.Rand }

// within is a number between −r and r, for one of the given r.
func (s source) within(r ...float64) float64 { return r[s.IntN(len(r))] * (2*s.Float64() - 1) }

// point draws parameters of all sizes, and a value near where it is likely. It
// is false if what it drew is no point of the law.
func (s source) point(l law, latentParams, latentValue bool) (point, bool) {
	pt := point{law: l}
	var p []float64
	for i, kind := range []byte(l.kinds) {
		z := s.within(3, 12, 40, 40, 690)
		switch {
		case kind == 'r':
			z = math.Copysign(math.Exp(s.within(1, 20, 300)), s.within(1))
		case kind == 'c' && i == 0: // trials, or the lower end of an interval
			z = math.Floor(math.Exp(math.Abs(s.within(3, 12, 35))))
		case kind == 'c':
			z = p[0] + math.Exp(s.within(3, 35))
		}
		p = append(p, number(kind, z))
		if kind == 'u' && p[i] == 1 || kind == 'c' && i == 1 && p[1] == p[0] {
			return pt, false
		}
		if latentParams && kind != 'c' {
			pt.in = append(pt.in, input{kind, true, z})
		} else {
			pt.in = append(pt.in, input{kind, false, p[i]})
		}
	}
	kind := map[space]byte{discrete: 'c', line: 'r', half: 'p', unit: 'u', interval: 'i'}[l.space]
	centre, width := typical(l.name, p)
	x := centre + width*s.within(0.1, 3, 100)
	switch {
	case l.space == discrete:
		low, high := values(l.name, p)
		x = math.Round(min(max(x, low), high))
	case l.space != line && math.Abs(x) > 700: // eˣ would leave its range
		return pt, false
	case l.space == interval && !latentValue:
		x = p[0] + (p[1]-p[0])*sigmoid(x)
	case !latentValue:
		x = number(kind, x)
	}
	pt.in = append(pt.in, input{kind, latentValue, x})
	return pt, !math.IsInf(x, 0) && !math.IsNaN(x) && (kind != 'u' || latentValue || x < 1)
}

// number is the number that a coordinate stands for.
func number(kind byte, z float64) float64 {
	switch kind {
	case 'p':
		return math.Exp(z)
	case 'u':
		return sigmoid(z)
	}
	return z
}

// values are the least and the largest value of a discrete law.
func values(name string, p []float64) (low, high float64) {
	switch name {
	case "Bernoulli":
		return 0, 1
	case "Categorical":
		return 0, 2
	case "OrderedLogistic":
		return 0, 3
	case "Binomial":
		return 0, p[0]
	case "Geometric":
		return 1, math.Inf(1)
	}
	return 0, math.Inf(1)
}

func (pt point) String() string {
	s := pt.name + "("
	for i, in := range pt.in {
		if i == len(pt.in)-1 {
			s += ") at "
		} else if i > 0 {
			s += ", "
		}
		switch {
		case in.latent && in.kind == 'p':
			s += fmt.Sprintf("exp(%v)", in.v)
		case in.latent && in.kind != 'r':
			s += fmt.Sprintf("sigmoid(%v)", in.v)
		default:
			s += fmt.Sprint(in.v)
		}
	}
	return s
}

// Log densities and gradients are right to a relative 1e-12, or as well as their
// inputs are known, wherever the parameters lie. There are no distribution functions
// to compare yet. Two limits are left out: a gamma with a small number as its shape α
// and a rate β that is not a number is off by about 1e-16·α·|log β|, and a Poisson
// count k by 1e-16·k·log k, if WithData put it in the place of a small one.
func TestExactLogDensities(t *testing.T) {
	skipShort(t)
	keepExact(t)
	const points = 12
	for _, l := range laws() {
		for _, c := range []struct {
			name          string
			params, value bool // are latents
		}{{"numbers", false, false}, {"latent parameters", true, false}, {"latent value", false, true}, {"latents", true, true}} {
			if c.params && l.space == interval || c.value && l.space == discrete {
				continue
			}
			t.Run(l.name+"/"+c.name, func(t *testing.T) {
				s := source{rand.New(rand.NewPCG(1, 2))}
				for n := 0; n < points; {
					if pt, ok := s.point(l, c.params, c.value); ok {
						pt.compare(t)
						n++
					}
				}
			})
		}
	}
}

// Data with the same parameters, which share a log density, are as exact as one of
// them, wherever the first one x lies. The limit is that n of them are off by a
// relative 1e-16·n·|log(y/x)| if x is so unlikely that the others do not count.
func TestExactLogDensitiesOfSeries(t *testing.T) {
	skipShort(t)
	keepExact(t)
	for _, l := range laws() {
		if !slices.Contains([]string{"Gamma", "ChiSquared", "Beta"}, l.name) {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			s := source{rand.New(rand.NewPCG(3, 4))}
			for n := 0; n < 5; {
				pt, ok := s.point(l, true, false)
				for k := 0; ok && k < 10; k++ {
					other, okToo := s.valueOf(pt)
					ok = okToo
					pt.more = append(pt.more, other)
				}
				if ok {
					pt.compare(t)
					n++
				}
			}
		})
	}
}

// valueOf draws another value that pt's law may have.
func (s source) valueOf(pt point) (float64, bool) {
	kind, p := byte('p'), make([]float64, 0, 2)
	for _, in := range pt.in[:len(pt.in)-1] {
		p = append(p, number(in.kind, in.v))
	}
	if pt.space == unit {
		kind = 'u'
	}
	centre, width := typical(pt.name, p)
	x := number(kind, centre+width*s.within(0.1, 3, 3, 100))
	return x, x > 0 && math.Abs(math.Log(x/pt.in[len(pt.in)-1].v)) < 100 && (kind == 'p' || x < 1)
}

// Points that formulas straight from a book get wrong.
func TestExactLogDensitiesAt(t *testing.T) {
	skipShort(t)
	keepExact(t)
	at := func(name string, latents bool, v ...float64) {
		for _, l := range laws() {
			if l.name != name {
				continue
			}
			pt := point{law: l}
			for i, kind := range []byte(l.kinds) {
				pt.in = append(pt.in, input{kind, latents, v[i]})
			}
			pt.in = append(pt.in, input{map[space]byte{discrete: 'c', line: 'r', half: 'p'}[l.space], false, v[len(v)-1]})
			pt.compare(t)
		}
	}
	at("StudentsT", false, 0, 1, 1e12, 0.5) // nearly a normal
	at("StudentsT", false, 0, 1, 1e16, 0.5)
	at("StudentsT", true, 0, 0, 80, 0.5)
	at("NegativeBinomial", false, 1e14, 0.5, 1e14) // lgamma(2n) − lgamma(n) − lgamma(n+1)
	at("NegativeBinomial", true, 35, 30, 150)
	at("Poisson", false, 1e12, 1e12)
	at("Gamma", false, 1e12, 1e12, 1)
	at("Gamma", true, 1.2, 1, 1.2)      // the slope is a digamma
	at("Gamma", false, 1e308, 2, 4e307) // log Γ overflows
	at("NegativeBinomial", false, 1e308, 0.5, 1e306)
	at("Normal", false, 0, 1e-155, 1e-155)
	at("Normal", false, 0, 1e170, 1e170) // σ² overflows
	at("Normal", true, 0, -360, 1e-156)
	at("HalfNormal", true, 400, 1e173)
	at("Logistic", false, -9.733339907362045e+07, 0.19722271855194828, -9.733339907901172e+07) // x/s − μ/s
}

// compare fails if the log density or its gradient is wrong. There are two limits.
// Where the log density is beyond the numbers, an error is right, and its gradient
// may be anything. A slope along log p is p times the one along p, which may be
// beyond the numbers alone.
func (pt point) compare(t *testing.T) {
	t.Helper()
	answers := pt.answers(t)
	got, err := pt.computed()
	if err != nil {
		if !answers[0].beyond {
			t.Errorf("%v: %v", pt, err)
		}
		return
	}
	for i, a := range answers {
		if i > 0 && a.beyond {
			continue
		}
		if !a.accepts(got[i]) {
			t.Errorf("%v: component %d is %v, not %v: off by %.2g, and rounding changes it by %.2g", pt, i, got[i], a.want, got[i]-a.want, a.slack)
		}
	}
}
