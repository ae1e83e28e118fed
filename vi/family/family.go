package family

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
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
	// Groups numbers groups of latents that are independent of each other: latents
	// with different numbers are.
	Groups() []int

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
	// samples, to dst.
	Finish(dst, sums []float64, n int)
	// FinishSome writes what sums bring to the gradient of some parameters to dst,
	// without what Finish knows exactly of the entropy.
	FinishSome(dst []float64, params []int, sums []float64, n int)
	// Surface returns how the batch moves onto pieces, those of curves last, with what
	// a piece's points are wanted at: at[k] lists latents for piece k, ascending. The
	// method is that for hyperplanes.
	Surface(pieces []boundary.Piece, at [][]int, m Method) Surface
	// Reach says which latents a Surface of the method moves.
	Reach(m Method) boundary.Reach
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

// A Surface moves the samples of a batch onto pieces, numbered as they were given, and
// pulls back what is found there. With w, the density of q along a sample's way, the
// boundary term of piece k is
//
//	Σ w·Δ·(∂z/∂θ)ᵀ∇Φ   at the points z_b on the piece, for jumps Δ of log r.
type Surface interface {
	boundary.Surface
	// Params are the parameters that the term of piece k touches, or all.
	Params(k int) []int
	// Clear clears the sums that the term of piece k adds to.
	Clear(sums []float64, k int)
	// AddSums adds the terms of pieces first, first + 1, …, given for each the sum of
	// the samples' jumps. Call it only for pieces where Each is false.
	AddSums(sums []float64, first int, jumps []float64)
	// Seeds reports whether Add leaves part of its work to AddPath or Pull of the
	// same grad, which must come after it.
	Seeds() bool
	// Add adds the term of piece k, given Φ at the samples, nil on a piece of a curve, and
	// the jumps of each:
	// to sums and, if Seeds, to grad. Where a weight is 0 the jump, which may be
	// infinite, does not count.
	Add(sums, grad []float64, k int, phi, jumps []float64)
}

// A fullSurface is what surfaces have in common whose terms touch all n parameters and
// sums, and need each jump.
type fullSurface struct{ n int }

func (d fullSurface) Params(int) []int {
	all := make([]int, d.n)
	for k := range all {
		all[k] = k
	}
	return all
}

func (fullSurface) Clear(sums []float64, _ int)       { clear(sums) }
func (fullSurface) Seeds() bool                       { return false }
func (fullSurface) Each(int) bool                     { return true }
func (fullSurface) AddSums([]float64, int, []float64) { panic("family: each jump is needed") }

// A Method says how a sample is moved onto a hyperplane (Lee, Yu and Yang,
// Theorem 3). For independent latents and a plane with one coordinate all are
// the same.
type Method uint8

const (
	// Own is the method that suits the family: Orthogonal, but Elimination for
	// sequential normals with parents, where Orthogonal costs two to six times as
	// much.
	Own Method = iota
	// Orthogonal projection moves along the normal in ε, which is Σa in z. Its
	// weights are constants.
	Orthogonal
	// Elimination solves for one coordinate of ε, and keeps the others. Where its
	// scale s is small beside that of the rest, v, the weights of guards that are m
	// away have a heavy tail: E[w²]/E[w]² grows like exp(m²·(1/(s²+v²) −
	// 1/(s²+2v²))), and few samples see such guards.
	Elimination
)

// String is the method's name.
func (m Method) String() string {
	return [...]string{"the family's own", "orthogonal", "elimination"}[m]
}

// Of returns the member of family f that is nearest to q. Where f has q's
// correlations it is q itself; else means and standard deviations agree.
func Of(f Family, p Program, q Q) (Q, error) {
	_, has := q.(*masses)
	same := q.Family() == f && len(programUnits(q)) == p.Params() && has == hasMasses(f, p)
	if same && f != (Structured{}) { // of which a member of another program may have other parents
		return q.Clone(), nil
	}
	to, err := f.New(p)
	if err != nil {
		return nil, err
	}
	if same && edgesOf(to).equal(edgesOf(q)) {
		return q.Clone(), nil
	}
	imitate(to, q)
	return to, nil
}

// edgesOf are those of a sequential normal, also beside masses; or nil.
func edgesOf(q Q) *edges {
	switch q := q.(type) {
	case *Normal:
		return q.edges
	case *masses:
		return edgesOf(q.rest)
	}
	return nil
}

// imitate makes to, a member of another family, as near to q as it can be.
func imitate(to, q Q) {
	if from, ok := q.(*masses); ok {
		if to, ok := to.(*masses); ok {
			imitate(to.rest, from.rest)
			copy(to.theta[len(to.rest.Theta()):], from.theta[len(from.rest.Theta()):])
			to.collect()
			return
		}
	}
	if from, ok := q.(*Normal); ok {
		base, ok := to.(*Normal)
		if c, confined := to.(*confined); confined {
			base, ok = c.normal, true
		}
		if ok && base.embed(from) {
			return
		}
	}
	mean, sd := make([]float64, q.Dim()), make([]float64, q.Dim())
	for i := range mean {
		mean[i], sd[i] = q.Mean(i), q.SD(i)
	}
	copy(sd, programUnits(q))
	to.Place(mean, sd)
}

// programUnits are the units of q's first latents, those that are parameters of the program.
func programUnits(q Q) (units []float64) {
	if c, ok := q.(Composite); ok {
		if _, parts := c.Decompose(); len(parts) > 0 {
			return programUnits(parts[0])
		}
	}
	for k, x := range q.Theta() {
		if q.Param(k).Is("unit") {
			units = append(units, x)
		}
	}
	return units
}

// Check reports a member that is not one of p's latents, with finite numbers.
func Check(q Q, p Program) error {
	switch {
	case isNil(p):
		return errors.New("a nil density")
	case isNil(q):
		return errors.New("no member of a family")
	}
	if q.Dim() != p.Dim() {
		return fmt.Errorf("a family of %d latents for %d", q.Dim(), p.Dim())
	}
	if m, ok := q.(*masses); ok {
		if err := m.check(p); err != nil {
			return err
		}
	}
	k := q.Fault()
	if k < 0 {
		return nil
	}
	of := q.Param(k)
	if of.Latent < 0 {
		return fmt.Errorf("parameter %s is %v", of.Symbol, q.Theta()[k])
	}
	return fmt.Errorf("latent %s: parameter %s is %v", p.Latents()[of.Latent], of.Symbol, q.Theta()[k])
}

// checkRand panics where Rand does.
func checkRand(q Q, dst []float64, rng *rand.Rand) {
	switch {
	case rng == nil:
		panic("family: a nil source of random numbers")
	case len(dst) != q.Dim():
		panic("family: a draw of another number of latents")
	}
}

// isNil reports an interface without a value, or with a nil pointer.
func isNil(x any) bool {
	v := reflect.ValueOf(x)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

const invSqrt2Pi = 0.398942280401432677939946059934

// normalDensity is φ(x), 0 where that underflows.
func normalDensity(x float64) float64 {
	if x*x > 1491 {
		return 0
	}
	return invSqrt2Pi * math.Exp(-0.5*x*x)
}
