package main

import (
	"context"
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/changes/series"
)

// one finds changes in one series.
func (o options) one(ctx context.Context, out io.Writer) error {
	plain := !o.asJSON && !o.asCSV
	if o.files == nil {
		o.columns = columns{y: "disasters", x: "year"}
		if plain {
			fmt.Fprintln(out, "No file was named, so this is about explosions in British coal mines that killed ten or more people.")
		}
	}
	all, err := load(o.file(), o.columns)
	if err != nil {
		return err
	}
	s, known := all.series[o.only]
	if !known {
		return fmt.Errorf("%s: no series with the key %q in column %q", o.file(), o.only, o.by)
	}
	if err := s.Enough(*o.most); err != nil {
		return fmt.Errorf("%s: %w", all.file, err)
	}
	l, why := series.Likelihood(o.likelihood), "as -likelihood says"
	if l == "" {
		l, why = s.Guess()
	}
	if err := s.Possible(l); err != nil {
		return err
	}
	if plain {
		fmt.Fprint(out, all.note)
		missing := ""
		if n := s.Missing(); n > 0 {
			missing = fmt.Sprintf(" (%d missing)", n)
		}
		fmt.Fprintf(out, "%s: %d rows%s by %s, from %s to %s; likelihood %s (%s)\n", s.Name, len(s.Y), missing, s.XName, s.Label[0], s.Label[len(s.Label)-1], l, why)
	}
	r, err := series.Find(ctx, s, series.Settings{Likelihood: l, Most: *o.most, Ahead: *o.ahead, Vi: o.settings()})
	if err == nil && o.html != "" {
		err = r.Report(o.html, *o.seed)
	}
	switch {
	case err != nil:
		return err
	case o.asJSON:
		return writeJSON(out, r)
	case o.asCSV:
		return rowsCSV(out, r)
	}
	r.Write(out)
	return nil
}

func (o options) file() string {
	if len(o.files) == 0 {
		return ""
	}
	return o.files[0]
}
