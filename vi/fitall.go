package vi

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/mc"
)

// A Fitted is the fit of one of many data sets, or why there is none.
type Fitted struct {
	Key string
	Fit *Posterior
	Err error
}

// ahead is how many data sets for each processor are taken before the first of them is done.
const ahead = 4

// FitAll fits a density to many data sets, each with a key of its own and the values that
// Density.WithData takes, and yields the fits in the order of sets. Nothing is compiled again.
// As many data sets as there are processors are fitted at a time. The fit of a data set does not
// depend on the others: it is that of Fit with Settings.Seed = SeedOf(s.Seed, key).
//
// An error is that of one data set, and no reason to stop: of its data, its fit, a key that was
// there before. When ctx is done, FitAll ends with a Fitted for each data set that had
// begun, whose error says so. The iterator is read from another goroutine, and not beyond
// what is needed: it may be without end.
//
// If s.Checkpoint is set, it is a folder, which is made if there is none: each fit is
// saved there as it gets on, and what is there already is loaded, and resumed if it is not done. s.Progress
// tells how many are done; s.Logger and s.OnStep are those of each fit, and called side by
// side.
func FitAll(ctx context.Context, d *graph.Density, sets iter.Seq2[string, map[string][]float64], s Settings) iter.Seq[Fitted] {
	return func(yield func(Fitted) bool) {
		type set struct {
			key   string
			data  map[string][]float64
			again bool
			fit   chan Fitted
		}
		ctx, stop := context.WithCancel(ctx)
		workers := runtime.GOMAXPROCS(0)
		todo, order := make(chan set), make(chan set, ahead*workers)
		var group sync.WaitGroup
		defer group.Wait()
		defer stop()
		group.Go(func() {
			defer close(order)
			defer close(todo)
			known := map[string]bool{}
			for key, data := range sets {
				x := set{key, data, known[key], make(chan Fitted, 1)}
				known[key] = true
				select {
				case order <- x:
				case <-ctx.Done():
					return
				}
				select {
				case todo <- x:
				case <-ctx.Done():
					x.fit <- Fitted{Key: key, Err: fmt.Errorf("vi: %q: stopped before its fit: %w", key, cause(ctx))}
					return
				}
			}
		})
		for range workers {
			group.Go(func() {
				for x := range todo {
					f := Fitted{Key: x.key}
					if x.again {
						f.Err = errors.New("the key was there before")
					} else {
						f.Fit, f.Err = fitOne(ctx, d, x.key, x.data, s)
					}
					if f.Err != nil {
						f.Err = fmt.Errorf("vi: %q: %w", x.key, f.Err)
					}
					x.fit <- f
				}
			})
		}
		done, failed := 0, 0
		progress := newProgress(s)
		for x := range order {
			f := <-x.fit
			if done++; f.Err != nil {
				failed++
			}
			if progress != nil {
				progress.soon(fmt.Sprintf("%d data sets done, %d of them with errors", done, failed))
			}
			if !yield(f) {
				return
			}
		}
	}
}

// SeedOf is the seed of the fit of one of many data sets.
func SeedOf(seed uint64, key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return mc.Mix(seed, h.Sum64())
}

// fitOne fits d to one data set, or loads its fit.
func fitOne(ctx context.Context, d *graph.Density, key string, data map[string][]float64, s Settings) (*Posterior, error) {
	d, err := d.WithData(data)
	if err != nil {
		return nil, err
	}
	s.Seed, s.Progress = SeedOf(s.Seed, key), nil
	if s.Checkpoint == "" {
		return Fit(ctx, d, s)
	}
	if err := os.MkdirAll(s.Checkpoint, 0o777); err != nil {
		return nil, err
	}
	s.Checkpoint = filepath.Join(s.Checkpoint, url.PathEscape(key)+".fit")
	file, err := os.Open(s.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return Fit(ctx, d, s)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := Load(file, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Checkpoint, err)
	}
	if p.Settings.Seed != s.Seed {
		return nil, fmt.Errorf("%s is a fit with another seed", s.Checkpoint)
	}
	p.Settings.Checkpoint, p.Settings.Logger, p.Settings.OnStep = s.Checkpoint, s.Logger, s.OnStep
	return p.Resume(ctx)
}
