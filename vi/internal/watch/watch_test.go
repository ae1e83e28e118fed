package watch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Lines come no more often than they should, and the last report is written at the end.
func TestLines(t *testing.T) {
	var out bytes.Buffer
	w := New(&out, nil, 0)
	text := func(s string) func(bool) string { return func(bool) string { return s } }
	w.Report(text("one"))
	w.Report(text("two"))
	w.Soon("three")
	w.Report(text("four"))
	require.Equal(t, "one\n", out.String(), "one line in a second")
	w.Now("at %d", 5)
	w.End()
	w.End()
	require.Equal(t, "one\nat 5\nfour\n", out.String())
}

// What is said has how much of a budget is left; without anybody who listens nothing is said.
func TestBudget(t *testing.T) {
	var out bytes.Buffer
	w := New(&out, nil, time.Hour)
	w.Now("looking")
	require.Regexp(t, `^looking; (1h0m0s|59m59\.\ds) of 1h0m0s left\n$`, out.String())
	require.False(t, w.Half.Over())
	w = New(nil, nil, 0)
	w.Now("looking")
	w.Report(func(bool) string { t.Fail(); return "" })
	w.End()
	require.False(t, w.Budget.Over())
}

// On a terminal there is one line, cut to the width and written in its place.
func TestTerminal(t *testing.T) {
	var out bytes.Buffer
	width := 40
	w := New(&out, nil, 0)
	w.columns, w.Every = func() int { return width }, 0
	at := func(n int) string { // what is on the line then
		w.Report(func(terminal bool) string {
			require.True(t, terminal)
			return fmt.Sprintf("%3d of 400, and what has no room on the line", n)
		})
		require.NotContains(t, out.String(), "\n")
		return out.String()[strings.LastIndex(out.String(), "\r")+1:]
	}
	w.Now("short")
	require.Regexp(t, `^100 of 400.*…$`, at(100))
	require.Equal(t, 39, utf8.RuneCountInString(at(200)))
	w.Now("short")
	require.True(t, strings.HasSuffix(out.String(), "\rshort"+strings.Repeat(" ", 34)), "it covers the longer line before it")
	width = 1
	require.Equal(t, "…", strings.TrimSpace(at(300)))
	width = 200
	at(400)
	w.End()
	w.End()
	require.Regexp(t, `400 of 400.*[^\n]\n$`, out.String())
	require.NotContains(t, out.String(), "\x1b", "it needs no control but the carriage return")
}
