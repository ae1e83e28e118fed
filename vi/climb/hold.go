package climb

import (
	"slices"
)

// A fit that starts at given values of some latents holds these until the others
// have followed: until a window gains little (see unfinished) and none of the
// others travels any more (see travels), for a third of the steps at most. Otherwise a given latent would soon move to where it
// suits the values that the others happen to start with.

// mostHeld is the part of the steps, one in so many, for which latents are held at
// most.
const mostHeld = 3

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
