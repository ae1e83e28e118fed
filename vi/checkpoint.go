package vi

import (
	"fmt"
	"os"
)

// save writes the checkpoint, if one is wanted.
func (m *monitor) save() error {
	if m.s.Checkpoint == "" {
		return nil
	}
	p, err := assemble(m.d, m.s, m.states)
	if err == nil {
		err = replaceFile(m.s.Checkpoint, p)
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// replaceFile saves the fit beside path and moves it there: whoever reads path
// finds the old fit or the new one, whole.
func replaceFile(path string, p *Posterior) error {
	beside := path + ".new"
	f, err := os.Create(beside)
	if err != nil {
		return err
	}
	err = p.Save(f)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(beside, path)
}
