package climb

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi/internal/watch"
	"github.com/facetvi/facet/vi/mc"
)

// A report tells the rate, the best restart and the time left.
func TestPace(t *testing.T) {
	var out bytes.Buffer
	w := watch.New(&out, nil, 0)
	p := newPace(Job{Settings: Settings{Steps: 1000, Restarts: 2}}, []*fitter{{State: State{Step: 100}}, {}})
	trace := func(step int, elbo float64) []TracePoint {
		return []TracePoint{{Step: step - 10, ELBO: mc.Estimate{Value: elbo - 0.1, SE: 0.5}}, {Step: step, ELBO: mc.Estimate{Value: elbo, SE: 0.25}}}
	}
	p.at(0, trace(200, -7), w)
	p.at(1, trace(300, -5), w)
	p.at(0, trace(400, -6), w)
	require.Equal(t, 1, strings.Count(out.String(), "\n"), "one line in a second")
	// 700 of 2000 steps are done, 600 of them in 3 s: 200 a second, 6.5 s to go
	require.Equal(t, "step 700 of 2000  200 steps/s  ELBO -5 ± 0.25 (+10 per 1000 steps)  6.5s left", p.line(3*time.Second, false))
	require.Equal(t, " 35%  6.5s left  ELBO -5 ± 0.25 (+10 per 1000 steps)  step 700 of 2000  200 steps/s", p.line(3*time.Second, true))
	p.at(0, trace(500, math.NaN()), w)
	require.Contains(t, p.state(), "-5", "a fit without an ELBO is not the best")
}
