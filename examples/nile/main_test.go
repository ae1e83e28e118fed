package main

import (
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "nile", Run: run, Slow: true,
		Want: []string{"The level shifted: one shift is e^21 times as probable as none", "With two shifts one came after 1898, with probability 0.7"},
	}.Test(t)
}
