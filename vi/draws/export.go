package draws

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
)

// atOnce is how many points are evaluated at once: of much data each takes memory for all of it.
const atOnce = 16

// LogR is log r at points in unconstrained coordinates.
func LogR(d *graph.Density, points [][]float64) ([]float64, error) {
	blocks := parallel.Blocks{N: len(points), Size: atOnce}
	out := make([]float64, len(points))
	executors := make([]*graph.Executor, parallel.Processors(blocks.Len()))
	err := parallel.Do(len(executors), blocks.Len(), func(w, b int) (err error) {
		if executors[w] == nil {
			if executors[w], err = d.Executor(atOnce, graph.Compute{Out: true}); err != nil {
				return fmt.Errorf("draws: %w", err)
			}
		}
		x, first := executors[w], b*atOnce
		for k := range x.N {
			for i, v := range points[min(first+k, len(points)-1)] {
				x.Z[i*x.N+k] = v
			}
		}
		d.Arrangement().SignBatch(x.Signs, x.Z, x.N)
		if err := x.Run(); err != nil {
			return fmt.Errorf("draws: %w", err)
		}
		copy(out[first:], x.Out)
		return nil
	})
	return out, err
}

// WriteCSV writes the draws as CmdStan writes a run of its fixed_param sampler,
// whose draws are independent as these are. ArviZ (from_cmdstan), cmdstanpy
// (from_csv), cmdstanr (read_cmdstan_csv, which gives draws of the package
// posterior) and rstan (read_stan_csv) read that form alike. They do not agree
// on the form of CmdStan's own variational method, whose first row is the mean
// of the approximation: ArviZ takes it for a draw. (Stan CSV File Format,
// CmdStan User's Guide; arviz/data/io_cmdstan.py; cmdstanr/R/csv.R.)
//
// Lines that start with # hold the settings. The columns are
//
//	lp__         log r of the draw in unconstrained coordinates, as in Stan
//	lp_approx__  log q of the draw there, as in cmdstanr
//
// and one for each latent and each component of a vector, on the program's own scale. Indices count from 1, as
// in Stan, whatever they count from in the program: theta[0], theta[1], … are
// theta.1, theta.2, …, which the readers join to a vector theta. With two and
// more indices the first varies fastest. In the names of others, letters, digits
// and _ stay, and every other character becomes _. Two latents whose names
// become one are an error. Every number has the digits that give it back exactly.
func (d Draws) WriteCSV(w io.Writer) error {
	names, columns, err := stanColumns(d.Names)
	if err != nil {
		return err
	}
	switch {
	case d.density == nil || d.q == nil:
		return fmt.Errorf("draws: these draws were not made by a Posterior")
	case len(d.z) != len(d.Values):
		return fmt.Errorf("draws: %d draws were made, and %d are here: select after writing", len(d.z), len(d.Values))
	}
	logR, err := LogR(d.density, d.z)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, stanHeader, len(d.Values))
	fmt.Fprintf(out, "lp__,lp_approx__,%s\n", strings.Join(names, ","))
	for k, row := range d.Values {
		fmt.Fprintf(out, "%s,%s", stanNumber(logR[k]), stanNumber(d.q.LogProb(d.z[k])))
		for _, i := range columns {
			out.WriteByte(',')
			out.WriteString(stanNumber(row[i]))
		}
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("draws: %w", err)
	}
	return nil
}

// stanHeader holds the settings that the readers ask for. An equals sign in any
// other line would be taken for a setting.
const stanHeader = `# Draws from a posterior, by facet
# model = facet
# method = sample
#   sample
#     num_samples = %d
#     num_warmup = 0
#     save_warmup = 0
#     thin = 1
#     adapt
#       engaged = 0
#     algorithm = fixed_param
#     num_chains = 1
# id = 1
`

// stanColumns returns the columns' names and the latent of each.
func stanColumns(latents []string) (names []string, columns []int, err error) {
	taken := map[string]string{}
	for _, f := range arraysOf(latents) {
		name := stanName(f.name)
		if other, ok := taken[name]; ok {
			return nil, nil, fmt.Errorf("draws: latents %s and %s would both be %s in the file", other, f.name, name)
		}
		taken[name] = f.name
		for _, k := range f.columnMajor() {
			column := name
			if len(f.dims) > 0 {
				column += "." + f.subscripts(k, ".")
			}
			names = append(names, column)
			columns = append(columns, f.columns[k])
		}
	}
	return names, columns, nil
}

// stanName makes a name of letters, digits and _ that starts with a letter and
// does not end in __, which marks what is no parameter.
func stanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, s)
	if strings.HasSuffix(s, "__") {
		s = strings.TrimRight(s, "_")
	}
	if s == "" || !unicode.IsLetter([]rune(s)[0]) {
		s = "x" + s
	}
	return s
}

func stanNumber(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
