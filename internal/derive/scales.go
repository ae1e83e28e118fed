package derive

import (
	"cmp"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/lower"
)

// A Scale is a latent whose exponential s, which is what a positive latent is, log r has in products of powers of it and of numbers N, and real latents
// that move where s is multiplied by a number c, so that these stay what they are:
//
//	s·u          the noise u of latents that are not centred: u is divided by c
//	(y − u)/s    an observation with a latent of its own: u moves to y + c·(u − y)
//
// Each N is linear in a latent u that is in fewer N than all else in it, and nothing else in it moves. So u − û, the distance from where N is 0, is
// multiplied by a power of c, and û does not move. Where several N have u, as in a mixture, u moves by the one to whose û it is nearest.
type Scale struct {
	By    int
	Moved []Moved
}

// A Moved is a latent whose distance from where N is 0 is multiplied by c to the power.
type Moved struct {
	Latent int
	Power  float64
}

// Scales are those of a density, and the program of all distances u − û.
type Scales struct {
	List    []Scale
	Several bool // some latent has several
	prog    *lower.Program
	rows    [][][2]int // by scale and moved latent: the first, and the one after the last
}

// Bounds of the search.
const (
	mostScaled  = 1 << 22 // nodes that are visited once for each number N and scale
	mostNumbers = 4       // N of a scale for each latent: where there are more, as in a regression, few have a latent of their own
	mostSeveral = 16      // latents of a scale, where one has several N
)

// Scales finds them.
func (d Density) Scales() (*Scales, error) {
	type key struct{}
	return Cached(d, key{}, func() (*Scales, error) {
		s, w, visits := &Scales{}, newWalk(d.Nodes.Len()), 0
		var of [][]ir.ID // by scale and moved latent
		for i, list := range d.monomials() {
			if len(list) > mostNumbers*d.Dim {
				continue
			}
			uses := make([]used, len(list))
			for k, x := range list {
				uses[k] = d.used(&w, x.n)
				visits += uses[k].visits
			}
			if visits > mostScaled {
				break
			}
			x, covered, all := Scale{By: i}, 0, d.moved(&w, i, list, uses)
			for _, u := range all {
				x.Moved, covered = append(x.Moved, u.Moved), covered+len(u.of)
			}
			several := covered > len(all)
			if 2*covered < len(list) || covered == 0 || several && len(all) > mostSeveral { // what does not move, or by the wrong N, holds the scale where it is
				continue
			}
			s.Several = s.Several || several
			s.List = append(s.List, x)
			for _, u := range all {
				of = append(of, u.of)
			}
		}
		if len(of) == 0 {
			return s, nil
		}
		b := d.Builder()
		value := func(n ir.ID, j int, v float64) ir.ID {
			return ir.NewRewriter(b.Store, ir.Substitution{Latent: func(i int) (ir.ID, bool) { return b.Number(v), i == j }}).Rewrite(n)
		}
		var outs []ir.ID
		for _, x := range s.List {
			var rows [][2]int
			for _, u := range x.Moved {
				first := len(outs)
				for _, n := range of[0] {
					slope := b.Store.Sum(1, value(n, u.Latent, 1), -1, value(n, u.Latent, 0))
					outs = append(outs, b.Store.Div(n, slope))
				}
				rows = append(rows, [2]int{first, len(outs)})
				of = of[1:]
			}
			s.rows = append(s.rows, rows)
		}
		var err error
		s.prog, err = b.Compile(outs)
		return s, err
	})
}

// A monomial is sᵖ·nᵏ for the exponential s of a latent; power is −p/k.
type monomial struct {
	n     ir.ID
	power float64
}

// monomials lists them by latent, each n once.
func (d Density) monomials() [][]monomial {
	ids := make([]ir.ID, len(d.List))
	for k, t := range d.List {
		ids[k] = t.ID
	}
	all, known, f := make([][]monomial, d.Dim), map[[2]int]bool{}, factors{}
	for k, needed := range ir.Needed(d.Nodes, ids) {
		if n := d.Nodes.Like(ir.ID(k)); !needed || n.Kind != ir.Binary || n.Fn != kernel.Mul && n.Fn != kernel.Div {
			continue
		}
		f = factors{f.positive[:0], f.real[:0], f.sums[:0]}
		if f.of(d.Nodes, ir.ID(k), 1); len(f.real) != 1 && (len(f.real) > 0 || len(f.sums) != 1) {
			continue
		}
		n := append(f.real, f.sums...)[0]
		for _, s := range f.positive {
			if of := [2]int{int(n.id), int(s.id)}; !known[of] && len(all[s.id]) <= mostNumbers*d.Dim {
				known[of] = true
				all[s.id] = append(all[s.id], monomial{n.id, -s.power / n.power})
			}
		}
	}
	return all
}

// factors of a node: exponentials of latents by their numbers, latents and sums as nodes.
type factors struct{ positive, real, sums []factor }

type factor struct {
	id    ir.ID
	power float64
}

