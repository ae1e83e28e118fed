package derive

import "github.com/facetvi/facet/internal/ir"

// logTerms are the terms of log r in the store of a model, of which programs are made.
type logTerms struct {
	Store  *ir.Store
	own    ir.ID // the nodes of the program are below it
	planes ir.Algebra
	terms  []ir.Term
}

// smooth reports of selects whether they are continuous on plane l.
func (b *logTerms) smooth(l int) func(ir.Node) bool {
	answers := map[[3]ir.ID]bool{}
	return func(n ir.Node) bool {
		return ir.Remembered(answers, [3]ir.ID{n.A, n.B, n.C}, func() bool { return b.planes.Smooth(n, l) })
	}
}

// sum is the sum of the terms with the given numbers, rewritten.
func (b *logTerms) sum(terms []int, w *ir.Rewriter) ir.ID {
	sum := make([]ir.Term, len(terms))
	for i, t := range terms {
		sum[i] = ir.Term{Atom: w.Rewrite(b.terms[t].Atom), Coef: b.terms[t].Coef}
	}
	return b.total(sum)
}

// total is a sum as a node.
func (b *logTerms) total(sum []ir.Term) ir.ID {
	o := b.Store.Total(0, sum)
	return b.Store.AffineSum(o.C, o.Terms)
}

// row is id as an output.
func (b *logTerms) row(id ir.ID) ir.Output {
	return b.Store.Linearise(b.Store.Factor(b.Store.Total(0, []ir.Term{{Atom: id, Coef: 1}})))
}
