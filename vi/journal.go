package vi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/safefile"
)

// A journal is a file of fits with their keys, one after another, as they were done:
//
//	{"Key":"north","Bytes":2817}
//	…                              as Save writes it
//
// Records are added in one write each. What a killed process has left of a record at the
// end is cut off when the file is opened.
type journal struct {
	file    *os.File
	release func()
	mu      sync.Mutex
	end     int64
	at      map[string]place
}

// A place is where a fit is in a journal.
type place struct {
	from int64
	n    int
}

type journalHead struct {
	Key   string
	Bytes int
}

// openJournal opens the journal in a folder, or makes one.
func openJournal(folder string) (j *journal, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	name := filepath.Join(folder, "done.fits")
	j = &journal{at: map[string]place{}}
	if j.release, err = safefile.Lock(name); err != nil {
		return nil, err
	}
	if j.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		if err = j.read(); err == nil {
			return j, nil
		}
		j.file.Close()
	}
	j.release()
	return nil, fmt.Errorf("%s: %w", name, err)
}

// read finds the records.
func (j *journal) read() error {
	in := bufio.NewReaderSize(j.file, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break // in the middle of a head, or at the end
		}
		var h journalHead
		if err == nil {
			err = json.Unmarshal(line, &h)
		}
		if err == nil && h.Bytes < 0 {
			err = errors.New("a record of a negative length")
		}
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", j.end, err)
		}
		if n, err := in.Discard(h.Bytes); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("after %d bytes: %w", j.end+int64(n), err)
		}
		from := j.end + int64(len(line))
		j.at[h.Key], j.end = place{from, h.Bytes}, from+int64(h.Bytes)
	}
	return j.file.Truncate(j.end)
}

// close ends the journal and brings it to the disk; j may be nil.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	err := errors.Join(j.file.Sync(), j.file.Close())
	j.release()
	return err
}

// load is the fit with the key, or nil.
func (j *journal) load(key string, d *graph.Density) (*Posterior, error) {
	j.mu.Lock()
	x, ok := j.at[key]
	j.mu.Unlock()
	if !ok {
		return nil, nil
	}
	p, err := Load(io.NewSectionReader(j.file, x.from, int64(x.n)), d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.file.Name(), err)
	}
	return p, nil
}

// add adds the fit with the key.
func (j *journal) add(key string, p *Posterior) error {
	var body bytes.Buffer
	if err := p.Save(&body); err != nil {
		return err
	}
	record, err := json.Marshal(journalHead{key, body.Len()})
	if err != nil {
		return err
	}
	record = append(record, '\n')
	head := len(record)
	record = append(record, body.Bytes()...)
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.WriteAt(record, j.end); err != nil {
		return err
	}
	j.at[key] = place{j.end + int64(head), body.Len()}
	j.end += int64(len(record))
	return nil
}
