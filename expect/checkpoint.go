package expect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"

	"github.com/facetvi/facet/internal/safefile"
	"github.com/facetvi/facet/internal/sealed"
	"github.com/facetvi/facet/vi/mc"
)

const (
	checkpointFormat = "facet expectation 1"
	mostBytes        = 1 << 28
)

// A checkpoint is a file's content.
type checkpoint struct {
	Run   run
	State state
}

// A run is what two runs must have in common for one to go on where the other ended.
type run struct {
	Program                   string // its fingerprint
	Seed                      uint64
	Samples                   int
	Sign, StepSize, Tolerance float64
	Start                     mc.Numbers
}

// resume locks the checkpoint, if one is wanted, and goes on from it, if it is there.
func (a *ascent) resume(e *Expectation) (release func(), err error) {
	a.run = run{e.d.Fingerprint(), a.s.Seed, a.s.Samples, a.sign, a.s.StepSize, a.s.Tolerance, mc.Numbers(e.coord)}
	if a.s.Checkpoint == "" {
		return func() {}, nil
	}
	if release, err = safefile.Lock(a.s.Checkpoint); err != nil {
		return nil, fmt.Errorf("expect: checkpoint: %w", err)
	}
	f, err := os.Open(a.s.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return release, nil
	}
	var c checkpoint
	if err == nil {
		defer f.Close()
		err = sealed.Read(f, checkpointFormat, mostBytes, &c)
	}
	if err == nil && !reflect.DeepEqual(c.Run, a.run) {
		err = errors.New("it is of another program, start, seed or settings: remove it to begin anew")
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("expect: checkpoint %s: %w", a.s.Checkpoint, err)
	}
	a.state = c.State
	return release, nil
}

// save writes the checkpoint, if one is wanted.
func (a *ascent) save() error {
	if a.s.Checkpoint == "" {
		return nil
	}
	err := safefile.Replace(a.s.Checkpoint, func(w io.Writer) error {
		return sealed.Write(w, checkpointFormat, checkpoint{a.run, a.state})
	})
	if err != nil {
		return fmt.Errorf("expect: checkpoint: %w", err)
	}
	return nil
}
