// Package watch tells a user how a fit gets on: what it is at, and how much of its budget is left.
package watch

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/facetvi/facet/internal/cputime"
)

// A Watch is what a fit and its parts tell what they are at, and ask for the time. It is safe for concurrent use.
type Watch struct {
	Logger       *slog.Logger  // nil: nobody listens
	Half, Budget cputime.Limit // half of the budget, and all of it
	Given        time.Duration // the budget in CPU time; 0 for no limit
	Every        time.Duration // between reports

	mu   sync.Mutex
	line *line // nil: nobody listens
}

// New starts the time. to may be nil, and so may the logger.
func New(to io.Writer, logger *slog.Logger, budget time.Duration) *Watch {
	w := &Watch{Logger: logger, Given: budget, Every: time.Second}
	if budget > 0 {
		w.Half, w.Budget = cputime.In(budget/2), cputime.In(budget)
	}
	if to == nil {
		return w
	}
	w.line = &line{w: to}
	if f, ok := to.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		w.line.columns, w.Every = func() int { return columns(f) }, 100*time.Millisecond
	}
	return w
}

// Heard reports whether somebody listens to what is said.
func (w *Watch) Heard() bool { return w.line != nil }

// Now says at once what the fit is at.
func (w *Watch) Now(format string, args ...any) { w.say(true, format, args) }

// Soon says it if nothing was said for a while.
func (w *Watch) Soon(format string, args ...any) { w.say(false, format, args) }

func (w *Watch) say(now bool, format string, args []any) {
	if w.line == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if now || w.due() {
		w.line.write(fmt.Sprintf(format, args...) + w.left())
	}
}

// due reports whether nothing was said for a while.
func (w *Watch) due() bool { return time.Since(w.line.last) >= w.Every }

// left is how much of the budget is left, if there is one.
func (w *Watch) left() string {
	if w.Given == 0 {
		return ""
	}
	return fmt.Sprintf("; %v of %v left", w.Budget.Left().Round(100*time.Millisecond), w.Given)
}

// Report says how far the fit is, as soon as nothing was said for a while or, if nothing else is reported before, at its end. On
// a terminal, whose line may be cut, text should begin with what matters most.
func (w *Watch) Report(text func(terminal bool) string) {
	if w.line == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.line.news = text; w.due() {
		w.line.flush()
	}
}

// End writes what was not reported yet, and ends the line in progress.
func (w *Watch) End() {
	if w.line == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line.flush()
	w.line.end()
}

// line is where progress is shown: on a terminal one line that is written anew in its place, elsewhere line after line. What
// the user prints meanwhile begins on the line in progress and stays.
type line struct {
	w       io.Writer
	columns func() int                 // of the terminal; nil if w is none
	shown   int                        // characters of the line in progress
	last    time.Time                  // when something was said
	news    func(terminal bool) string // that was not written yet; nil if there is none
}

// write writes a line, on a terminal over the last one and cut to its width. A
// writer that fails is no reason to stop.
func (l *line) write(text string) {
	l.last = time.Now()
	if l.columns == nil {
		fmt.Fprintln(l.w, text)
		return
	}
	n := utf8.RuneCountInString(text)
	if room := max(1, l.columns()-1); n > room {
		text, n = string([]rune(text)[:room-1])+"…", room
	}
	fmt.Fprint(l.w, "\r", text, strings.Repeat(" ", max(0, l.shown-n)))
	l.shown = n
}

func (l *line) flush() {
	if l.news != nil {
		l.write(l.news(l.columns != nil))
		l.news = nil
	}
}

func (l *line) end() {
	if l.shown > 0 {
		fmt.Fprintln(l.w)
		l.shown = 0
	}
}

// columns is the width of a terminal, 80 if it does not tell.
func columns(f *os.File) int {
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil || n == 0 {
		return 80
	}
	return n
}
