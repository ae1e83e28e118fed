package vi

import (
	"fmt"

	"github.com/facetvi/facet/internal/safefile"
)

// lockCheckpoint makes this fit the one writer of the checkpoint, until release
// is called or the process ends. It does nothing if no checkpoint is wanted.
func (s *job) lockCheckpoint() (release func(), err error) {
	if s.Checkpoint == "" {
		return func() {}, nil
	}
	release, err = safefile.Lock(s.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return release, nil
}

// save writes the checkpoint, if one is wanted.
func (m *monitor) save() error {
	if m.s.Checkpoint == "" {
		return nil
	}
	p, err := assemble(m.d, m.s, m.states)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return p.checkpoint()
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
