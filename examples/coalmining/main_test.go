package main

import (
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "coalmining", Run: run, Steps: "1000",
		Want:      []string{"Around 1890 disasters fell to 30 %", "1000 steps", "would have been biased here: z = 1", "from 1897 on"},
		ShortWant: []string{"20 steps", "would have been biased here: z = 1", "from 1897 on"},
	}.Test(t)
}
