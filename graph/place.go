package graph

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
)

// A place is where in the user's program a part of a model was written. It is
// resolved to file and line when an error needs it.
type place [12]uintptr

var packagePath = reflect.TypeFor[Model]().PkgPath()

// Packages whose calls are no place of the user's either: those below, and expect, whose Of is written in the place of CompileObjective.
var otherPaths = []string{
	reflect.TypeFor[ir.Store]().PkgPath(),
	reflect.TypeFor[compare.Maker]().PkgPath(),
	reflect.TypeFor[Expr]().PkgPath(),
	path.Dir(packagePath) + "/expect",
}

// here is the place of the nearest caller outside this package and expect (tests of this
// package count as outside), or that in the body of the plate which is written out.
func (m *Model) here() *place { return m.above(3) }

// above is here without the first so many calls, of the runtime, of this package and of compare: a place holds a few.
func (m *Model) above(calls int) *place {
	if m.writing != nil {
		return m.writing.at
	}
	var p place
	runtime.Callers(calls, p[:])
	known, seen := m.places[p]
	if !seen {
		if p[len(p)-1] == 0 || p.caller().PC != 0 {
			known = &p
		}
		m.places[p] = known
	}
	if known == nil { // recursion, as down the values of a discrete latent, hides the caller
		return m.deepPlace()
	}
	return known
}

// deepPlace is here for a stack of many calls in this package and those below.
func (m *Model) deepPlace() *place {
	stack := make([]uintptr, 1000)
	n := runtime.Callers(3, stack)
	for n == len(stack) {
		stack = make([]uintptr, 4*n)
		n = runtime.Callers(3, stack)
	}
	p := place{callerIn(stack[:n]).PC + 1} // as return addresses are
	known := m.places[p]
	if known == nil {
		known = &p
		m.places[p] = known
	}
	return known
}

func (p *place) String() string {
	if p == nil {
		return "unknown place"
	}
	if f := p.caller(); f.File != "" {
		return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
	}
	return "unknown place"
}

// caller is the nearest frame outside this package, 0 if there is none.
func (p *place) caller() runtime.Frame {
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	return callerIn(p[:n])
}

func callerIn(stack []uintptr) runtime.Frame {
	if len(stack) == 0 {
		return runtime.Frame{}
	}
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		in := func(path string) bool { return strings.HasPrefix(f.Function, path+".") }
		ours := in(packagePath) && !strings.HasSuffix(f.File, "_test.go") || slices.ContainsFunc(otherPaths, in)
		if f.File != "" && !ours {
			return f
		}
		if !more {
			return runtime.Frame{}
		}
	}
}