// of adds the factors of a product to a power, and those of quotients, squares and roots in it.
func (f *factors) of(nodes *ir.Nodes, id ir.ID, power float64) {
	switch n := nodes.At(id); {
	case n.Kind == ir.Binary && n.Fn == kernel.Mul:
		f.of(nodes, n.A, power)
		f.of(nodes, n.B, power)
	case n.Kind == ir.Binary && n.Fn == kernel.Div:
		f.of(nodes, n.A, power)
		f.of(nodes, n.B, -power)
	case n.Kind == ir.Unary && n.Fn == kernel.Square:
		f.of(nodes, n.A, 2*power)
	case n.Kind == ir.Unary && n.Fn == kernel.Sqrt:
		f.of(nodes, n.A, power/2)
	case n.Kind == ir.Binary && n.Fn == kernel.Pow && nodes.At(n.B).Kind == ir.Const:
		f.of(nodes, n.A, power*nodes.At(n.B).V)
	case n.Kind == ir.Unary && n.Fn == kernel.Recip:
		f.of(nodes, n.A, -power)
	case n.Kind == ir.Unary && n.Fn == kernel.Exp:
		x := nodes.At(n.A)
		if x.Kind != ir.Sum {
			x.Terms = []ir.Term{{Atom: n.A, Coef: 1}}
		}
		for _, t := range x.Terms {
			if l := nodes.At(t.Atom); l.Kind == ir.Latent {
				f.positive = append(f.positive, factor{ir.ID(l.A), power * t.Coef})
			}
		}
	case n.Kind == ir.Latent:
		f.real = append(f.real, factor{id, power})
	case n.Kind == ir.Sum:
		f.sums = append(f.sums, factor{id, power})
	}
}

// used are the latents and planes that a node depends on.
type used struct {
	latents, planes []int
	visits          int
}

func (d Density) used(w *walk, id ir.ID) (u used) {
	w.from(id, func(id ir.ID) {
		u.visits++
		switch n := d.Nodes.Like(id); n.Kind {
		case ir.Latent:
			u.latents = append(u.latents, int(d.Nodes.Head(id).A))
		case ir.Sign:
			u.planes = append(u.planes, int(d.Nodes.Head(id).A))
		default:
			w.stack = d.Nodes.AppendOperands(w.stack, id)
		}
	})
	return u
}

// A mover is a latent that moves, by the distance from where one of some N is 0.
type mover struct {
	Moved
	of []ir.ID
}

// moved are the latents that move with scale i.
func (d Density) moved(w *walk, i int, list []monomial, uses []used) (all []mover) {
	count := map[int]int{}
	for _, u := range uses {
		for _, j := range u.latents {
			count[j]++
		}
	}
	own, moves := make([]int, len(list)), map[int]bool{i: true}
	for k, u := range uses {
		if own[k] = -1; slices.Contains(u.latents, i) || len(u.latents) == 0 {
			continue
		}
		j := slices.MinFunc(u.latents, func(a, b int) int { return cmp.Compare(count[a], count[b]) })
		tie := slices.ContainsFunc(u.latents, func(a int) bool { return a != j && count[a] == count[j] })
		if (count[j] == 1 || !tie) && d.linear(w, list[k].n, j) {
			own[k], moves[j] = j, true
		}
	}
	at := map[int]int{} // in all
	for k, x := range list {
		others := slices.ContainsFunc(uses[k].latents, func(j int) bool { return j != own[k] && moves[j] })
		crosses := slices.ContainsFunc(uses[k].planes, func(l int) bool {
			return slices.ContainsFunc(d.Arr.Latents(l), func(j int) bool { return moves[j] })
		})
		if own[k] < 0 || others || crosses {
			continue
		}
		n, known := at[own[k]]
		switch {
		case !known:
			at[own[k]] = len(all)
			all = append(all, mover{Moved{own[k], x.power}, []ir.ID{x.n}})
		case all[n].Power == x.power:
			all[n].of = append(all[n].of, x.n)
		}
	}
	return all
}

// linear reports whether a node that depends on latent j is a multiple of it and what does not depend on it.
func (d Density) linear(w *walk, id ir.ID, j int) bool {
	depends := func(id ir.ID) bool { return slices.Contains(d.used(w, id).latents, j) }
	switch n := d.Nodes.At(id); {
	case n.Kind == ir.Latent:
		return true
	case n.Kind == ir.Sum:
		var on []ir.ID
		for _, t := range n.Terms {
			if depends(t.Atom) {
				on = append(on, t.Atom)
			}
		}
		return len(on) == 1 && d.linear(w, on[0], j)
	case n.Kind == ir.Binary && (n.Fn == kernel.Mul || n.Fn == kernel.Div):
		onA, onB := depends(n.A), depends(n.B)
		return onA && !onB && d.linear(w, n.A, j) || onB && !onA && n.Fn == kernel.Mul && d.linear(w, n.B, j)
	}
	return false
}

// A Distances computes the distances of points, scales × moved latents × n.
type Distances struct {
	X *lower.Executor // whose Z and Signs are those of the points, and whose Out is the distances
	s *Scales
}

// Bind returns what computes the distances of n points for the data of d.
func (s *Scales) Bind(d Density, n int) (*Distances, error) {
	x, err := d.Executor(s.prog, n, lower.Compute{Out: true})
	return &Distances{x, s}, err
}

// Of is the distance of moved latent k of a scale at point c, and which of several it is.
func (x *Distances) Of(out []float64, scale, k, c int) (distance float64, which int) {
	rows := x.s.rows[scale][k]
	for r := rows[0]; r < rows[1]; r++ {
		if d := out[r*x.X.N+c]; r == rows[0] || math.Abs(d) < math.Abs(distance) {
			distance, which = d, r
		}
	}
	return distance, which
}
