// Package table reads a CSV file as people have them: with commas, semicolons or tabs, decimal commas, a byte order mark, dates, and
// cells that are missing. What it cannot read it reports with file, line and column:
//
//	bytes ─▶ text ─▶ separator ─▶ rows, each cell with its place ─▶ columns of numbers, dates or keys
package table

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf16"
)

// A Table is a header and rows of as many cells.
type Table struct {
	File    string
	Header  []string
	rows    [][]string
	places  [][]place
	decimal bool // commas are decimal points
}

type place struct{ line, column int32 }

// Open reads a file.
func Open(file string) (*Table, error) {
	data, err := os.ReadFile(file)
	var path *os.PathError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file", file)
	case errors.As(err, &path):
		return nil, fmt.Errorf("%s: %w", file, path.Err)
	case err != nil:
		return nil, err
	}
	return Parse(file, data)
}

// Parse reads the contents of a file, whose name is for errors.
func Parse(file string, data []byte) (*Table, error) {
	data, err := text(file, data)
	if err != nil {
		return nil, err
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	separator := separatorOf(string(first))
	t := &Table{File: file, decimal: separator != ','}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = separator, -1, separator != '\t'
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, malformed(file, err)
		}
		at := make([]place, len(row))
		for i := range row {
			line, column := r.FieldPos(i)
			row[i], at[i] = strings.TrimSpace(row[i]), place{int32(line), int32(column)}
		}
		if len(row) == 1 && row[0] == "" && t.Header != nil && len(t.Header) > 1 {
			continue // a line of spaces
		}
		if t.Header == nil {
			t.Header, t.places = row, append(t.places, at)
			continue
		}
		if len(row) != len(t.Header) {
			return nil, t.ragged(len(row), at[0].line)
		}
		t.rows, t.places = append(t.rows, row), append(t.places, at)
	}
	return t, t.check()
}

// text is data as UTF-8 without a byte order mark, with plain line ends.
func text(file string, data []byte) ([]byte, error) {
	for mark, order := range map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		if bytes.HasPrefix(data, []byte(mark)) {
			var units []uint16
			for k := 2; k+1 < len(data); k += 2 {
				units = append(units, order.Uint16(data[k:]))
			}
			data = []byte(string(utf16.Decode(units)))
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", file)
	}
	if k := bytes.IndexByte(data, 0); k >= 0 {
		return nil, fmt.Errorf("%s:%d: a zero byte: this is no text, or one in UTF-16 without a byte order mark; save it as CSV in UTF-8", file, 1+bytes.Count(data[:k], []byte("\n")))
	}
	if !bytes.Contains(data, []byte("\n")) {
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n")) // as old spreadsheets end lines
	}
	return bytes.TrimLeft(data, "\r\n"), nil
}

// separatorOf is the separator that a header has most of, outside quotes.
func separatorOf(header string) rune {
	best, most, quoted := ',', 0, false
	count := map[rune]int{}
	for _, c := range header {
		if c == '"' {
			quoted = !quoted
		}
		if !quoted && strings.ContainsRune(",;\t|", c) {
			if count[c]++; count[c] > most {
				best, most = c, count[c]
			}
		}
	}
	return best
}

// malformed is an error of package csv with the file's name.
func malformed(file string, err error) error {
	var p *csv.ParseError
	switch {
	case !errors.As(err, &p):
		return fmt.Errorf("%s: %w", file, err)
	case errors.Is(err, csv.ErrQuote) && p.StartLine != p.Line:
		return fmt.Errorf("%s:%d: a quote that is opened in this line is not closed", file, p.StartLine)
	case errors.Is(err, csv.ErrQuote):
		return fmt.Errorf("%s:%d:%d: a cell that begins with a quote has to end with one, and quotes within are doubled", file, p.Line, p.Column)
	case errors.Is(err, csv.ErrBareQuote):
		return fmt.Errorf("%s:%d:%d: a quote in the middle of a cell: such a cell is in quotes, and quotes within are doubled", file, p.Line, p.Column)
	}
	return fmt.Errorf("%s:%d:%d: %w", file, p.Line, p.Column, p.Err)
}

func (t *Table) ragged(cells int, line int32) error {
	hint := ""
	if cells > len(t.Header) && !t.decimal {
		hint = "; numbers with decimal commas need semicolons between cells"
	}
	return fmt.Errorf("%s:%d: %s, where the header has %s%s", t.File, line, plural(cells, "cell"), plural(len(t.Header), "column"), hint)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// check looks at what there is to read at all.
func (t *Table) check() error {
	numbers := true
	for _, h := range t.Header {
		_, err := number(h, t.decimal)
		numbers = numbers && err == nil
	}
	switch {
	case numbers:
		return fmt.Errorf("%s:1: the first line has numbers, and no names of columns; put a line of names above it", t.File)
	case len(t.rows) == 0:
		return fmt.Errorf("%s: a header, and no rows below it", t.File)
	}
	return nil
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Line is that of a row in the file.
func (t *Table) Line(row int) int { return int(t.places[1+row][0].line) }

// Place is "file:line:column" of a cell.
func (t *Table) Place(row, column int) string {
	p := t.places[1+row][column]
	return fmt.Sprintf("%s:%d:%d", t.File, p.line, p.column)
}

// Find is the number of a column. Names may differ in case where that is no other column.
func (t *Table) Find(name string) (int, error) {
	found := -1
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for i, h := range t.Header {
			if !same(h, name) {
				continue
			}
			if found >= 0 {
				return 0, fmt.Errorf("%s:%d:%d: a second column is named %q: rename one", t.File, t.places[0][i].line, t.places[0][i].column, h)
			}
			found = i
		}
		if found >= 0 {
			return found, nil
		}
	}
	return 0, fmt.Errorf("%s: no column %q%s; its columns are %s", t.File, name, near(name, t.Header), quoted(t.Header))
}

// near says which names are a few letters from name.
func near(name string, all []string) string {
	var close []string
	for _, h := range all {
		if d := distance(strings.ToLower(name), strings.ToLower(h)); d <= max(1, len(name)/2) && d <= 3 {
			close = append(close, h)
		}
	}
	if close == nil {
		return ""
	}
	return ", but " + strings.Join(quotes(close), " and ")
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func quotes(names []string) []string {
	out := slices.Clone(names)
	for i := range out {
		out[i] = fmt.Sprintf("%q", out[i])
	}
	return out
}

// quoted lists names, but no more than a dozen.
func quoted(names []string) string {
	const most = 12
	text := strings.Join(quotes(names[:min(most, len(names))]), ", ")
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
