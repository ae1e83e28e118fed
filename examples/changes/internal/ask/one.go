package ask

import (
	"context"
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/changes/internal/series"
)

// One finds changes in one series.
func (o Options) One(ctx context.Context, out io.Writer) error {
	plain := !o.JSON && !o.CSV
	if o.Files == nil {
		o.Columns = Columns{Y: "disasters", X: "year"}
		if plain {
			fmt.Fprintln(out, "No file was named, so this is about explosions in British coal mines that killed ten or more people.")
		}
	}
	all, err := o.Load()
	if err != nil {
		return err
	}
	s, known := all.Series[o.Only]
	if !known {
		return fmt.Errorf("%s: no series with the key %q in column %q", o.file(), o.Only, o.By)
	}
	if err := s.Enough(o.Most); err != nil {
		return fmt.Errorf("%s: %w", all.file, err)
	}
	l, why := series.Likelihood(o.Likelihood), "as -likelihood says"
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
	r, err := series.Find(ctx, s, series.Settings{Likelihood: l, Most: o.Most, Ahead: o.Ahead, Vi: o.settings()})
	if err == nil && o.HTML != "" {
		err = r.Report(o.HTML, o.Seed)
	}
	switch {
	case err != nil:
		return err
	case o.JSON:
		return writeJSON(out, r)
	case o.CSV:
		return rowsCSV(out, r)
	}
	r.Write(out)
	return nil
}
