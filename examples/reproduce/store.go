package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A store keeps results in DIR/runs: the series of a run as KEY.*.csv, and then
// KEY.json, which names their digests. A run is complete if all are there and
// whole, and from the same settings and the same program. Files appear whole or
// not at all.
type store struct {
	dir   string
	build string // digest of the program
}

// A record is KEY.json.
type record struct {
	Run      runSpec           `json:"run"`
	Build    string            `json:"build"`
	Files    map[string]string `json:"files"` // SHA-256 of each
	Theta    []float64         `json:"theta"`
	Diverged int               `json:"diverged,omitempty"`
	Why      string            `json:"why,omitempty"`
	Seconds  float64           `json:"seconds"`
}

const partPrefix = ".part-" // of files that are being written

// openStore makes the directory and clears what a killed program left half
// written. It fails if nothing can be written there.
func openStore(dir string) (*store, error) {
	s := &store{dir: dir}
	if err := os.MkdirAll(s.runs(""), 0o777); err != nil {
		return nil, fmt.Errorf("-out %s: %w", dir, err)
	}
	for _, in := range []string{s.path(""), s.runs("")} {
		probe, err := os.CreateTemp(in, partPrefix)
		if err != nil {
			return nil, fmt.Errorf("-out %s: %w", dir, err)
		}
		probe.Close()
		left, _ := filepath.Glob(filepath.Join(in, partPrefix+"*")) // the pattern is good
		for _, name := range left {
			os.Remove(name)
		}
	}
	var err error
	s.build, err = ownDigest()
	return s, err
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
	data, err := json.MarshalIndent(rec, "", " ")
	if err != nil {
		return fmt.Errorf("%v: %w", r.Run, err)
	}
	return writeFile(s.runs(r.Run.key()+".json"), data)
}

// load returns the run if it is complete, or false.
func (s *store) load(run runSpec) (*result, bool) {
	data, err := os.ReadFile(s.runs(run.key() + ".json"))
	if err != nil {
		return nil, false
	}
	var rec record
	if json.Unmarshal(data, &rec) != nil || rec.Run != run || rec.Build != s.build {
		return nil, false
	}
	r := &result{
		Run: run, Theta: rec.Theta, Diverged: rec.Diverged, Why: rec.Why,
		Elapsed: time.Duration(rec.Seconds * float64(time.Second)),
	}
	for _, f := range r.files() {
		data, err := os.ReadFile(s.runs(run.key() + "." + f.name))
		if err != nil || digest(data) != rec.Files[f.name] || f.decode(r, data) != nil {
			return nil, false
		}
	}
	return r, true
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

// writeFile writes the whole file or nothing.
func writeFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), partPrefix)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
