package graph

// LocalJumps compute the jump of log r at one point of one hyperplane, from those parts of log r alone
// that depend on its sign. So a path that crosses many hyperplanes one by one pays at
// each for these parts only. They are immutable, the same for all data of the model, and safe for
// concurrent use; package boundary has the jumps of batches of points at all hyperplanes.
type LocalJumps struct {
	nodes []node  // operands before what uses them, by numbers of their own
	roots []int32 // by hyperplane: the number of its jump, −1 where log r does not jump
	used  []bool  // by hyperplane: log r depends on its sign
}

// LocalJumps returns the jumps of d.
func (d *Density) LocalJumps() (*LocalJumps, error) {
	type key struct{}
	v, err := d.Cached(key{}, func() (any, error) {
		b, j := NewBuilder(d), &LocalJumps{}
		number := map[nodeID]nodeID{}
		for l := range d.arr.Len() {
			j.used = append(j.used, len(b.affect[l]) > 0)
			o := b.localJump(l)
			if o.c == 0 && len(o.terms) == 0 {
				j.roots = append(j.roots, -1)
				continue
			}
			j.roots = append(j.roots, int32(j.add(d.st, d.st.affineSum(o.c, o.terms), number)))
		}
		return j, b.tooMany()
	})
	if err != nil {
		return nil, err
	}
	return v.(*LocalJumps), nil
}

// localJump is the jump at hyperplane l, as a sum.
func (b *Builder) localJump(l int) output {
	st := b.d.st
	return st.linearise(st.factor(st.total(0, []term{{b.Jump(l, Substitution{}).in(b.d.m), 1}})))
}

// JumpsBeside reports whether log r jumps at any hyperplane that is not in known. Where it does, LocalJumps may take long.
func (d *Density) JumpsBeside(known map[int]bool) (bool, error) {
	b := NewBuilder(d)
	for l := range d.arr.Len() {
		if known[l] || len(b.affect[l]) == 0 {
			continue
		}
		if o := b.localJump(l); o.c != 0 || len(o.terms) > 0 {
			return true, b.tooMany()
		}
	}
	return false, b.tooMany()
}

// add adds a node of s with its operands, and returns its number.
func (j *LocalJumps) add(s *store, id nodeID, number map[nodeID]nodeID) nodeID {
	if at, ok := number[id]; ok {
		return at
	}
	n := s.at(id)
	terms := make([]term, len(n.terms))
	for i, t := range n.terms {
		terms[i] = term{j.add(s, t.atom, number), t.coef}
	}
	n.terms = terms
	for _, o := range []*nodeID{&n.a, &n.b, &n.c}[:n.arity()] {
		*o = j.add(s, *o, number)
	}
	j.nodes = append(j.nodes, n)
	number[id] = nodeID(len(j.nodes) - 1)
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
	data []float64
	at   Point
	memo []float64
	seen []uint32 // memo[k] holds where seen[k] is run
	run  uint32
}

// Bind returns an evaluator of j for the data of d, a density of the same model.
func (j *LocalJumps) Bind(d *Density) *LocalJump {
	return &LocalJump{LocalJumps: j, data: d.data, memo: make([]float64, len(j.nodes)), seen: make([]uint32, len(j.nodes))}
}

// At is the change of log r from the − to the + side of hyperplane l at a point of it.
func (x *LocalJump) At(l int, at Point) float64 {
	if x.roots[l] < 0 {
		return 0
	}
	if x.run++; x.run == 0 { // the count has come round
		clear(x.seen)
		x.run = 1
	}
	x.at = at
	return x.value(nodeID(x.roots[l]))
}

func (x *LocalJump) value(id nodeID) float64 {
	if x.seen[id] == x.run {
		return x.memo[id]
	}
	v := x.nodes[id].compute(x)
	x.memo[id], x.seen[id] = v, x.run
	return v
}

func (x *LocalJump) latent(i int) float64    { return x.at.Latent(i) }
func (x *LocalJump) datum(i int) float64     { return x.data[i] }
func (x *LocalJump) positive(plane int) bool { return x.at.Positive(plane) }
