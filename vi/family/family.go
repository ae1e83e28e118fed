package family

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/regions"
)

// A Program is what a family has to know of a model. A graph.Density is one.
type Program interface {
	// Dim is the number of latents, and Latents are their names. The first Params of
	// them are parameters of the program: a member has each at one point, μ.
	Dim() int
	Latents() []string
	Params() int
	// Parents lists for each latent the earlier ones, ascending, that its prior
	// depends on.
	Parents() [][]int
	// Values are those of latent i, ascending, if it is discrete, with the cuts of its
	// coordinate between them, one fewer; else both are nil.
	Values(i int) (values, cuts []float64)
}

// A Family is a set of distributions on the unconstrained latents. Families are
// values that can be compared, and that JSON can encode.
type Family interface {
	// Name is the family's name: "mean field".
	Name() string
	// New returns the member with means 0, scales 1 and no correlations. It is an
	// error if the family does not suit the program.
	New(p Program) (Q, error)
	// StepSize is the step size of Adam that suits the family, in its units.
	StepSize() float64
}

// A DataFree is a Family whose New asks a program for Dim and Params alone: one member serves all
// data.
type DataFree interface {
	Family
	AnyData()
}

// relative is the step size of families whose units are their scales.
const relative = 0.03

// A Q is a distribution of the latents z in unconstrained coordinates: the
// member of a family at θ. It is not safe for concurrent use while it changes.
type Q interface {
	Family() Family
	// Dim is the number of latents.
	Dim() int
	// Theta is a view of θ. Change it by Set and Move only.
	Theta() []float64
	// Set copies theta into θ. It panics unless theta has the length of θ.
	Set(theta []float64)
	// Place makes the latents independent normals, as nearly as the family can,
	// with the given means and standard deviations. The standard deviation of a
	// parameter is the unit of its steps.
	Place(mean, sd []float64)
	// Correlate gives independent latents the partial correlations of a precision
	// matrix, as nearly as the family can: the mean of each stays, and so does its
	// standard deviation given all others. It panics unless the matrix is positive
	// definite.
	Correlate(precision mat.Symmetric)
	// Clone is a copy that shares nothing that changes.
	Clone() Q
	// Param says what parameter k of θ is.
	Param(k int) Param
	// Fault is the first parameter that is not finite, or does not make a positive
	// finite scale; −1 if there is none.
	Fault() int
	// Units writes the unit of each parameter to dst: how far θ_k moves in a step
	// of size 1, about. Units are positive.
	Units(dst []float64)
	// Move moves θ by step, in units. Scales move by factors exp(step), and so
	// stay positive; logits of masses move by step itself.
	Move(step []float64)

	// Mean and SD are those of latent i.
	Mean(i int) float64
	SD(i int) float64
	// Law is that of Φ(z) = a·z + c. A family that has no closed form of it comes
	// near, and says so.
	Law(h regions.Hyperplane) Law
	// MoverTo is how draws get to a side of Φ(z) = 0 that q is hardly ever on; nil
	// if the family cannot do it.
	MoverTo(h regions.Hyperplane, positive bool) Mover
	// LogProb is log q at z, −Inf where q has no mass. It panics unless z has a
	// coordinate for each latent.
	LogProb(z []float64) float64
	// Rand writes a draw to dst. It panics if rng is nil, or unless dst has the
	// length Dim.
	Rand(dst []float64, rng *rand.Rand)

	// Drawer returns what draws batches of n samples. It is a Sampler if q can be
	// fitted by gradients.
	Drawer(n int) Drawer
}

// A Natural is a Q that moves along natural gradients: where an optimiser of others follows the
// gradient times the units.
type Natural interface {
	Q
	// Natural makes the natural gradient of one in units.
	Natural(grad []float64)
}

// A Gaussian is a Q that is normal, with what has a closed form for normals only. A type that
// embeds a normal and is none must not have these methods.
type Gaussian interface {
	Q
	// Regression is Cov(z, Φ)/Var(Φ), by latent: given Φ(z) = v instead of u, z is
	// what it was plus (v − u) times this.
	Regression(h regions.Hyperplane) []float64
	// Entropy is −E[log q] in nats.
	Entropy() float64
}

// A Truncated is a Q that has no density beyond sides of guards.
type Truncated interface {
	Q
	Sides() []Side
	// LogProbs stores plus + log q at n points z, latents × n, in dst. room is scratch of (Dim() + 1)·n numbers.
	LogProbs(dst, z []float64, plus float64, room []float64)
}

// A Sampled is a Q whose laws are made of a sample. Resize says for what share of a mixture it stands: its sample has that
// share of a mixture's.
type Sampled interface {
	Q
	Resize(share float64)
}

// A Composite is a Q that is made of others: a file keeps these, and the numbers beside them.
type Composite interface {
	Q
	Decompose() (theta []float64, parts []Q)
}

// A Composer is a Family of Composites. Compose is the member with what Decompose returned,
// and an error if there is none.
type Composer interface {
	Family
	Compose(p Program, theta []float64, parts []Q) (Q, error)
}

// A Side is one of the two sides of a hyperplane: Φ(z) > 0 if Positive, else Φ(z) ≤ 0.
type Side struct {
	regions.Hyperplane
	Positive bool
}

// Interval is where a side of one latent has it; (−∞, ∞) of others.
func (s Side) Interval() (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if len(s.Index) != 1 {
		return lo, hi
	}
	at := -s.Const / s.Coef[0]
	if s.Positive == (s.Coef[0] > 0) {
		return at, hi
	}
	return lo, at
}

