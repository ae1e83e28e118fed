package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"

	"github.com/facetvi/facet/vi"
)

//go:embed report.html.tmpl
var pageSource string

//go:embed style.css
var style string

//go:embed script.js
var script string

var page = template.Must(template.New("page").Parse(pageSource))

// A document is what the template is given.
type document struct {
	Title, About string
	Style        template.CSS
	Script       template.JS
	Models       *models // nil of one fit
	Fits         []view
	Table        table
}

// models are how several programs explain the same data.
type models struct {
	table
	Best     string
	Trusted  bool // all of them
	Figures  []figure
	Warnings []string
	Averaged predictionsView // by all models together
}

// Write writes the report of a fit. It returns an error for a nil fit, one without a density or a distribution, positions that
// are not as many as their elements, and where w fails. What the fit cannot say, or what cannot be drawn, the report says.
func Write(w io.Writer, fit *vi.Posterior, o Options) error {
	v, err := newView(fit, o)
	if err != nil {
		return err
	}
	return write(w, document{Title: cmp.Or(o.Title, "A posterior"), About: o.About, Fits: []view{v}})
}

func write(w io.Writer, d document) error {
	d.Style, d.Script = template.CSS(style), template.JS(script)
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// Save is Write to a file, which is replaced.
func Save(file string, fit *vi.Posterior, o Options) error {
	return save(file, func(w io.Writer) error { return Write(w, fit, o) })
}

func save(file string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// WriteTable writes a page with one table, as of many fits, a row each: names in the first columns, text of them, and numbers in
// the others. It returns an error for a row that has not as many cells as head, and where w fails. Of the options it takes Title and About.
func WriteTable(w io.Writer, head []string, rows [][]string, text int, o Options) error {
	for k, r := range rows {
		if len(r) != len(head) {
			return fmt.Errorf("report: row %d has %d cells for %d columns", k, len(r), len(head))
		}
	}
	return write(w, document{Title: cmp.Or(o.Title, "Posteriors"), About: o.About, Table: table{Head: head, Rows: rows, Text: text}})
}

// SaveTable is WriteTable to a file, which is replaced.
func SaveTable(file string, head []string, rows [][]string, text int, o Options) error {
	return save(file, func(w io.Writer) error { return WriteTable(w, head, rows, text, o) })
}
