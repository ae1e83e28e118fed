package vec

// A StepRow is 1 where C + A·row Row is positive, else 0.
type StepRow struct {
	A, C float64
	Row  int
}
