package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/changes/series"
	"github.com/facetvi/facet/examples/changes/table"
	"github.com/facetvi/facet/examples/changes/write"
)

// coalmining are the explosions in British coal mines that killed ten or more people; see examples/models/coalmining.
//
//go:embed data/coalmining.csv
var coalmining []byte

// load reads the file, or the coal mines if there is none.
func (o options) load() (table.Keyed, error) {
	t, err := table.Parse("coalmining.csv", coalmining)
	if o.files != nil {
		t, err = table.Open(o.files[0])
	}
	if err != nil {
		return table.Keyed{}, err
	}
	return t.Series(o.Columns)
}

// one finds changes in one series.
func (o options) one(ctx context.Context, out io.Writer) error {
	plain := !o.asJSON && !o.asCSV
	if o.files == nil {
		o.Columns = table.Columns{Y: "disasters", X: "year"}
		if plain {
			fmt.Fprintln(out, "No file was named, so this is about explosions in British coal mines that killed ten or more people.")
		}
	}
	all, err := o.load()
	if err != nil {
		return err
	}
	s, known := all.By[o.only]
	if !known {
		return fmt.Errorf("%s: no series with the key %q in column %q", all.File, o.only, o.By)
	}
	if err := s.Enough(*o.most); err != nil {
		return fmt.Errorf("%s: %w", all.File, err)
	}
	l, why := series.Likelihood(o.likelihood), "as -likelihood says"
	if l == "" {
		l, why = s.Guess()
	}
	if err := s.Possible(l); err != nil {
		return err
	}
	if plain {
		fmt.Fprint(out, all.Note)
		missing := ""
		if n := s.Missing(); n > 0 {
			missing = fmt.Sprintf(" (%d missing)", n)
		}
		fmt.Fprintf(out, "%s: %d rows%s by %s, from %s to %s; likelihood %s (%s)\n", s.Name, len(s.Y), missing, s.XName, s.Label[0], s.Label[len(s.Label)-1], l, why)
	}
	r, err := series.Find(ctx, s, series.Settings{Likelihood: l, Most: *o.most, Ahead: *o.ahead, Seed: *o.seed})
	if err == nil && o.html != "" {
		err = r.Report(o.html, *o.seed)
	}
	switch {
	case err != nil:
		return err
	case o.asJSON:
		return write.JSON(out, r)
	case o.asCSV:
		return write.RowsCSV(out, r)
	}
	r.Write(out)
	return nil
}
