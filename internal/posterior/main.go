// Posterior fits one of eight models whose exact posterior is known, with the library's defaults, and prints what the fit
// says beside what is so: the log evidence, the probabilities of the program's guards, the moments of its latents; and
// whether the fit says of itself that it can be trusted.
//
//	go run ./internal/posterior -model nile -seed 1
//	go run ./internal/posterior -model nile -seed 1 -json
//
// With -json it prints one object on one line:
//
//	model            its name
//	seconds          CPU seconds of the process, user and system, from the call of vi.Fit to its return; without compilation
//	cells            number of cells of the fit
//	elbo, elbo_se    of the fit, in nats
//	log_evidence, …  as the fit estimates it, with its standard error
//	verdict          trust, or do not trust
//	guards           probabilities, by the fit, of the program's named guards, name by name, in the order of the program
//	latents          by name, mean and sd on the program's own scale
//
// The guards are: proposition: z > 0; temperature: on at steps 1 to 20; textmsg: z above the threshold of each day; influenza:
// f_i > 0, i = 1 to 12; coalmining: change after each year from 1851 to 1962; nile: first shift after each year from 1871 to
// 1970, and then the second shift after each of these years; lynx: two years before there were more than the threshold, for
// each year from 1823 to 1934; tobit: each household's wish above the limit.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/vi/report"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("posterior")
	name := flags.String("model", "textmsg", "the `name` of the model: "+names())
	seed := flags.Seed()
	asJSON := flags.Bool("json", false, "print one line of JSON, and nothing else")
	page := flags.String("html", "", "`file` for a report")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	p, err := problemOf(*name)
	if err != nil {
		return flags.Wrong(err)
	}
	fit, err := p.fit(ctx, *seed)
	if err != nil {
		return fmt.Errorf("posterior: %s: %w", p.name, err)
	}
	if *page != "" {
		if err := report.Save(*page, fit.posterior, report.Options{Title: p.name}); err != nil {
			return err
		}
	}
	if *asJSON {
		return writeJSON(out, p, fit)
	}
	return write(out, p, *seed, fit)
}
