package graph

// Numbers are values, expressions or numbers, as expressions: the rows of a matrix of some.
func Numbers[V Value](xs ...V) []Expr {
	out := make([]Expr, len(xs))
	for i, x := range xs {
		out[i] = lift(x)
	}
	return out
}
