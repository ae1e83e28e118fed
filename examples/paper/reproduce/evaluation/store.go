package evaluation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/facetvi/facet/internal/safefile"
	"github.com/facetvi/facet/internal/sealed"
)

// A store keeps results in DIR/runs: the series of a run as KEY.*.csv, and then
// KEY.json, which names their digests. A run is complete if all are there and
// whole, and from the same settings and the same program. Files appear whole or
// not at all. One program at a time has the store.
type store struct {
	dir   string
	build string // digest of the program
	close func() // lets the next program have it
}

// A record is KEY.json, in the form of package sealed.
type record struct {
	Run      runSpec           `json:"run"`
	Build    string            `json:"build"`
	Files    map[string]string `json:"files"` // SHA-256 of each
	Theta    []float64         `json:"theta"`
	Diverged int               `json:"diverged,omitempty"`
	Why      string            `json:"why,omitempty"`
	Seconds  float64           `json:"seconds"`
}

const (
	recordFormat = "facet run 1"
	maxRecord    = 1 << 20 // bytes; a record of the paper's models has a few thousand
)

// openStore makes the directory and clears what a killed program left half
// written. It fails if nothing can be written there, or if another program has
// the store.
func openStore(dir string) (*store, error) {
	s := &store{dir: dir}
	err := os.MkdirAll(s.runs(""), 0o777)
	if err == nil {
		s.close, err = safefile.Lock(s.path("reproduce"))
	}
	if err == nil {
		err = s.clear()
	}
	if err != nil {
		return nil, fmt.Errorf("-out %s: %w", dir, err)
	}
	s.build, err = ownDigest()
	return s, err
}

// clear removes parts of files, and one that it makes to see that it can.
func (s *store) clear() error {
	for _, in := range []string{s.path(""), s.runs("")} {
		probe, err := os.CreateTemp(in, safefile.Parts)
		if err != nil {
			return err
		}
		probe.Close()
		left, _ := filepath.Glob(filepath.Join(in, safefile.Parts)) // the pattern is good
		for _, name := range left {
			os.Remove(name)
		}
	}
	return nil
}

func (s *store) path(name string) string { return filepath.Join(s.dir, name) }
func (s *store) runs(name string) string { return filepath.Join(s.dir, "runs", name) }

// ownDigest is that of the running program: other code may give other numbers.
func ownDigest() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// save stores a run.
func (s *store) save(r *result) error {
	rec := record{
		Run: r.Run, Build: s.build, Files: map[string]string{}, Theta: r.Theta,
		Diverged: r.Diverged, Why: r.Why, Seconds: r.Elapsed.Seconds(),
	}
	for _, f := range r.files() {
		name := r.Run.key() + "." + f.name
		data := f.encode(r)
		if err := writeFile(s.runs(name), data); err != nil {
			return err
		}
		rec.Files[f.name] = digest(data)
	}
	return s.record(rec)
}

// record writes KEY.json.
func (s *store) record(rec record) error {
	return safefile.Replace(s.runs(rec.Run.key()+".json"), func(w io.Writer) error {
		return sealed.Write(w, recordFormat, rec)
	})
}

// load returns the run if it is complete, or false.
func (s *store) load(run runSpec) (*result, bool) {
	data, err := os.ReadFile(s.runs(run.key() + ".json"))
	if err != nil {
		return nil, false
	}
	var rec record
	if sealed.Read(bytes.NewReader(data), recordFormat, maxRecord, &rec) != nil || rec.Run != run || rec.Build != s.build {
		return nil, false
	}
	r := &result{
		Run: run, Theta: rec.Theta, Diverged: rec.Diverged, Why: rec.Why,
		Elapsed: time.Duration(rec.Seconds * float64(time.Second)),
	}
	for _, f := range r.files() {
		data, err := os.ReadFile(s.runs(run.key() + "." + f.name))
		if err != nil || digest(data) != rec.Files[f.name] || f.decode(r, data) != nil || !bytes.Equal(f.encode(r), data) {
			return nil, false
		}
	}
	return r, r.complete()
}

// combine writes DIR/elbo.csv and its like: the series of all runs.
func (s *store) combine(results []*result) error {
	for _, f := range seriesFiles {
		var all strings.Builder
		all.WriteString(f.header)
		for _, r := range results {
			if f.of(r.Run) {
				all.WriteString(string(f.encode(r))[len(f.header):])
			}
		}
		if err := writeFile(s.path(f.name), []byte(all.String())); err != nil {
			return err
		}
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func writeFile(name string, data []byte) error {
	return safefile.Replace(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
