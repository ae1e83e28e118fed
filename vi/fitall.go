package vi

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"iter"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/internal/saved"
	"github.com/facetvi/facet/vi/internal/watch"
)

// A Fitted is the fit of one of many data sets, or why there is none.
type Fitted struct {
	Key string
	Fit *Posterior
	Err error
}

// ahead is how many data sets for each processor are read before they are needed.
const ahead = 4

// FitAll fits a density to many data sets and yields the fits in the order of sets. Each data set has a key of its own and the
// values that Density.WithData takes. Nothing is compiled again, and as many data sets as there are processors are fitted at
// a time. The fit of a data set does not depend on the others: it is that of Fit with
// Settings.Seed = SeedOf(s.Seed, key). Of a fit that was yielded FitAll keeps the key alone.
//
// An error belongs to one data set and does not stop the others: its data are wrong, its fit has failed or panicked, or its
// key was there before. If the iterator panics, a last Fitted without a key has that as its error. The iterator may fill
// one buffer again and again, for FitAll copies what it yields. It is read from another goroutine, only as far as
// needed, and may be without end. When ctx is done, FitAll ends with a Fitted for each data set that had begun,
// whose error says so.
//
// If s.Checkpoint is set, it is a folder, which is made if there is none. Fits that are
// done are added to one file there, done.fits, and loaded from it when FitAll is called again. A climb is saved on its
// way too, and resumed. A process that is killed loses the fits that it was at, and none that it had yielded; a
// machine that crashes loses the last seconds. It is an error, of each data set, if another FitAll is using the folder, or if
// the file is of another program, by other settings, of another version of facet, or damaged.
//
// s.Progress tells how many fits are done. s.Logger and Climb.OnStep are those of each fit, and are called side by side.
func FitAll(ctx context.Context, d *graph.Density, sets iter.Seq2[string, map[string][]float64], s Settings) iter.Seq[Fitted] {
	return fitMany(ctx, d, sets, s, false)
}

// FitAllAsDone is FitAll, but yields the fits as they are done.
func FitAllAsDone(ctx context.Context, d *graph.Density, sets iter.Seq2[string, map[string][]float64], s Settings) iter.Seq[Fitted] {
	return fitMany(ctx, d, sets, s, true)
}

func fitMany(ctx context.Context, d *graph.Density, sets iter.Seq2[string, map[string][]float64], s Settings, asDone bool) iter.Seq[Fitted] {
	return func(yield func(Fitted) bool) {
		if ctx == nil || d == nil || sets == nil {
			yield(Fitted{Err: errors.New("vi: a nil context, density or iterator of data sets")})
			return
		}
		all, err := newFitAll(d, s)
		defer func() { all.journal.Close() }()
		fits := func(yield func(string, fitting) bool) {
			for key, data := range sets {
				data = cloned(data)
				fit := func(ctx context.Context) (*Posterior, error) {
					if err != nil {
						return nil, err
					}
					return all.fit(ctx, d, key, data)
				}
				if !yield(key, fit) {
					return
				}
			}
		}
		sideBySide(ctx, fits, watch.New(s.Progress, nil, 0), "data sets", asDone, yield)
	}
}

// A fitting is a fit to come.
type fitting func(ctx context.Context) (*Posterior, error)

// sideBySide makes fits, each by a key of its own, on all processors, and yields them.
func sideBySide(ctx context.Context, fits iter.Seq2[string, fitting], progress *watch.Watch, what string, asDone bool, yield func(Fitted) bool) {
	ctx, stop := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	taken := make(chan struct{}, (1+ahead)*workers) // a place for each fit that is not yielded yet
	todo, done := make(chan keyed), make(chan numbered, cap(taken))
	var group sync.WaitGroup
	defer func() {
		stop()
		group.Wait()
		progress.End()
	}()
	group.Go(func() { readFits(ctx, fits, taken, todo, done) })
	for range workers {
		group.Go(func() {
			for x := range todo {
				f := Fitted{Key: x.key}
				if x.again {
					f.Err = errors.New("the key was there before")
				} else {
					f.Fit, f.Err = guarded(ctx, x.fit)
				}
				if f.Err != nil {
					f.Err = fmt.Errorf("vi: %q: %w", x.key, f.Err)
				}
				done <- numbered{x.number, f}
			}
		})
	}
	go func() {
		group.Wait()
		close(done)
	}()
	count, failed := 0, 0
	early := map[int]Fitted{} // fits that are done before earlier ones, by number
	for r := range done {
		if asDone {
			r.number = count
		}
		early[r.number] = r.Fitted
		for f, ok := early[count]; ok; f, ok = early[count] {
			delete(early, count)
			if count++; f.Err != nil {
				failed++
			}
			progress.Soon("%d %s done, %d of them with errors", count, what, failed)
			<-taken
			if !yield(f) {
				return
			}
		}
	}
}

