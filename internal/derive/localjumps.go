package derive

import (
	"maps"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// LocalJumps compute the jump of log r at one point of one hyperplane, from those parts of log r alone
// that depend on its sign. So a path that crosses many hyperplanes one by one pays at
// each for these parts only. They are immutable and safe for concurrent use; package boundary has the jumps of batches of points at all hyperplanes.
type LocalJumps struct {
	nodes []ir.Node // operands before what uses them, by numbers of their own
	roots []int32   // by hyperplane: the number of its jump, −1 where log r does not jump
	used  []bool    // by hyperplane: log r depends on its sign
	data  []float64
}

// localJumps returns the jumps of the density.
func (b *Builder) localJumps() (*LocalJumps, error) {
	j, number := &LocalJumps{}, map[ir.ID]ir.ID{}
	for l := range b.affect {
		j.used = append(j.used, len(b.affect[l]) > 0)
		o := b.row(b.Jump(l, ir.Substitution{}))
		if o.C == 0 && len(o.Terms) == 0 {
			j.roots = append(j.roots, -1)
			continue
		}
		j.roots = append(j.roots, int32(j.add(b.Store, b.Store.AffineSum(o.C, o.Terms), number)))
	}
	return j, b.tooMany()
}

// LocalJumps returns the jumps of d.
func (d Density) LocalJumps() (*LocalJumps, error) {
	type key struct{}
	j, err := Cached(d, key{}, func() (*LocalJumps, error) { return d.Builder().localJumps() })
	if err != nil {
		return nil, err
	}
	of := *j
	of.data = d.Data
	return &of, nil
}

// simplified are the same jumps, with the data as numbers.
func (j *LocalJumps) simplified() *LocalJumps {
	s, number := ir.NewStore(), make([]ir.ID, len(j.nodes))
	of := func(id ir.ID) ir.ID { return number[id] }
	for id, n := range j.nodes {
		switch n.Kind {
		case ir.Data:
			number[id] = s.Constant(j.data[n.A])
		case ir.Latent, ir.Sign:
			number[id] = s.Leaf(n.Kind, int(n.A))
		case ir.Sum:
			number[id] = sumOf(s, n, of)
		case ir.Flip:
			number[id] = s.Flip(of(n.A), s.Constant(0), of(n.B))
		default:
			number[id] = s.Operation(n, of)
		}
		if n.Kind == ir.Unary && n.Fn == kernel.Softplus { // softplus(−x) = softplus(x) − x: log odds need neither
			if c, x := s.Coefficient(of(n.A)); c.V == -1 {
				number[id] = s.Sum(1, s.Unary(kernel.Softplus, x), -1, x)
			}
		}
	}
	out, known := &LocalJumps{used: j.used}, map[ir.ID]ir.ID{}
	for _, root := range j.roots {
		if root >= 0 {
			root = int32(out.add(s, number[root], known))
		}
		out.roots = append(out.roots, root)
	}
	return out
}

// writtenOut is how many terms a sum has at most that is written out in another one.
const writtenOut = 3

// sumOf is the sum n of what of gives for its atoms.
func sumOf(s *ir.Store, n ir.Node, of func(ir.ID) ir.ID) ir.ID {
	v, coef := n.V, map[ir.ID]float64{}
	for _, t := range n.Terms {
		c, terms := s.Parts(of(t.Atom))
		if len(terms) > writtenOut {
			c, terms = 0, []ir.Term{{Atom: of(t.Atom), Coef: 1}}
		}
		v += t.Coef * c
		for _, u := range terms {
			coef[u.Atom] += t.Coef * u.Coef
		}
	}
	var terms []ir.Term
	for _, x := range slices.Sorted(maps.Keys(coef)) {
		if coef[x] != 0 {
			terms = append(terms, ir.Term{Atom: x, Coef: coef[x]})
		}
	}
	return s.AffineSum(v, terms)
}

// JumpsBeside reports whether log r jumps at any hyperplane that is not in known. Where it does, LocalJumps may take long.
func (d Density) JumpsBeside(known map[int]bool) (bool, error) {
	d.Program.Store.Mu.Lock()
	defer d.Program.Store.Mu.Unlock()
	b := d.Builder()
	for l := range b.affect {
		if known[l] || len(b.affect[l]) == 0 {
			continue
		}
		if o := b.row(b.Jump(l, ir.Substitution{})); o.C != 0 || len(o.Terms) > 0 {
			return true, b.tooMany()
		}
	}
	return false, b.tooMany()
}

// add adds a node of s with its operands, and returns its number.
func (j *LocalJumps) add(s *ir.Store, id ir.ID, number map[ir.ID]ir.ID) ir.ID {
	if at, ok := number[id]; ok {
		return at
	}
	n := s.At(id)
	terms := make([]ir.Term, len(n.Terms))
	for i, t := range n.Terms {
		terms[i] = ir.Term{Atom: j.add(s, t.Atom, number), Coef: t.Coef}
	}
	n.Terms = terms
	for _, o := range []*ir.ID{&n.A, &n.B, &n.C}[:n.Arity()] {
		*o = j.add(s, *o, number)
	}
	j.nodes = append(j.nodes, n)
	number[id] = ir.ID(len(j.nodes) - 1)
	return number[id]
}

// Jumps reports whether log r jumps at hyperplane l.
func (j *LocalJumps) Jumps(l int) bool { return j.roots[l] >= 0 }

// Depends reports whether log r depends on the sign of hyperplane l at all. It may without a jump: in its slope.
func (j *LocalJumps) Depends(l int) bool { return j.used[l] }

// A Point is a point on a hyperplane, with the signs of the other hyperplanes there.
type Point interface {
	Latent(i int) float64
	Positive(l int) bool
}

// A LocalJump evaluates LocalJumps. It is for one goroutine, and allocates nothing after it is
// made, but for forward sums.
type LocalJump struct {
	*LocalJumps
	at   Point
	memo []float64
	seen []uint32 // memo[k] holds where seen[k] is run
	run  uint32
}

// Bind returns an evaluator of j.
func (j *LocalJumps) Bind() *LocalJump {
	j = j.simplified()
	return &LocalJump{LocalJumps: j, memo: make([]float64, len(j.nodes)), seen: make([]uint32, len(j.nodes))}
}

// At is the change of log r from the − to the + side of hyperplane l at a point of it.
func (x *LocalJump) At(l int, at Point) float64 {
	if v, constant := x.Constant(l); constant {
		return v
	}
	if x.run++; x.run == 0 { // the count has come round
		clear(x.seen)
		x.run = 1
	}
	x.at = at
	return x.value(ir.ID(x.roots[l]))
}

// Constant is the jump at hyperplane l, if it is the same at all points of it.
func (x *LocalJump) Constant(l int) (v float64, constant bool) {
	root := x.roots[l]
	if root < 0 {
		return 0, true
	}
	n := &x.nodes[root]
	return n.V, n.Kind == ir.Const
}

func (x *LocalJump) value(id ir.ID) (v float64) {
	if x.seen[id] == x.run {
		return x.memo[id]
	}
	switch n := &x.nodes[id]; n.Kind { // the frequent ones at once
	case ir.Sum:
		v = n.V
		for _, t := range n.Terms {
			v += t.Coef * x.value(t.Atom)
		}
	case ir.Latent:
		v = x.at.Latent(int(n.A))
	case ir.Unary:
		v = n.Fn.Value(x.value(n.A))
	case ir.Binary:
		v = n.Fn.Value2(x.value(n.A), x.value(n.B))
	case ir.Select:
		of := n.B
		if x.value(n.A) == 0 {
			of = n.C
		}
		v = x.value(of)
	case ir.Not:
		v = 1 - x.value(n.A)
	case ir.And:
		if v = x.value(n.A); v != 0 {
			v = x.value(n.B)
		}
	default:
		v = n.Compute((*localInputs)(x))
	}
	x.memo[id], x.seen[id] = v, x.run
	return v
}

// localInputs are what a LocalJump computes nodes from.
type localInputs LocalJump

func (x *localInputs) Latent(i int) float64    { return x.at.Latent(i) }
func (x *localInputs) Datum(int) float64       { panic("derive: an observation that is no number") }
func (x *localInputs) Positive(plane int) bool { return x.at.Positive(plane) }
func (x *localInputs) Value(id ir.ID) float64  { return (*LocalJump)(x).value(id) }
