// Reproduce runs the whole evaluation of Lee, Yu and Yang (NeurIPS 2018): three
// models, the paper's three estimators and facet's own, two step sizes and
// N = 1, 8 and 16. It writes the series as CSV, Figure 1, and a report with
// Tables 1 and 2 beside the paper's, in which each claim of the paper is tested.
//
// Runs go on all processors, and each is the same in every plan and on every
// number of processors. A second call goes on where the first was stopped.
package main

import "github.com/facetvi/facet/examples/paper/reproduce/evaluation"

func main() { evaluation.Main() }
