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

// A Watch is what a fit and its parts tell what they are at, and ask for the time. It is safe for concurrent use. On a terminal it
// shows one line that is written anew in its place, elsewhere line after line. What the user prints meanwhile begins on the line in
// progress and stays.
type Watch struct {
	Logger       *slog.Logger  // nil: nobody listens
	Half, Budget cputime.Limit // half of the budget, and all of it
	Every        time.Duration // between reports

	given   time.Duration // the budget in CPU time; 0 for no limit
	to      io.Writer     // nil: nobody listens
	columns func() int    // of the terminal; nil if it is none
	mu      sync.Mutex
	shown   int                        // characters of the line in progress
	last    time.Time                  // when something was said
	news    func(terminal bool) string // that was not written yet; nil if there is none
}

// New starts the time. to may be nil, and so may the logger.
func New(to io.Writer, logger *slog.Logger, budget time.Duration) *Watch {
	w := &Watch{Logger: logger, Every: time.Second, given: budget, to: to}
	if budget > 0 {
		w.Half, w.Budget = cputime.In(budget/2), cputime.In(budget)
	}
	if f, ok := to.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		w.columns, w.Every = func() int { return columns(f) }, 100*time.Millisecond
	}
	return w
}

// columns is the width of a terminal, 80 if it does not tell.
func columns(f *os.File) int {
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil || n == 0 {
		return 80
	}
	return n
}

// Heard reports whether somebody listens to what is said.
func (w *Watch) Heard() bool { return w.to != nil }

// Now says at once what the fit is at.
func (w *Watch) Now(format string, args ...any) { w.say(true, format, args) }

// Soon says it if nothing was said for a while.
func (w *Watch) Soon(format string, args ...any) { w.say(false, format, args) }

func (w *Watch) say(now bool, format string, args []any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.Heard() || !now && !w.due() {
		return
	}
	text := fmt.Sprintf(format, args...)
	if w.given > 0 {
		text += fmt.Sprintf("; %v of %v left", w.Budget.Left().Round(100*time.Millisecond), w.given)
	}
	w.write(text)
}

// due reports whether nothing was said for a while.
func (w *Watch) due() bool { return time.Since(w.last) >= w.Every }

// Report says how far the fit is, as soon as nothing was said for a while or, if nothing else is reported before, at its end. On
// a terminal, whose line may be cut, text should begin with what matters most.
func (w *Watch) Report(text func(terminal bool) string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news = text; w.due() {
		w.flush()
	}
}

// End writes what was not reported yet, and ends the line in progress.
func (w *Watch) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	if w.shown > 0 {
		fmt.Fprintln(w.to)
		w.shown = 0
	}
}

func (w *Watch) flush() {
	if w.news != nil && w.Heard() {
		w.write(w.news(w.columns != nil))
		w.news = nil
	}
}

// write writes a line, on a terminal over the last one and cut to its width. A
// writer that fails is no reason to stop.
func (w *Watch) write(text string) {
	w.last = time.Now()
	if w.columns == nil {
		fmt.Fprintln(w.to, text)
		return
	}
	n := utf8.RuneCountInString(text)
	if room := max(1, w.columns()-1); n > room {
		text, n = string([]rune(text)[:room-1])+"…", room
	}
	fmt.Fprint(w.to, "\r", text, strings.Repeat(" ", max(0, w.shown-n)))
	w.shown = n
}
