package ir

import "slices"

// A Kink says that two expressions are equal on a plane, as known when it was made.
type Kink struct {
	Plane int
	A, B  ID
}

// vanishing are nodes by plane; perhaps short.
type vanishing [][]ID

// On are those of plane l, in the order in which they were added.
func (z vanishing) On(l int) []ID {
	if l < len(z) {
		return z[l]
	}
	return nil
}

func (z *vanishing) Add(l int, id ID) {
	for l >= len(*z) {
		*z = append(*z, nil)
	}
	(*z)[l] = append(slices.Clip((*z)[l]), id)
}
