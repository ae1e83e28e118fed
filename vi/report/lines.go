package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi"
)

// A Line is one of many fits of a program: a line of JSON, and a row of a page.
type Line struct {
	Key         string       `json:"key"`
	LogEvidence vi.Estimate  `json:"log evidence"`
	Moments     []vi.Moments `json:"moments"` // of each latent
	Verdict     vi.Trust     `json:"verdict"`
}

// LineOf is the line of a fit.
func LineOf(key string, fit *vi.Posterior) (Line, error) {
	if err := check(fit); err != nil {
		return Line{}, err
	}
	evidence, err1 := fit.LogEvidence()
	moments, err2 := fit.Moments()
	verdict, err3 := fit.Verdict()
	return Line{key, evidence, moments, verdict.Trust}, errors.Join(err1, err2, err3)
}

// WriteLines writes a page of many fits, of which JSON has a Line each: a row for each in their order, with posterior means and standard
// deviations of the latents, whose names are those of all lines. It returns an error for what is no Line with as many latents, and where
// w fails. Of the options it takes Title and About.
func WriteLines(w io.Writer, lines io.Reader, latents []string, o Options) error {
	head, rows := []string{"key", "verdict"}, [][]string{}
	for _, name := range latents {
		head = append(head, name, "sd")
	}
	for in := json.NewDecoder(lines); ; {
		var x Line
		err := in.Decode(&x)
		if errors.Is(err, io.EOF) {
			return WriteTable(w, append(head, "log evidence"), rows, 2, o)
		}
		if err == nil && len(x.Moments) != len(latents) {
			err = fmt.Errorf("moments of %d latents for %d names", len(x.Moments), len(latents))
		}
		if err != nil {
			return fmt.Errorf("report: line %d: %w", len(rows)+1, err)
		}
		row := []string{x.Key, string(x.Verdict)}
		for _, m := range x.Moments {
			cells := text.Moments(m.Mean.Value, m.Mean.SE, m.SD.Value, m.SD.SE, math.NaN(), math.NaN(), math.NaN())
			row = append(row, cells[0], cells[2])
		}
		rows = append(rows, append(row, rounded(x.LogEvidence)))
	}
}

// rounded is an estimate with two decimals, or with fewer if these are not known.
func rounded(e vi.Estimate) string {
	if isInfinite(e.Value) || isInfinite(e.SE) {
		return "not known"
	}
	return text.Decimals(max(e.SE, 0.1), e.Value)(e.Value)
}

// SaveLines is WriteLines from one file to another, which is replaced.
func SaveLines(file, lines string, latents []string, o Options) error {
	in, err := os.ReadFile(lines)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return save(file, func(w io.Writer) error { return WriteLines(w, bytes.NewReader(in), latents, o) })
}
