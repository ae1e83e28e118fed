// Package long is for tests that take long, so that all others end in minutes:
//
//	go test -vet=off ./...                     what a change needs first: 2 to 3 minutes on two processors
//	go test -tags long ./...                   everything that .ci/run runs
//	go test -tags long <package> -exhaustive   every case there is, for which .ci/run has no time: hours
//
// Only tests import it. A package's tests have the flag -exhaustive if one of them does. A file of which all tests take long has the
// tag itself, so that it is not compiled without; so have those of tools and studies that no other program imports.
package long

import (
	"flag"
	"testing"
)

var exhaustive = flag.Bool("exhaustive", false, "run every case of every test: hours")

// On reports whether -tags long or -exhaustive is given.
func On() bool { return tagged || *exhaustive }

// Exhaustive reports whether -exhaustive is given.
func Exhaustive() bool { return *exhaustive }

// Skip skips a test that takes long, unless On.
func Skip(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("takes long: run with -tags long")
	}
}

// Few is few, or many if Exhaustive: how many seeds or draws show again what few of them show.
func Few[T any](few, many T) T {
	if Exhaustive() {
		return many
	}
	return few
}

// Brief is a benchmark's brief case with -short, by which .ci/run asks whether each still runs, or else the whole.
func Brief[T any](brief, whole T) T {
	if testing.Short() {
		return brief
	}
	return whole
}

// Or is few, or many if On: how many cases a test takes, or which.
func Or[T any](few, many T) T {
	if On() {
		return many
	}
	return few
}
