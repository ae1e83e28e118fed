package main

import (
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "tobit", Run: run, Steps: "3000",
		Want:      []string{"The limit is below 0.7, the smallest purchase, with probability 0.9", "the best of 4 fits"},
		ShortWant: []string{"has not settled in 20 steps", "the best of 4 fits"},
	}.Test(t)
}
