package climb

import (
	"fmt"
	"slices"

	"github.com/facetvi/facet/vi/family"
)

// A holder is a start with latents to be held.
type holder interface {
	Hold(latents []int)
	Held() []int
}

// HeldBy are the latents that a start holds; nil if it has none, or leaves none to
// follow.
func HeldBy(q family.Q) []int {
	if h, ok := q.(holder); ok && len(h.Held()) < q.Dim() {
		return slices.Clone(h.Held())
	}
	return nil
}

// Hold makes a start hold latents, if its family can. It is an error if it has no such latents.
func Hold(q family.Q, latents []int) error {
	if err := checkHeld(latents, q.Dim()); err != nil {
		return err
	}
	if h, ok := q.(holder); ok {
		h.Hold(latents)
	}
	return nil
}

// checkHeld reports held latents that there are not.
func checkHeld(held []int, dim int) error {
	if slices.ContainsFunc(held, func(i int) bool { return i < 0 || i >= dim }) {
		return fmt.Errorf("it holds latents %v of %d", held, dim)
	}
	return nil
}
