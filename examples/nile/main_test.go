package main

import (
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "nile", Run: run, Steps: "400",
		Want:      []string{"The level shifted after 1898", "From 12 windows"},
		ShortWant: []string{"240 steps, but 12 of 12 fits have not settled", "From 12 windows"},
	}.Test(t)
}
