//go:build long

package evaluation

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/sealed"

	"github.com/facetvi/facet/examples/paper/problem"
)

// small is a run with points of all series, and some at the end.
var small = runSpec{"textmsg", 0.1, 1, "facet", 150, 7}

func smallResult(t testing.TB) *result {
	t.Helper()
	p, err := problem.Named(small.Model)
	require.NoError(t, err)
	r, err := do(context.Background(), p, small, func() {})
	require.NoError(t, err)
	r.Elapsed = time.Second
	return r
}

// edit replaces text in a file.
func edit(t *testing.T, file, old, new string) {
	t.Helper()
	data := read(t, file)
	require.Contains(t, data, old)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(data, old, new, 1)), 0o644))
}

// A run counts as complete only if its files are whole and from the same
// settings and program.
func TestStoreIsStrict(t *testing.T) {
	want := smallResult(t)
	theta, err := json.Marshal(want.Theta[0])
	require.NoError(t, err)
	for name, spoil := range map[string]func(s *store, run *runSpec){
		"nothing":  func(*store, *runSpec) {},
		"steps":    func(_ *store, r *runSpec) { r.Steps++ },
		"seed":     func(_ *store, r *runSpec) { r.Seed++ },
		"program":  func(s *store, _ *runSpec) { s.build += "x" },
		"no csv":   func(s *store, r *runSpec) { os.Remove(s.runs(r.key() + ".same_theta.csv")) },
		"no json":  func(s *store, r *runSpec) { os.Remove(s.runs(r.key() + ".json")) },
		"cut json": func(s *store, r *runSpec) { os.Truncate(s.runs(r.key()+".json"), 100) },
		"cut csv":  func(s *store, r *runSpec) { os.Truncate(s.runs(r.key()+".variance.csv"), 500) },
		"one digit": func(s *store, r *runSpec) {
			data := []byte(read(t, s.runs(r.key()+".elbo.csv")))
			data[len(data)-2] ^= 1
			require.NoError(t, os.WriteFile(s.runs(r.key()+".elbo.csv"), data, 0o644))
		},
		"theta":   func(s *store, r *runSpec) { edit(t, s.runs(r.key()+".json"), string(theta), "0.5") },
		"seconds": func(s *store, r *runSpec) { edit(t, s.runs(r.key()+".json"), `"seconds":1`, `"seconds":2`) },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := openStore(t.TempDir())
			require.NoError(t, err)
			defer s.close()
			require.NoError(t, s.save(want))
			run := small
			spoil(s, &run)
			got, ok := s.load(run)
			require.Equal(t, name == "nothing", ok)
			if ok {
				require.Equal(t, want, got, "it reads back to the last bit")
			}
		})
	}
}

// A run counts as complete only if its series are those of a run, though each
// file is as it was written.
func TestSeriesAreComplete(t *testing.T) {
	whole := smallResult(t)
	s, err := openStore(t.TempDir())
	require.NoError(t, err)
	defer s.close()
	for name, c := range map[string]struct {
		change func(r *result)
		ok     bool
	}{
		"nothing":               {func(*result) {}, true},
		"header only":           {func(r *result) { r.ELBO, r.Same = nil, nil }, false},
		"variance header only":  {func(r *result) { r.Variance = nil }, false},
		"comparison missing":    {func(r *result) { r.Same = nil }, false},
		"first point missing":   {func(r *result) { r.ELBO, r.Same = r.ELBO[1:], r.Same[4:] }, false},
		"last point missing":    {func(r *result) { r.ELBO, r.Same = r.ELBO[:2], r.Same[:8] }, false},
		"a point twice":         {func(r *result) { r.ELBO[1] = r.ELBO[0] }, false},
		"a variance missing":    {func(r *result) { r.Variance = slices.Delete(r.Variance, 7, 8) }, false},
		"a variance too many":   {func(r *result) { r.Variance = append(r.Variance, variancePoint{150, "facet", 1, 1}) }, false},
		"another's variance":    {func(r *result) { r.Variance[3].Estimator = "ours" }, false},
		"comparisons swapped":   {func(r *result) { r.Same[0], r.Same[1] = r.Same[1], r.Same[0] }, false},
		"comparison elsewhere":  {func(r *result) { r.Same[5].Iteration = 0 }, false},
		"diverged later":        {func(r *result) { r.Diverged = 151 }, false},
		"diverged before":       {func(r *result) { r.Diverged = -1 }, false},
		"diverged there":        {func(r *result) { r.Diverged = 150 }, false},
		"diverged, header only": {func(r *result) { r.Diverged, r.ELBO, r.Same = 150, nil, nil }, false},
		"gradient not finite":   {func(r *result) { r.Diverged, r.ELBO[2].Iteration = 150, 149; r.at(149) }, true},
		"a scale is 0":          {func(r *result) { r.Diverged, r.ELBO, r.Same = 150, r.ELBO[:2], r.Same[:8] }, true},
		"a scale is 0 at first": {func(r *result) { r.Diverged, r.ELBO, r.Same, r.Variance = 1, r.ELBO[:1], r.Same[:4], r.Variance[:1] }, true},
	} {
		r := *whole
		r.ELBO, r.Variance, r.Same = slices.Clone(r.ELBO), slices.Clone(r.Variance), slices.Clone(r.Same)
		c.change(&r)
		require.NoError(t, s.save(&r))
		_, ok := s.load(small)
		require.Equal(t, c.ok, ok, name)
	}
}

// at sets the iteration of the last comparison.
func (r *result) at(iteration int) {
	for k := range estimators {
		r.Same[len(r.Same)-1-k].Iteration = iteration
	}
}

// FuzzStore loads series whose digests are right. What is accepted can be
// reported, and is encoded as it was.
func FuzzStore(f *testing.F) {
	s, err := openStore(f.TempDir())
	require.NoError(f, err)
	f.Cleanup(s.close)
	run := runSpec{"textmsg", 0.1, 1, "facet", 3, 7}
	f.Fuzz(func(t *testing.T, elbo, variance, same []byte, diverged int) {
		rec := record{Run: run, Build: s.build, Files: map[string]string{}, Diverged: diverged}
		for name, data := range map[string][]byte{"elbo.csv": elbo, "variance.csv": variance, "same_theta.csv": same} {
			rec.Files[name] = digest(data)
			require.NoError(t, os.WriteFile(s.runs(run.key()+"."+name), data, 0o644))
		}
		var key bytes.Buffer
		require.NoError(t, sealed.Write(&key, recordFormat, rec))
		require.NoError(t, os.WriteFile(s.runs(run.key()+".json"), key.Bytes(), 0o644))
		r, ok := s.load(run)
		if !ok {
			return
		}
		require.Equal(t, [3]string{string(elbo), string(variance), string(same)},
			[3]string{string(encodeELBO(r)), string(encodeVariance(run, r.Variance)), string(encodeVariance(run, r.Same))})
		newProgress(io.Discard).finished(r)
		_, err := json.Marshal(r.final())
		require.NoError(t, err)
	})
}
