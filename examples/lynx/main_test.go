package main

import (
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "lynx", Run: run, Steps: "1000",
		Want:      []string{"The threshold is 3.22", "From 12 windows"},
		ShortWant: []string{"240 steps, but 12 of 12 fits have not settled", "From 12 windows"},
	}.Test(t)
}
