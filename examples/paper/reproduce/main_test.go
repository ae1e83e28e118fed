//go:build long

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/paper/reproduce/evaluation"
)

// The report of the command says with which versions of other modules its numbers were made.
func TestModules(t *testing.T) {
	for _, name := range []string{"gorgonia.org/gorgonia", "gorgonia.org/tensor", "gonum.org/v1/gonum", "gonum.org/v1/plot"} {
		require.Regexp(t, `^v\d+\.\d+`, evaluation.Modules()[name], name)
	}
}
