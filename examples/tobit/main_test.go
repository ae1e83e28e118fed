package main

import (
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "tobit", Run: run, Slow: true,
		Want: []string{"Verdict: ", "The limit is below 0.7, the smallest purchase, with probability 0.9"},
	}.Test(t)
}
