package climb

import (
	"fmt"
	"slices"

	"github.com/facetvi/facet/vi/family"
)

// A fit that starts at given values of some latents holds these until the others
// have followed: until a window gains little (see unfinished) and none of the
// others travels any more (see travels), for a third of the steps at most. Otherwise a given latent would soon move to where it
// suits the values that the others happen to start with.

// mostHeld is the part of the steps, one in so many, for which latents are held at
// most.
const mostHeld = 3

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

// hold takes the steps of held latents back.
func (f *fitter) hold() {
	if f.Held == nil {
		return
	}
	for k := range f.move {
		if f.isHeld(k) {
			f.move[k] = 0
		}
	}
}

// isHeld reports whether parameter k is one of a held latent's own: its mean, its
// scale, or a correlation with another.
func (f *fitter) isHeld(k int) bool {
	return slices.ContainsFunc(f.Held, f.q.Param(k).Of)
}

// release lets the held latents go. Their gradients were those of another place:
// the optimiser starts afresh for them.
func (f *fitter) release() {
	if f.Held == nil {
		return
	}
	for k := range f.move {
		if f.isHeld(k) {
			f.Adam.forget(k)
		}
	}
	f.Held = nil
}