// A keyed fit is to come; a numbered one is done.
type keyed struct {
	number int
	key    string
	fit    fitting
	again  bool // the key was there before
}

type numbered struct {
	number int
	Fitted
}

// readFits reads the iterator until it ends, panics, or ctx is done. taken has a place for each fit in todo or done.
func readFits(ctx context.Context, fits iter.Seq2[string, fitting], taken chan struct{}, todo chan keyed, done chan numbered) {
	known, number := map[string]bool{}, 0
	defer close(todo)
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		select {
		case taken <- struct{}{}:
			done <- numbered{number, Fitted{Err: fmt.Errorf("vi: the iterator of data sets: %w", parallel.Recovered(v))}}
		case <-ctx.Done():
		}
	}()
	for key, fit := range fits {
		select {
		case taken <- struct{}{}:
		case <-ctx.Done():
			return
		}
		select {
		case todo <- keyed{number, key, fit, known[key]}:
		case <-ctx.Done():
			done <- numbered{number, Fitted{Key: key, Err: fmt.Errorf("vi: %q: stopped before its fit: %w", key, cause(ctx))}}
			return
		}
		known[key] = true
		number++
	}
}

// SeedOf is the seed of the fit of one of many data sets.
func SeedOf(seed uint64, key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return parallel.Mix(seed, h.Sum64())
}

// fitAll is what the fits of many data sets have in common.
type fitAll struct {
	s       Settings       // Checkpoint is the folder
	journal *saved.Journal // nil if there is none
}

func newFitAll(d *graph.Density, s Settings) (*fitAll, error) {
	a := &fitAll{s: s}
	a.s.Progress = nil
	if s.Checkpoint == "" {
		return a, nil
	}
	var err error
	a.journal, err = openJournal(s.Checkpoint, d, newJob(d, s))
	return a, err
}

// cloned is a copy of a data set, whose slices an iterator may fill again.
func cloned(data map[string][]float64) map[string][]float64 {
	data = maps.Clone(data)
	for name, x := range data {
		data[name] = slices.Clone(x)
	}
	return data
}

// guarded is a fit, with an error where that panics.
func guarded(ctx context.Context, fit fitting) (p *Posterior, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, parallel.Recovered(v)
		}
	}()
	return fit(ctx)
}

// fit fits d to one data set, or loads its fit.
func (a *fitAll) fit(ctx context.Context, d *graph.Density, key string, data map[string][]float64) (*Posterior, error) {
	d, err := d.WithData(data)
	if err != nil {
		return nil, err
	}
	s := a.s
	s.Seed = SeedOf(s.Seed, key)
	if a.journal == nil {
		return Fit(ctx, d, s)
	}
	s.Checkpoint = ""
	p, err := loadFrom(a.journal, key, d, newJob(d, s))
	if err != nil {
		return nil, err
	}
	if p != nil {
		return p.Resume(ctx)
	}
	if !newJob(d, s).searches { // which are not saved on the way
		s.Checkpoint = filepath.Join(a.s.Checkpoint, url.PathEscape(key)+".fit")
	}
	p, err = resumed(ctx, d, s)
	if p == nil && err == nil {
		p, err = Fit(ctx, d, s)
	}
	if err != nil {
		return p, err
	}
	if err := addTo(a.journal, key, p); err != nil {
		return p, err
	}
	if s.Checkpoint != "" {
		return p, os.Remove(s.Checkpoint)
	}
	return p, nil
}

// resumed goes on with a fit that had begun, in the file s.Checkpoint; nil if there is none.
func resumed(ctx context.Context, d *graph.Density, s Settings) (*Posterior, error) {
	if s.Checkpoint == "" {
		return nil, nil
	}
	file, err := os.Open(s.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := Load(file, d, newJob(d, s).own()...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Checkpoint, err)
	}
	if p.Settings.Seed != s.Seed {
		return nil, fmt.Errorf("%s is a fit with another seed", s.Checkpoint)
	}
	p.Settings.Checkpoint, p.Settings.Logger = s.Checkpoint, s.Logger
	if c, ok := p.Settings.Method.(Climb); ok {
		c.OnStep = newJob(d, s).climb.OnStep
		p.Settings.Method = c
	}
	return p.Resume(ctx)
}
