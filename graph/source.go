package graph

import "slices"

// A recording is of how the numbers of one row of a plate come from its data, while that
// row is made as any other. Numbers that differ by row have a source, and so has what is
// computed from them; what is asked of them is kept as a question. A row in which all
// questions have the same answers has the same nodes, and its numbers are those of the
// recorded operations:
//
//	x ─▶ written ─▶ times −1 ─▶ coefficient of slope in y − level − slope·x
//	└──▶ is it finite?         └──▶ is it 0?
//
// Whatever looks at such a number in another way spoils the recording, and so does what does more than make values, latents, observations, terms and
// deterministic expressions of the data, of what is the same in all rows and of what Index gives.
type recording struct {
	operations []operation
	questions  []question
	known      map[operationKey]*source
	nodes      map[int]sources // by place in the row
	node       *sources        // of the node that is being made
	holes      []hole
	holeOf     map[nodeID]int // number of the first with a node
	spoilt     bool
}

// A rowRecording is a recording, and what the row adds to the model.
type rowRecording struct {
	*recording
	inputs    []input   // in the order of their operations
	data      []*source // of what is observed
	names     []string  // of latents, without the row
	collected []collected
	firstData int             // its number among the observations
	firsts    []firstOf       // that the model got
	guards    []recordedGuard // and its comparisons, each with a plane of its own
	zeros     []recordedZero
	indexings []indexing
	captured  []nodeID // what the body uses of the model outside
}

// An input is a number by row of a plate.
type input struct {
	of   *Plate
	data []float64
}

// A source is a result of an operation of a recording.
type source struct {
	rec *recording
	at  int32
}

// sources are those of a node's constant and coefficients.
type sources struct {
	v    *source
	coef []*source // nil without any
}

// An operation makes a number from two. One without a function is an input.
type operation struct {
	make func(x, y rounded) rounded
	x, y argument
}

// An operationKey tells operations apart.
type operationKey struct {
	code operationCode
	x, y argument
}

type operationCode uint8

const (
	otherOperation operationCode = iota // each is another one
	plusOperation
	timesOperation
	overOperation
	writtenOperation
	negatedOperation
)

func newRecording() *recording {
	return &recording{known: map[operationKey]*source{}, nodes: map[int]sources{}, holeOf: map[nodeID]int{}}
}

// collected is what Collect appends.
type collected struct {
	dst *[]Expr
	x   Expr
}

// An argument is the result of an operation, or a number.
type argument struct {
	at     int32 // −1 for a number
	number rounded
}

// A recordedGuard is a comparison and the plane that it is a side of: its numbers.
type recordedGuard struct {
	info     GuardInfo
	latents  []nodeID // by coefficient
	coef     []argument
	constant argument
}

func (r *rowRecording) addGuard(g *recordedGuard, info GuardInfo, newPlane bool) {
	if g == nil || !newPlane {
		r.spoilt = true
		return
	}
	g.info = info
	r.guards = append(r.guards, *g)
}

// A recordedZero is a node that is 0 on the plane of a comparison of the row.
type recordedZero struct {
	guard int
	id    nodeID
}

func (r *rowRecording) addZero(plane int, id nodeID) {
	guard := slices.IndexFunc(r.guards, func(g recordedGuard) bool { return g.info.Side.Plane == plane })
	r.spoilt = r.spoilt || guard < 0
	r.zeros = append(r.zeros, recordedZero{guard, id})
}

// A question is asked of a number.
type question struct {
	of     argument
	ask    func(v float64) bool
	answer bool
}

func newArgument(x rounded) argument {
	if x.from != nil {
		return argument{at: x.from.at}
	}
	return argument{-1, x}
}

// input is the source of a number of the data in the row of p; nil if r is.
func (r *rowRecording) input(p *Plate, data []float64) *source {
	if r == nil {
		return nil
	}
	r.inputs = append(r.inputs, input{p, data})
	return r.add(operation{x: argument{at: -1}, y: argument{at: -1}})
}

func (r *recording) add(o operation) *source {
	r.operations = append(r.operations, o)
	return &source{r, int32(len(r.operations) - 1)}
}

// recorded is the source of a function of x and y; nil if neither has one.
func recorded(code operationCode, f func(x, y rounded) rounded, x, y rounded) *source {
	from := x.from
	if from == nil {
		from = y.from
	}
	if from == nil {
		return nil
	}
	key := operationKey{code, newArgument(x), newArgument(y)}
	out := from.rec.known[key]
	if out == nil {
		out = from.rec.add(operation{make: f, x: key.x, y: key.y})
		if code != otherOperation {
			from.rec.known[key] = out
		}
	}
	return out
}

// is evaluates the predicate at x; for row data it also records question and answer.
func (x rounded) is(ask func(v float64) bool) bool {
	answer := ask(x.v)
	if x.from != nil {
		x.from.rec.questions = append(x.from.rec.questions, question{newArgument(x), ask, answer})
	}
	return answer
}

func isZero(v float64) bool { return v == 0 }

func isOne(v float64) bool { return v == 1 }

func isNegative(v float64) bool { return v < 0 }

// raw is the number itself, for what a recording cannot follow.
func (x rounded) raw() float64 {
	if x.from != nil {
		x.from.rec.spoilt = true
	}
	return x.v
}

// spoil gives a recording up; r may be nil.
func (r *recording) spoil() {
	if r != nil {
		r.spoilt = true
	}
}

// looks is called where node id is looked at, with its numbers.
func (r *recording) looks(x *nodes, id nodeID) {
	if id < x.start {
		if at, is := r.holeOf[id]; is && r.holes[at].from.any() {
			r.spoilt = true
		}
	} else if r.nodes[int(id-x.start)].any() {
		r.spoilt = true
	}
}

func (x sources) any() bool { return x.v != nil || x.coef != nil }

// finds is called where a node that is made turns out to be node j of the row. That has
// to be so in all rows.
func (r *recording) finds(j int) {
	from, has := r.nodes[j]
	if !has && r.node == nil {
		return
	}
	if !has || r.node == nil || !r.isTimesOne(r.node.v, from.v) || !slices.EqualFunc(r.node.coef, from.coef, r.isTimesOne) {
		r.spoilt = true
		return
	}
	r.nodes[j] = *r.node
}

// isTimesOne reports whether x is y, or 1·y: the same number, with an error that may be
// larger, as that of its node is then.
func (r *recording) isTimesOne(x, y *source) bool {
	return x == y || x != nil && y != nil && r.known[operationKey{timesOperation, newArgument(rounded{v: 1}), argument{at: y.at}}] == x
}

// rounded is the number x with its error and source.
func (x Expr) rounded() rounded { return rounded{v: x.v, err: x.err, from: x.from} }

// number is f of the numbers x and y.
func number(f func(a, b float64) float64, x, y Expr) Expr {
	out := computed(f, x.rounded(), y.rounded())
	if x.from != nil || y.from != nil {
		out.from = recorded(otherOperation, func(x, y rounded) rounded { return computed(f, x, y) }, x.rounded(), y.rounded())
	}
	return Expr{v: out.v, err: out.err, from: out.from}
}

// observedValue is observation i, with its source.
func (m *Model) observedValue(i int) rounded {
	x := rounded{v: m.obs[i].value}
	if rec := m.rec; rec != nil && !rec.spoilt && i >= rec.firstData {
		x.from = rec.data[i-rec.firstData]
	}
	return x
}
