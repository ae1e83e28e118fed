package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/changes/internal/ask"
)

// good is a file that can be read: a dozen rows with a change.
var good = rowsOf("year,count", func(i int) string { return fmt.Sprintf("%d,%d", 2000+i, 3+7*(i/6)+i%2) })

func rowsOf(header string, row func(i int) string) string {
	lines := []string{header}
	for i := range 12 {
		lines = append(lines, row(i))
	}
	return strings.Join(lines, "\n") + "\n"
}

// with is good with another line, counted from 1.
func with(line int, text string) string {
	lines := strings.Split(good, "\n")
	lines[line-1] = text
	return strings.Join(lines, "\n")
}

func inUTF16(s string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return string(out)
}

// What is wrong with a file is said with file, line and column, and in words that say what to do.
func TestBroken(t *testing.T) {
	const xy = "-x year -y count"
	for _, c := range []struct{ name, file, flags, want string }{
		{"empty", "", xy, "bad.csv: the file is empty"},
		{"only spaces", " \n\n", xy, "bad.csv: the file is empty"},
		{"header only", "year,count\n", xy, "bad.csv: a header, and no rows below it"},
		{"no header", strings.TrimPrefix(good, "year,count\n"), xy, "bad.csv:1: the first line has numbers, and no names of columns; put a line of names above it"},
		{"short row", with(5, "2003"), xy, "bad.csv:5: 1 cell, where the header has 2 columns"},
		{"long row", with(5, "2003,4,1"), xy, "bad.csv:5: 3 cells, where the header has 2 columns; numbers with decimal commas need semicolons"},
		{"text", with(5, "2003,many"), xy, `bad.csv:5:6: "many" in column "count" is not a number`},
		{"thousands", with(5, `2003,"1,204"`), xy, `bad.csv:5:6: "1,204" in column "count" is not a number: write it without commas between thousands`},
		{"unit", with(5, "2003,7 kg"), xy, `bad.csv:5:6: "7 kg" in column "count" is not a number`},
		{"infinite", with(5, "2003,inf"), xy, `bad.csv:5:6: "inf" in column "count" is infinite; leave the cell empty`},
		{"too large", with(5, "2003,1e999"), xy, `bad.csv:5:6: "1e999" in column "count" is beyond the largest number`},
		{"no such column", good, "-x year -y cuont", `bad.csv: no column "cuont", but "count"; its columns are "year", "count"`},
		{"no such column at all", good, "-x year -y price", `bad.csv: no column "price"; its columns are "year", "count"`},
		{"no such order", good, "-x yaer -y count", `no column "yaer", but "year"; its columns`},
		{"two columns of a name", strings.Replace(good, "year", "count", 1), "-y count", `bad.csv:1:7: a second column is named "count": rename one`},
		{"which column", good, "", "bad.csv: 2 columns have numbers: say which one to look at, as -y count, and which has the order, as -x year"},
		{"no numbers", "a,b\nx,y\nz,w\n", "", "bad.csv: no column has only numbers: say which one to look at, as -y b"},
		{"same year twice", with(5, "2002,7"), xy, "bad.csv:5:1: year 2002 is there twice, first in line 4; if the file has several series, name the column with their keys: -by COLUMN"},
		{"date among numbers", with(5, "2003-01-02,7"), xy, `bad.csv:5:1: "2003-01-02" in column "year" is a date, and cells above it are numbers`},
		{"number among dates", "day,n\n2024-01-01,1\n7,2\n", "-x day -y n", `bad.csv:3:1: "7" in column "day" is a number, and cells above it are dates`},
		{"bad date", "day,n\n2024-01-01,1\n2024-02-30,2\n", "-x day -y n", `bad.csv:3:1: "2024-02-30" in column "day" is neither a number nor a date; write dates as 2024-01-31`},
		{"day or month", "day,n\n01/02/2024,1\n", "-x day -y n", `bad.csv:2:1: "01/02/2024" in column "day" is neither a number nor a date; write dates as 2024-01-31`},
		{"no year", with(5, ",7"), xy, `bad.csv:5:1: column "year", which says where each row stands, has an empty cell`},
		{"open quote", with(5, `2003,"7`), xy, "bad.csv:5: a quote that is opened in this line is not closed"},
		{"quote in a cell", with(5, `2003,7"`), xy, "bad.csv:5:7: a quote in the middle of a cell"},
		{"text after a quote", with(5, `2003,"7"x`), xy, "bad.csv:5:8: a cell that begins with a quote has to end with one"},
		{"zero bytes", good + "\x00\x00", xy, "bad.csv:14: a zero byte: this is no text, or one in UTF-16 without a byte order mark"},
		{"UTF-16 without a mark", strings.TrimPrefix(inUTF16(good), "\xff\xfe"), xy, "bad.csv:1: a zero byte"},
		{"all missing", rowsOf("year,count", func(i int) string { return fmt.Sprintf("%d,NA", 2000+i) }), xy, `bad.csv: all cells of column "count" are missing`},
		{"one row", "year,count\n2000,4\n", xy, `bad.csv: column "count" has 1 number: up to 5 changes need at least 7; a smaller -max needs fewer`},
		{"few rows", "year,count\n2000,4\n2001,5\n2002,4\n2003,3\n", xy, `bad.csv: column "count" has 4 numbers: up to 5 changes need at least 7`},
		{"constant", rowsOf("year,count", func(i int) string { return fmt.Sprintf("%d,4", 2000+i) }), xy, `bad.csv: column "count" is 4 in all rows: nothing changes`},
		{"negative count", with(5, "2003,-7"), xy + " -likelihood poisson", `bad.csv:5:6: -7 in column "count" is negative, and -likelihood poisson is of counts; is it normal?`},
		{"fraction of a count", with(5, "2003,7.5"), xy + " -likelihood negbin", `bad.csv:5:6: 7.5 in column "count" is not whole, and -likelihood negbin is of counts; is it normal?`},
		{"two of a coin", with(5, "2003,2"), xy + " -likelihood bernoulli", `bad.csv:2:6: 3 in column "count": -likelihood bernoulli is of 0 and 1`},
		{"no key column", good, xy + " -by shop", `bad.csv: no column "shop"`},
		{"empty key", "shop,n\na,1\n,2\n", "-y n -by shop", `bad.csv:3:1: no key in column "shop"`},
		{"no such key", "shop,n\na,1\nb,2\n", "-y n -by shop -only c", `bad.csv: no series with the key "c" in column "shop"`},
		{"twice in a series", "shop,t,n\na,1,1\nb,1,2\na,1,2\n", "-y n -x t -by shop", `bad.csv:4:3: t 1 is there twice, first in line 2 of "a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("bad.csv", []byte(c.file), 0o666))
			code, _, errOut := call(append(strings.Fields(c.flags), "bad.csv")...)
			require.Equal(t, 1, code, errOut)
			require.Contains(t, errOut, c.want)
			require.Equal(t, 1, strings.Count(errOut, "\n"), "one line")
		})
	}
	t.Run("no file", func(t *testing.T) {
		code, _, errOut := call("nowhere.csv", "-y", "count")
		require.Equal(t, 1, code)
		require.Equal(t, "nowhere.csv: there is no such file\n", errOut)
	})
	t.Run("a folder", func(t *testing.T) {
		code, _, errOut := call(t.TempDir(), "-y", "count")
		require.Equal(t, 1, code)
		require.Contains(t, errOut, "is a directory")
	})
}

// Files as people have them are read: all have the numbers of good.
func TestUnusual(t *testing.T) {
	want, err := ask.Options{Files: []string{write(t, good)}, Columns: ask.Columns{X: "year", Y: "count"}}.Load()
	require.NoError(t, err)
	for name, text := range map[string]string{
		"byte order mark": "\ufeff" + good,
		"UTF-16":          inUTF16(good),
		"CRLF":            strings.ReplaceAll(good, "\n", "\r\n"),
		"CR":              strings.ReplaceAll(good, "\n", "\r"),
		"semicolons":      strings.ReplaceAll(good, ",", ";"),
		"tabs":            strings.ReplaceAll(good, ",", "\t"),
		"decimal commas":  strings.ReplaceAll(strings.ReplaceAll(good, ",", ";"), "\n2005;4", "\n2005;4,0"),
		"quotes":          strings.ReplaceAll(good, "year", `"year"`),
		"spaces":          strings.ReplaceAll(good, ",", " , "),
		"blank lines":     "\n" + strings.ReplaceAll(good, "\n", "\n\n"),
		"capitals":        strings.ToUpper(good),
		"no last newline": strings.TrimSpace(good),
	} {
		got, err := ask.Options{Files: []string{write(t, text)}, Columns: ask.Columns{X: "year", Y: "count"}}.Load()
		require.NoError(t, err, name)
		require.Equal(t, want.Series[""].Y, got.Series[""].Y, name)
		require.Equal(t, want.Series[""].X, got.Series[""].X, name)
		require.Empty(t, got.Note, name)
	}
	lines := strings.Split(strings.TrimSpace(good), "\n")
	lines[1], lines[12] = lines[12], lines[1]
	got, err := ask.Options{Files: []string{write(t, strings.Join(lines, "\n"))}, Columns: ask.Columns{X: "year", Y: "count"}}.Load()
	require.NoError(t, err)
	require.Equal(t, want.Series[""].Y, got.Series[""].Y)
	require.Contains(t, got.Note, "were sorted")
	dates, err := ask.Options{Files: []string{write(t, "day,n\n28.02.2024,1\n01.03.2024,NA\n")}, Columns: ask.Columns{X: "day", Y: "n"}}.Load()
	require.NoError(t, err)
	require.Equal(t, 2.0, dates.Series[""].X[1]-dates.Series[""].X[0])
	require.Equal(t, 1, dates.Series[""].Missing())
}

func write(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "data.csv")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	return file
}

// A constant column of 0 and 1, missing cells and a series without x go all the way; JSON, CSV and text are written.
func TestOutputs(t *testing.T) {
	file := write(t, strings.Replace(good, "2003,4", "2003,NA", 1))
	for flags, want := range map[string]string{
		"-max 1 -y count":                    "count: 12 rows (1 missing) by row, from 1 to 12; likelihood poisson (counts)",
		"-max 1 -y count -json -ahead 0":     `"missing": 1`,
		"-max 1 -y count -x year -csv":       "year,count,level,level_low,level_high,change_before_this_row\n2000,3,",
		"-max 1 -y count -likelihood normal": "change after row 6",
	} {
		code, out, errOut := call(append(strings.Fields(flags), file)...)
		require.Zero(t, code, errOut)
		require.Contains(t, out, want)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	code, _, errOut := call(file, "-max", "1", "-y", "count", "-x", "year", "-html", page)
	require.Zero(t, code, errOut)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "Changes in count")
	require.Contains(t, string(html), "<td>0.667</td>") // no change, before the data: a change more is half as probable
	require.Contains(t, string(html), "<svg")
}

// Many series are printed in the order of their probabilities, with what is wrong with some.
func TestMany(t *testing.T) {
	var text strings.Builder
	text.WriteString("shop,t,n\n")
	for _, shop := range []string{"same", "changed"} {
		for i := range 20 {
			n := 4 + i%3
			if shop == "changed" && i >= 10 {
				n += 12
			}
			fmt.Fprintf(&text, "%s,%d,%d\n", shop, i, n)
		}
	}
	text.WriteString("short,1,5\n")
	code, out, errOut := call(write(t, text.String()), "-by", "shop", "-x", "t", "-y", "n")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "3 series of n by shop; likelihood poisson; beforehand a series has a change with probability 0.5.\n1 changed with a probability above 0.9.")
	require.Regexp(t, `(?s)changed +1.000 +10 \(10 to 10\).* trust\nsame +0\.1.*short +- .*too few numbers: 1`, out)
	code, out, errOut = call(write(t, text.String()), "-by", "shop", "-x", "t", "-y", "n", "-csv")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "\nchanged,")
	require.Contains(t, out, ",too few numbers: 1")
	page := filepath.Join(t.TempDir(), "many.html")
	code, _, errOut = call(write(t, text.String()), "-by", "shop", "-x", "t", "-y", "n", "-top", "1", "-html", page)
	require.Zero(t, code, errOut)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "Changes in 3 series")
	require.Regexp(t, `(?s)<td class="t">changed</td><td>1\.000</td><td>10 \(10 to 10\)</td>.*<td class="t">same</td>.*<td>too few numbers: 1</td>`, string(html))
}

// Benchmarks that a commit made worse end the command with code 1, if that is asked for.
func TestBench(t *testing.T) {
	var text strings.Builder
	for c := range 12 {
		fmt.Fprintf(&text, "commit: c%d\n", c)
		for run := range 3 {
			fmt.Fprintf(&text, "BenchmarkSort-8 100 %d ns/op\nBenchmarkScan-8 100 %d ns/op\n", 1000+7*((5*c+3*run)%8)+c/6*300, 2000+9*((3*c+run)%8))
		}
	}
	file := write(t, text.String())
	code, out, errOut := call("-bench", file, "-fail-above", "0.95")
	require.Equal(t, 1, code)
	require.Equal(t, "1 of 2 benchmarks became worse with a probability above 0.95\n", errOut)
	require.Regexp(t, `Sort-8 +sec/op +1\.000 +c6 \(c6 to c6\) +\+2\d\.\d%`, out)
	code, out, errOut = call("-bench", file, "-json")
	require.Zero(t, code, errOut)
	require.Contains(t, out, `"commit": "c6"`)
	page := filepath.Join(t.TempDir(), "benchmarks.html")
	code, _, errOut = call("-bench", file, "-fail-above", "0.95", "-html", page)
	require.Equal(t, 1, code, errOut)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Regexp(t, `(?s)Changes in 2 benchmarks.*<td class="t">Sort-8</td><td>sec/op</td><td>1\.000</td><td>c6 \(c6 to c6\)</td>`, string(html))
}
