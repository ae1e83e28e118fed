package main

import (
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "coalmining", Run: run,
		Want: []string{"Verdict: trust", "\nchange in (1891, 1892)   0.24", "Around 1890 disasters fell to 30 %", "from 1897 on"},
	}.Test(t)
}
