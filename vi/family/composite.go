package family

// A Mixed is a Q that is a mixture Σ π_k·q_k of Len parts.
type Mixed interface {
	Q
	Len() int
	// Weight is π_k, and Part q_k, which must not be changed.
	Weight(k int) float64
	Part(k int) Q
	// Defensive is what importance draws are from: the same, with heavier tails; and the part that each of its parts is of.
	// moments are the mean and the standard deviation of latent i under a part, on the program's scale.
	Defensive(moments func(part Q, i int) (mean, sd float64)) (draws Q, of []int)
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
