package graph

import (
	"slices"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
)

// A Centring is a density in other coordinates of some latents: in those of w_c = z_c + X_c, where X_c is what all terms that use latent c add to
// it, beside its own prior (hierarchical centring: Gelfand, Sahu and Carlin, Biometrika 1995). In a program with
//
//	y_k ~ Poisson(exp(a + u_c + If(x_c > threshold, jump, 0))),    u_c ~ Normal(0, τ)
//
// w_c is the whole sum. The data then know nothing of the threshold but by w, and the threshold and the jump move without the data's jumping.
type Centring struct {
	// Density is that of w. The laws of its latents' priors, by which it draws and has residuals, are still those of z, its terms are not.
	Density *Density
	Latents []int // that are centred
	shift   *Program
}

// Centre returns d centred where an X depends on a switch that SumOut sums out. It is nil, without an error, where none does.
func (d *Density) Centre() (*Centring, error) {
	x, err := remembered(d, d.centre)
	if err != nil || x.compiled == nil {
		return nil, err
	}
	return &Centring{&Density{compiled: x.compiled, data: d.data, params: d.params, loose: d.loose}, x.latents, x.shift}, nil
}

// A centred is what Centre makes.
type centred struct {
	compiled *compiled
	latents  []int
	shift    *Program
}

func (d *Density) centre() (x centred, err error) {
	var switches []derive.SwitchLatent
	for _, g := range d.summable() {
		switches = append(switches, g.switches...)
	}
	if len(switches) == 0 {
		return x, nil
	}
	latents, added := d.added(switches)
	if len(latents) == 0 {
		return x, nil
	}
	d.st.Mu.Lock()
	m := d.m.snapshot()
	d.st.Mu.Unlock()
	var outs []ir.ID
	centre := map[int]ir.ID{}
	for k, i := range latents {
		sum := m.st.Total(0, added[k])
		outs = append(outs, m.st.AffineSum(0, sum.Terms))
		centre[i] = m.st.Sum(1, m.st.Leaf(ir.Latent, i), -1, outs[k])
	}
	to := ir.NewRewriter(m.st, ir.Substitution{Latent: func(i int) (ir.ID, bool) { x, ok := centre[i]; return x, ok }})
	m.terms = slices.Clone(m.terms)
	for t := range m.terms {
		m.terms[t].id = to.Rewrite(m.terms[t].id)
	}
	c := &compiled{m: m, from: d.from, arr: d.arr, names: d.names, index: d.index, terms: m.terms, fingerprint: d.fingerprint, centred: map[int][]int{}}
	if err := c.compile(nil); err != nil {
		return x, err
	}
	w := &Density{compiled: c, data: d.data}
	list := w.Engine().List
	w.Engine().Each(func(t int, of, _ []int) {
		if i := list[t].Of; slices.Contains(latents, i) {
			c.centred[i] = slices.DeleteFunc(slices.Sorted(slices.Values(of)), func(j int) bool { return j == i })
		}
	})
	shift, err := w.Engine().Builder().Compile(outs)
	return centred{c, latents, shift}, err
}

// leastUses is how many terms beside its prior use a latent that is centred: of few the prior knows more than they do, and its own coordinate is better.
const leastUses = 2

// added are the latents that can be centred, and what is added to each.
func (d *Density) added(switches []derive.SwitchLatent) (latents []int, added [][]ir.Term) {
	is, few := d.addends()
	if !few {
		return nil, nil
	}
	planes := make([]bool, d.arr.Len())
	for _, w := range switches {
		for _, l := range w.Planes {
			planes[l] = true
		}
	}
	var data []ir.ID
	for _, t := range d.m.terms {
		if !t.prior {
			data = append(data, t.id)
		}
	}
	u := ir.NewUsers(&d.nodes, data)
	common := make([][]ir.Term, len(is))
	steps := d.dependences(nil, planes)
	for i := range is {
		if is[i] {
			common[i] = u.Common(d.st.Leaf(ir.Latent, i))
			is[i] = slices.ContainsFunc(common[i], func(t ir.Term) bool { return steps(t.Atom) == onSwitches })
		}
	}
	on, taken := d.dependences(is, planes), map[ir.ID]bool{}
	for i, x := range common {
		id := d.st.Leaf(ir.Latent, i)
		if !is[i] || u.Together(id, taken) {
			continue
		}
		x = slices.DeleteFunc(x, func(t ir.Term) bool { return on(t.Atom) == onOthers })
		if slices.ContainsFunc(x, func(t ir.Term) bool { return on(t.Atom) == onSwitches }) {
			taken[id] = true
			latents, added = append(latents, i), append(added, x)
		}
	}
	return latents, added
}

// addends reports of the latents whether they are real numbers, of which no guard and no other prior depends, that several terms use. few is false where
// finding that takes long.
func (d *Density) addends() (is []bool, few bool) {
	is, uses := make([]bool, d.Dim()), make([]int, d.Dim())
	few = d.Engine().Each(func(t int, latents, _ []int) {
		for _, i := range latents {
			if !d.m.terms[t].prior {
				uses[i]++
			}
		}
	})
	for i, l := range d.m.latents[d.m.params:] {
		i += d.m.params
		is[i] = uses[i] >= leastUses && l.discrete == nil && l.prior.HasResidual() && !l.prior.Transformed()
	}
	out := func(latents []int) {
		for _, i := range latents {
			is[i] = false
		}
	}
	for l := range d.arr.Len() {
		out(d.arr.Latents(l))
	}
	for _, of := range d.Parents() {
		out(of)
	}
	return is, few
}

// A dependence is what a node depends on.
type dependence uint8

const (
	onLatents  dependence = iota // that keep their coordinates
	onSwitches                   // and on planes of switches
	onOthers
)

// dependences returns what tells that of nodes, of which the latents of is may not be a part, nor planes but those of switches.
func (d *Density) dependences(is, planes []bool) func(id ir.ID) dependence {
	known := map[ir.ID]dependence{}
	var of func(id ir.ID) dependence
	of = func(id ir.ID) dependence {
		return ir.Remembered(known, id, func() (on dependence) {
			switch n := d.nodes.At(id); {
			case n.Kind == ir.Latent && is != nil && is[n.A], n.Kind == ir.Sign && !planes[n.A]:
				return onOthers
			case n.Kind == ir.Sign:
				return onSwitches
			default:
				n.Operands(func(o ir.ID) { on = max(on, of(o)) })
				return on
			}
		})
	}
	return of
}

// Shift returns what adds sign·X to the centred latents of points: from z to w with the sign 1, and back with −1. It is for one goroutine.
func (c *Centring) Shift(sign float64) (func(points [][]float64), error) {
	const batch = 64
	x, err := c.Density.Engine().Executor(c.shift, batch, Compute{Out: true})
	if err != nil {
		return nil, err
	}
	return func(points [][]float64) {
		for len(points) > 0 {
			n := min(batch, len(points))
			for i := range c.Density.Dim() {
				for k := range batch {
					x.Z[i*batch+k] = points[min(k, n-1)][i]
				}
			}
			c.Density.arr.SignBatch(x.Signs, x.Z, batch)
			_ = x.Run() // which has no errors of a plan
			for j, i := range c.Latents {
				for k, z := range points[:n] {
					z[i] += sign * x.Out[j*batch+k]
				}
			}
			points = points[n:]
		}
	}, nil
}
