//go:build long

package evaluation

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/paper/problem"
)

// A screen is a terminal that keeps what was written to it.
type screen struct {
	mu      sync.Mutex
	written bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.Write(b)
}

var upAndErase = regexp.MustCompile(`\x1b\[(\d+)A\x1b\[J`)

// lines are what a user sees.
func (s *screen) lines(t *testing.T) (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	see := func(text string) {
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	rest := s.written.String()
	for {
		at := upAndErase.FindStringSubmatchIndex(rest)
		if at == nil {
			see(rest)
			return lines
		}
		see(rest[:at[0]])
		n, err := strconv.Atoi(rest[at[2]:at[3]])
		require.NoError(t, err)
		require.LessOrEqual(t, n, len(lines))
		lines, rest = lines[:len(lines)-n], rest[at[1]:]
	}
}

// On a terminal, each run under way has a live line with what is done of its
// total and its time, and all runs have one below them; in the end, only the
// plain lines of runs are left.
func TestLiveLines(t *testing.T) {
	var s screen
	p := newProgress(&s)
	p.live = true
	p.begin(3, 2, 1000)
	a, b := p.line(), p.line()
	a.start("first", 1000)
	b.start("second", 1000)
	for range 500 {
		a.step()
	}
	for range 250 {
		b.step()
	}
	sees := func(want ...string) {
		t.Helper()
		require.Eventually(t, func() bool {
			lines := s.lines(t)
			if len(lines) != len(want) {
				return false
			}
			for k, w := range want {
				if !regexp.MustCompile(w).MatchString(lines[k]) {
					return false
				}
			}
			return true
		}, time.Minute, 20*time.Millisecond, "%q", &want)
	}
	const times = ` +elapsed \d+\.\d s, left \d+\.\d s$`
	const there = "^1 of 3 runs are there already$"
	sees(there, `^first +\[=+>-+\] +500/1000`+times, `^second +\[=+>-+\] +250/1000`+times, `^1/3 runs +\[=+>-+\] +750/2000`+times)

	run := runSpec{"textmsg", 0.01, 1, "ours", 1000, 1}
	a.finish() // 500 steps early
	p.finished(&result{Run: run, ELBO: []elboPoint{{0, 0, 0, -300}}, Diverged: 501})
	a.close()
	const ended = `^textmsg, step size 0.01, N = 1, ours: diverged at iteration 501, 0.0 s$`
	sees(there, ended, `^second .* 250/1000`, `^2/3 runs .* 1250/2000`)
	b.close()
	p.end()
	sees(there, ended)
}

// A whole evaluation on a terminal leaves its plain lines, and an interrupted
// one ends as well.
func TestLiveRuns(t *testing.T) {
	set, err := parseSettings([]string{"-models", "textmsg", "-samples", "1", "-steps", "110", "-out", t.TempDir()}, new(bytes.Buffer))
	require.NoError(t, err)
	for _, stopped := range []bool{true, false} {
		store, err := openStore(set.dir)
		require.NoError(t, err)
		textmsg, err := problem.Named("textmsg")
		require.NoError(t, err)
		p := &program{settings: set, problems: map[string]*problem.Problem{"textmsg": textmsg}, store: store}
		ctx, cancel := context.WithCancel(context.Background())
		if stopped {
			cancel()
		}
		var s screen
		show := newProgress(&s)
		show.live = true
		_, err = p.runAll(ctx, show)
		store.close()
		cancel()
		if stopped {
			require.ErrorIs(t, err, context.Canceled)
			continue
		}
		require.NoError(t, err)
		lines := s.lines(t)
		for _, line := range lines {
			require.Regexp(t, `^textmsg, step size 0\.0\d+, N = 1, \w+: ELBO −\d+\.\d\d in \d\.\d s$|runs are there already`, line)
		}
		require.GreaterOrEqual(t, len(lines), 8)
	}
}
