package main

import (
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "lynx", Run: run, Slow: true,
		Want: []string{"The threshold is 3.2", "times as probable as one"},
	}.Test(t)
}
