package graph

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// A place is where in the user's program a part of a model was written. It is
// resolved to file and line when an error needs it.
type place [12]uintptr

var packagePath = reflect.TypeFor[Model]().PkgPath()

// here is the place of the nearest caller outside this package (tests of this
// package count as outside), or that in the body of the plate which is written out.
func (m *Model) here() *place {
	if m.writing != nil {
		return m.writing.at
	}
	var p place
	runtime.Callers(2, p[:])
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
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	if n == 0 {
		return "unknown place"
	}
	frames := runtime.CallersFrames(p[:n])
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, packagePath+".") && !strings.HasSuffix(f.File, "_test.go")
		if f.File != "" && !inside {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "unknown place"
		}
	}
}
