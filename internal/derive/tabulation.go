package derive

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lower"
)

// A Tabulation is log r as a sum of factors over the intervals that switches are in, which are
// the values of as many variables, given the other latents and signs.
type Tabulation struct {
	Factors []elimination.Factor
	first   []int // rows of the program; the first one has the terms that are in no factor
	prog    *lower.Program
	linear  *linear // or nil
}

// Tabulate returns the tabulation of switches, which is the same for all data of the model. It
// takes long where many terms depend on many planes, and ends with ctx.
func (d Density) Tabulate(ctx context.Context, switches []SwitchLatent) (*Tabulation, error) {
	var key struct{ latents string }
	for _, w := range switches {
		key.latents += fmt.Sprint(w.Latent, " ")
	}
	return Cached(d, key, func() (*Tabulation, error) { return d.Builder().tabulate(ctx, d.Nodes, switches, d.Data) })
}

// tabulate returns the tabulation of switches.
func (b *Builder) tabulate(ctx context.Context, nodes *ir.Nodes, switches []SwitchLatent, data []float64) (*Tabulation, error) {
	t := tabulator{b: b, switches: switches, places: placesOf(switches), first: []int{1}, of: map[string]int{}}
	rest := t.share(nodes)
	outs := []ir.ID{b.Store.Sum(1, b.sum(rest, ir.NewRewriter(b.Store, ir.Substitution{})), b.of.C, b.Number(1))}
	for k := range t.factors {
		rows, err := t.rows(ctx, k)
		if err != nil {
			return nil, err
		}
		outs = append(outs, rows...)
	}
	prog, err := b.Compile(outs)
	if err != nil {
		return nil, err
	}
	all := &Tabulation{Factors: t.factors, first: t.first, prog: prog}
	all.linear, err = b.linear(all, outs[0], data)
	return all, err
}

// A tabulator shares the terms of log r among factors, and writes their rows.
type tabulator struct {
	b        *Builder
	switches []SwitchLatent
	places   places
	factors  []elimination.Factor
	parts    [][]part       // by factor
	first    []int          // see Tabulation
	of       map[string]int // the factor, by how it prints
}

// share shares the terms, and returns those that depend on no switch.
func (t *tabulator) share(nodes *ir.Nodes) (rest []int) {
	planes := make([][]int, len(t.b.terms)) // of the switches, by term
	for l, terms := range t.b.affect {
		if len(t.places[l]) > 0 {
			for _, k := range terms {
				planes[k] = append(planes[k], l)
			}
		}
	}
	branches := newBrancher(nodes, func(l int) (list []int) {
		for _, x := range t.places[l] {
			list = append(list, x.of)
		}
		return list
	})
	for k, x := range t.b.terms {
		if planes[k] == nil {
			rest = append(rest, k)
			continue
		}
		all := branches.of(x.Atom)
		if len(all) == 1 {
			t.add(part{k, nil}, planes[k])
			continue
		}
		for _, x := range all {
			t.add(part{k, x.when}, slices.DeleteFunc(x.planes, func(l int) bool { return len(t.places[l]) == 0 }))
		}
	}
	return rest
}

// add adds a part that depends on planes to its factor.
func (t *tabulator) add(x part, planes []int) {
	f := t.places.factor(planes)
	id := fmt.Sprint(f)
	at, ok := t.of[id]
	if !ok {
		at = len(t.parts)
		t.of[id] = at
		t.factors, t.parts, t.first = append(t.factors, f), append(t.parts, nil), append(t.first, t.first[at]+f.Rows())
	}
	t.parts[at] = append(t.parts[at], x)
}

// rows are the sums of a factor's parts, by the classes of its variables, of which the factor notes those that are the same.
func (t *tabulator) rows(ctx context.Context, k int) (outs []ir.ID, err error) {
	f := &t.factors[k]
	class := make([]int, len(f.Vars)) // of each variable, in the row
	signs := ir.Substitution{Sign: func(l int) (formula ir.ID, ok bool) {
		for _, x := range t.places[l] {
			if j, ok := slices.BinarySearch(f.Vars, x.of); ok {
				above, _ := slices.BinarySearch(f.Cuts[j], x.at+1)
				return t.b.Always(class[j] > above != t.switches[x.of].Down), true
			}
		}
		return formula, false
	}}
	first := map[ir.ID]int{}
	for row := range f.Rows() {
		if err := cmp.Or(ctx.Err(), t.b.tooMany()); err != nil {
			return nil, err
		}
		id := t.b.sumOf(t.parts[k], signs)
		if _, known := first[id]; !known {
			first[id] = row
		}
		f.First = append(f.First, first[id])
		outs = append(outs, id)
		nextRow(class, *f)
	}
	return outs, nil
}

// A part is a branch of the term with a number.
type part struct {
	term int
	when []condition
}

// sumOf is the sum of parts, with sub made in them.
func (b *Builder) sumOf(parts []part, sub ir.Substitution) ir.ID {
	plain, sum := ir.NewRewriter(b.Store, sub), make([]ir.Term, len(parts))
	for i, p := range parts {
		w := plain
		if len(p.when) > 0 {
			w = ir.NewRewriter(b.Store, sub)
			for _, c := range p.when {
				w.Done[c.formula] = b.Always(c.holds)
			}
		}
		x := w.Rewrite(b.terms[p.term].Atom)
		for _, c := range p.when {
			then, otherwise := x, b.Number(0)
			if !c.holds {
				then, otherwise = otherwise, then
			}
			x = b.Store.Sel(plain.Rewrite(c.formula), then, otherwise)
		}
		sum[i] = ir.Term{Atom: x, Coef: b.terms[p.term].Coef}
	}
	return b.total(sum)
}

// nextRow makes class that of the next row of f's table.
func nextRow(class []int, f elimination.Factor) {
	for j := len(class) - 1; j >= 0; j-- {
		if class[j]++; class[j] <= len(f.Cuts[j]) {
			return
		}
		class[j] = 0
	}
}

// Rows is the number of rows of all factors, those that are known to be the same once.
func (t *Tabulation) Rows() (n int) {
	for _, f := range t.Factors {
		for row, first := range f.First {
			if first == row {
				n++
			}
		}
	}
	return n
}

// A Table computes a tabulation at points.
type Table struct {
	X    *lower.Executor // whose Z and Signs are those of the points
	t    *Tabulation
	sums *tableSums // or nil
}

// Bind returns a table of n points for the data of d.
func (t *Tabulation) Bind(d Density, n int) (*Table, error) {
	x, err := d.Executor(t.prog, n, lower.Compute{Out: true})
	if err != nil || t.linear == nil || !t.linear.of(d.Data) {
		return &Table{x, t, nil}, err
	}
	sums, err := t.linear.bind(d, n)
	return &Table{x, t, sums}, err
}

// Rest is the sum of the terms that depend on no switch.
func (x *Table) Rest() []float64 { return x.X.Out[:x.X.N] }

// Factor is factor k, its rows × N.
func (x *Table) Factor(k int) []float64 { return x.X.Out[x.t.first[k]*x.X.N : x.t.first[k+1]*x.X.N] }
