// Package saved writes the parts of fits to files, and reads them: families, which may be a program's own, their members, and what
// a file remembers of its model. A [Journal] is a file of many fits with their keys.
//
//	q, density ─▶ Q, Model ─▶ JSON in a file (package sealed), or bytes in a journal (package packed)
//
// What a fit has found, and by which settings, is of package vi.
package saved
