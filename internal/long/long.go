// Package long is for tests that take long, so that all others end in minutes:
//
//	go test -vet=off ./...            what a change needs first: 2 to 4 minutes on two processors
//	go test <package> -long           everything that .ci/run runs
//	go test <package> -exhaustive     every case there is, for which .ci/run has no time: hours
//
// Only tests import it. A package's tests have these flags if one of them does, and .ci/run
// runs those packages with -long.
package long

import (
	"flag"
	"testing"
)

var (
	long       = flag.Bool("long", false, "run the tests that take long, too")
	exhaustive = flag.Bool("exhaustive", false, "run every case of every test: hours")
)

// On reports whether -long or -exhaustive is given.
func On() bool { return *long || *exhaustive }

// Exhaustive reports whether -exhaustive is given.
func Exhaustive() bool { return *exhaustive }

// Skip skips a test that takes long, unless On.
func Skip(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("takes long: run with -long")
	}
}

// Or is few, or many if On: how many cases a test takes, or which.
func Or[T any](few, many T) T {
	if On() {
		return many
	}
	return few
}