// A Mover moves z, a draw of q, to a draw on one side of a hyperplane. logQ is by
// how much log q changed, and weight is q over the density of what it draws there:
// E[f(z); z on the side] is the mean of weight·f over moved draws. Where these are
// draws of q given the side, weight is the side's probability. A Mover is safe for
// concurrent use.
type Mover func(z []float64, rng *rand.Rand) (logQ, weight float64)

// A Param is one parameter of a member.
type Param struct {
	Latent int // whose, −1 for weights of a mixture
	// Symbol is what it is called. Others know "μ", a latent's mean, "s", a conditional standard
	// deviation, "B", a coefficient of latent On, and "unit", beside the "μ" of a parameter
	// of the program; in a mixture they follow the part, as in "cell 2 μ". There are also "ρ",
	// "U" and "η".
	Symbol string
	On     int // the other latent of B, the column of U, the number of the value of η; else −1
}

// Is reports whether the parameter is of a kind, "μ" or "s", be it in a mixture or not.
func (p Param) Is(symbol string) bool { return strings.HasSuffix(p.Symbol, symbol) }

// Of reports whether the parameter is of latent i, alone or with another.
func (p Param) Of(i int) bool { return p.Latent == i || p.Is("B") && p.On == i }

// Label names a parameter, with the latents' names: "theta3 μ".
func (p Param) Label(latents []string) string {
	switch {
	case p.Latent < 0:
		return p.Symbol
	case p.On < 0:
		return latents[p.Latent] + " " + p.Symbol
	case p.Is("B"):
		return latents[p.Latent] + " " + p.Symbol + " " + latents[p.On]
	}
	return fmt.Sprintf("%s %s%d", latents[p.Latent], p.Symbol, p.On)
}

// A Drawer is the working state of a member for batches of n draws. It is for one
// goroutine.
type Drawer interface {
	// Locate takes on the parameters of q, a member of the same family.
	Locate(q Q)
	// Draw draws the batch: z, latents × n.
	Draw(z []float64, rng *rand.Rand)
	// SubLogQ subtracts log q at the samples, as they were drawn, from dst, of
	// length n.
	SubLogQ(dst []float64)
}

// A Knower is a Drawer that may know log r at its draws already, of sums over the data.
type Knower interface {
	Drawer
	// LogR is log r of p at the draws; nil if it is not known.
	LogR(p Program) []float64
}

// A Sampler is a Drawer that knows gradients by θ. It allocates nothing after it is
// made.
//
// Gradients are summed in sums, of length Sums, by the methods AddPath and
// AddScore and by the Surface; the sums of several samplers may be added up.
// Finish makes ∇θ of them.
type Sampler interface {
	Drawer
	// Sums is the length of sums.
	Sums() int
	// AddPath adds what the samples' paths bring to the gradient of the ELBO: by
	// ∇log r, given as latents × n, and by −log q. It overwrites grad.
	AddPath(sums, grad []float64)
	// Pull adds Σ (∂z/∂θ)ᵀv over the samples, of a field v given as latents × n.
	// It overwrites field. AddPath is Pull of ∇log r − ∇log q.
	Pull(sums, field []float64)
	// AddScore adds Σ weight·∇θ log q, the score function, over the samples. With
	// weights log r − log q it is the whole gradient of the ELBO.
	AddScore(sums, weight []float64)
	// Finish writes the mean gradient with respect to θ, of the sums of n
	// samples, to dst: what it makes of sums of 0 is what is known exactly of the entropy,
	// and the rest is linear in sums.
	Finish(dst, sums []float64, n int)
	// Surface returns how the batch moves onto pieces, those of curves last, with what
	// a piece's points are wanted at: at[k] lists latents for piece k, ascending.
	Surface(pieces []boundary.Piece, at [][]int) Surface
	// Reach says which latents a Surface moves.
	Reach() boundary.Reach
}

// Bind returns the Sampler of q for batches of n samples. It is an error if q has no
// gradients by θ.
func Bind(q Q, n int) (Sampler, error) {
	s, ok := q.Drawer(n).(Sampler)
	if !ok {
		return nil, fmt.Errorf("%s: not fitted by gradients; ask this of a fit of one family, such as FullRank", q.Family().Name())
	}
	return s, nil
}

// Marginal is the law of latent i.
func Marginal(q Q, i int) Law { return q.Law(axis(i)) }

// Exact reports whether q's Law of h is exact: that of a Q that has no method of this name is.
func Exact(q Q, h regions.Hyperplane) bool {
	e, ok := q.(interface{ Exact(regions.Hyperplane) bool })
	return !ok || e.Exact(h)
}

// axis is the form z_i.
func axis(i int) regions.Hyperplane { return regions.Hyperplane{Index: []int{i}, Coef: []float64{1}} }

// checkRand panics where Rand does.
func checkRand(q Q, dst []float64, rng *rand.Rand) {
	switch {
	case rng == nil:
		panic("family: a nil source of random numbers")
	case len(dst) != q.Dim():
		panic("family: a draw of another number of latents")
	}
}

// hold is of a start alone: no family makes a difference.
type hold struct{ held []int }

// Hold marks latents whose means a fit that starts here should believe, until the
// other latents have followed.
func (h *hold) Hold(latents []int) { h.held = slices.Clone(latents) }

// Held are the latents that Hold marked.
func (h *hold) Held() []int { return h.held }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

const invSqrt2Pi = 0.398942280401432677939946059934

// normalDensity is φ(x), 0 where that underflows.
func normalDensity(x float64) float64 {
	if x*x > 1491 {
		return 0
	}
	return invSqrt2Pi * math.Exp(-0.5*x*x)
}
