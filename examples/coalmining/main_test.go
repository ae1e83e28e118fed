package main

import (
	"path/filepath"
	"testing"

	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestProgram(t *testing.T) {
	clitest.Program{
		Name: "coalmining", Run: run,
		Want: []string{"Verdict: trust", "\nchange in (1891, 1892)   0.24", "Around 1890 disasters fell to 30 %", "from 1897 on"},
	}.Test(t)
}

func TestCalibration(t *testing.T) {
	if testing.Short() {
		t.Skip("six fits are too slow under the race detector, for which short mode is")
	}
	file := filepath.Join(t.TempDir(), "c.png")
	clitest.Answers(t, run, []string{"-calibrate", "6", "-plot", file}, "6 fits are calibrated", "c-calibration.png")
}
