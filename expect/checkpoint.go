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
	"github.com/facetvi/facet/vi"
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

// state is what a checkpoint has.
type state struct {
	Step   int
	At     mc.Numbers // what the optimiser moves
	Adam   vi.Adam
	Sum    mc.Numbers // of the iterates of the window
	From   int        // the step that it began after
	End    int        // its last one
	Last   mc.Numbers // the average of the window before; nil in the first
	Halved int
	Done   bool
}

// resume locks the file of a checkpoint, and returns what is in it; fresh, if it is not there, or path is empty.
func resume(path string, fresh checkpoint) (c checkpoint, release func(), err error) {
	if path == "" {
		return fresh, func() {}, nil
	}
	if release, err = safefile.Lock(path); err != nil {
		return c, nil, fmt.Errorf("expect: checkpoint: %w", err)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, release, nil
	}
	if err == nil {
		defer f.Close()
		err = sealed.Read(f, checkpointFormat, mostBytes, &c)
	}
	if err == nil && !reflect.DeepEqual(c.Run, fresh.Run) {
		err = errors.New("it is of another program, start, seed or settings: remove it to begin anew")
	}
	if err != nil {
		release()
		return c, nil, fmt.Errorf("expect: checkpoint %s: %w", path, err)
	}
	return c, release, nil
}

// save writes the checkpoint, if there is a path.
func (c checkpoint) save(path string) error {
	if path == "" {
		return nil
	}
	err := safefile.Replace(path, func(w io.Writer) error { return sealed.Write(w, checkpointFormat, c) })
	if err != nil {
		return fmt.Errorf("expect: checkpoint: %w", err)
	}
	return nil
}
