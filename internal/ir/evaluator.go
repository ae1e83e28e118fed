package ir

import "github.com/facetvi/facet/regions"

// An Evaluator computes nodes, one at a time and each once: at
// one z in z's own region, or formulas in a region. It holds no lock.
type Evaluator struct {
	St     *Store
	nodes  *Nodes
	Z      []float64
	Data   []float64
	Arr    *regions.Arrangement // gives the signs at z; nil in a region
	Region regions.Signs
	memo   []float64
	seen   []uint32 // memo[id] holds where seen[id] is run
	run    uint32
	Room   []float64 // for the parameters of a law
}

// Evaluator returns an evaluator of nodes, the first ones of s. Release it after
// use.
func (s *Store) Evaluator(nodes *Nodes) *Evaluator {
	e, ok := s.evaluators.Get().(*Evaluator)
	if !ok || len(e.memo) < nodes.Len() {
		e = &Evaluator{St: s, memo: make([]float64, nodes.Len()), seen: make([]uint32, nodes.Len())}
	}
	if e.run++; e.run == 0 { // the count has come round
		clear(e.seen)
		e.run = 1
	}
	e.nodes = nodes
	return e
}

func (e *Evaluator) Release() {
	e.nodes, e.Z, e.Data, e.Arr, e.Region = nil, nil, nil, nil, regions.Signs{}
	e.St.evaluators.Put(e)
}

func (e *Evaluator) Value(id ID) float64 {
	if e.seen[id] == e.run {
		return e.memo[id]
	}
	n := e.nodes.At(id)
	v := n.Compute(e)
	e.memo[id], e.seen[id] = v, e.run
	return v
}

func (e *Evaluator) Latent(i int) float64 { return e.Z[i] }
func (e *Evaluator) Datum(i int) float64  { return e.Data[i] }

func (e *Evaluator) Positive(plane int) bool {
	if e.Arr == nil {
		return e.Region.Positive(plane)
	}
	return e.Arr.At(plane, e.Z) > 0
}

// Inputs are what the value of a node follows from.
type Inputs interface {
	Latent(i int) float64
	Datum(i int) float64
	Positive(plane int) bool
	Value(operand ID) float64
}

// Compute is the value of n.
func (n *Node) Compute(in Inputs) float64 {
	switch n.Kind {
	case Const:
		return n.V
	case Latent:
		return in.Latent(int(n.A))
	case Data:
		return in.Datum(int(n.A))
	case Sign:
		return Indicator(in.Positive(int(n.A)))
	case Sum:
		sum := n.V
		for _, t := range n.Terms {
			sum += t.Coef * in.Value(t.Atom)
		}
		return sum
	case Unary:
		return n.Fn.Value(in.Value(n.A))
	case Binary:
		return n.Fn.Value2(in.Value(n.A), in.Value(n.B))
	case Ternary:
		return n.Fn.Value3(in.Value(n.A), in.Value(n.B), in.Value(n.C))
	case Select:
		if in.Value(n.A) != 0 {
			return in.Value(n.B)
		}
		return in.Value(n.C)
	case Not:
		return 1 - in.Value(n.A)
	case And:
		return in.Value(n.A) * in.Value(n.B)
	case Flip:
		if sign := in.Value(n.A); sign != 0 {
			return sign * in.Value(n.B)
		}
		return 0
	case Forward:
		x := make([]float64, len(n.Terms))
		for i, t := range n.Terms {
			x[i] = in.Value(t.Atom)
		}
		return ForwardValue(int(n.A), int(n.B), x)
	}
	panic("graph: an input that has no value of its own")
}

func Indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
