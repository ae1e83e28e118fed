package vi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/safefile"
	"github.com/facetvi/facet/internal/sealed"
	"github.com/facetvi/facet/vi/internal/saved"
)

// lockCheckpoint makes this fit the one writer of the checkpoint, until release
// is called or the process ends. It does nothing if no checkpoint is wanted. It is an error if the file holds
// anything but a fit of d, which would be lost.
func (s *job) lockCheckpoint(d *graph.Density) (release func(), err error) {
	if s.Checkpoint == "" {
		return func() {}, nil
	}
	release, err = safefile.Lock(s.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if err := s.checkReplaced(d); err != nil {
		release()
		return nil, fmt.Errorf("checkpoint: %s is not replaced: %w; remove it, or name another file", s.Checkpoint, err)
	}
	return release, nil
}

// checkReplaced is an error if the checkpoint's file has something else in it than a fit of d.
func (s *job) checkReplaced(d *graph.Density) error {
	file, err := os.Open(s.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 || !info.Mode().IsRegular() { // Replace says what it is
		return err
	}
	var was struct{ Model saved.Model }
	if err := sealed.Read(file, format, int(info.Size()), &was); err != nil {
		return err
	}
	return was.Model.Check(saved.ModelOf(d))
}

// checkpoint writes the checkpoint, if one is wanted: who reads it finds the state
// before or this one, whole.
func (p *Posterior) checkpoint() error {
	if p.Settings.Checkpoint == "" {
		return nil
	}
	if err := safefile.Replace(p.Settings.Checkpoint, p.Save); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}
