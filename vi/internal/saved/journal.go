package saved

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/packed"
	"github.com/facetvi/facet/internal/safefile"
	"github.com/facetvi/facet/internal/sealed"
	"github.com/facetvi/facet/vi/family"
)

// journalFormat names the form of journals and its version: the next one where packed.Append writes a
// record otherwise.
const journalFormat = "facet fits 3"

// JournalName is the name of a journal in its folder.
const JournalName = "done.fits"

// syncEvery is how often a journal is brought to the disk: what a crash of the machine can lose.
const syncEvery = 5 * time.Second

// A Journal is a file of fits with their keys, one after another, as they were done:
//
//	{"Format":"facet fits 3",…}   a journalHead, as package sealed writes it: what all fits have in common
//	{"Model":{…},"Settings":{…}}
//	block, block, …               each a family in JSON, or a record of package packed, in families by number
//
//	block = size of the body, 4 bytes │ CRC of these │ body │ SHA-256 of the digest of what is before and the body
//
// Blocks are added in one write each. What a killed process has left of a block at the
// end is cut off when the file is opened; any other change is an error then.
type Journal struct {
	file    *os.File
	release func()
	at      map[string]place // of the fits that were there
	model   Model
	own     []Named

	mu       sync.Mutex
	end      int64
	digest   [sha256.Size]byte
	synced   time.Time
	families []Family
	numbers  map[family.Family]int
	buffers  sync.Pool // of *[]byte, for blocks
}

// A place is where a record is in a journal.
type place struct {
	from int64
	n    int
}

type journalHead struct {
	Model    Model // without Data
	Settings json.RawMessage
}

// The kinds of bodies, by their first byte.
const (
	familyBlock = 'f'
	recordBlock = 'r'
)

// A recordKey is the beginning of a record.
type recordKey struct {
	Key  string
	Data string // as in Model
}

// A Record is a pointer to a fit, but for what all have in common, that package packed reads and writes.
type Record interface {
	// Each calls visit for all families in the record.
	Each(visit func(*Family) error) error
}

// OpenJournal opens the journal of d's fits by the settings in a folder, or makes one. own are families of the program's own.
func OpenJournal(folder string, d *graph.Density, settings any, own []Named) (j *Journal, err error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	name := filepath.Join(folder, JournalName)
	j = &Journal{at: map[string]place{}, model: ModelOf(d), own: own, numbers: map[family.Family]int{}, synced: time.Now()}
	j.model.Data = ""
	if j.release, err = safefile.Lock(name); err != nil {
		return nil, err
	}
	if j.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		if err = j.open(text); err == nil {
			return j, nil
		}
		j.file.Close()
	}
	j.release()
	return nil, fmt.Errorf("%s: %w", name, err)
}

// Name is that of the file.
func (j *Journal) Name() string { return j.file.Name() }

// open reads what is there, or begins.
func (j *Journal) open(settings json.RawMessage) error {
	in := bufio.NewReaderSize(j.file, 1<<16)
	first, err := in.ReadBytes('\n')
	if err == nil {
		var second []byte
		second, err = in.ReadBytes('\n')
		first = append(first, second...)
	}
	if err != nil && err != io.EOF {
		return err
	}
	var head journalHead
	switch err := sealed.Read(bytes.NewReader(first), journalFormat, mostHead, &head); {
	case errors.Is(err, sealed.ErrTruncated): // or nothing
		var b bytes.Buffer
		if err := sealed.Write(&b, journalFormat, journalHead{j.model, settings}); err != nil {
			return err
		}
		j.end, j.digest = int64(b.Len()), sha256.Sum256(b.Bytes())
		if _, err := j.file.WriteAt(b.Bytes(), 0); err != nil {
			return err
		}
		return j.file.Truncate(j.end)
	case err != nil:
		return err
	}
	if err := head.Model.Check(j.model); err != nil {
		return err
	}
	if err := sameSettings(head.Settings, settings); err != nil {
		return err
	}
	j.end, j.digest = int64(len(first)), sha256.Sum256(first)
	return j.read(in)
}

// mostHead bounds the head of a journal, in bytes.
const mostHead = 1 << 30

// sameSettings reports how the settings of a journal differ from those of now.
func sameSettings(then, now json.RawMessage) error {
	var a, b map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(then, &a), json.Unmarshal(now, &b)); err != nil {
		return err
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(a[name], b[name]) {
			return fmt.Errorf("its fits are by other settings: %s was %s, and is %s", name, orUnset(a[name]), orUnset(b[name]))
		}
	}
	return nil
}

func orUnset(text json.RawMessage) string {
	if text == nil {
		return "not set"
	}
	return string(text)
}

// read finds the records, and reads the families.
func (j *Journal) read(in *bufio.Reader) error {
	var body []byte
	for {
		size, err := readSize(in)
		if err == nil {
			body = slices.Grow(body[:0], size+sha256.Size)[:size+sha256.Size]
			_, err = io.ReadFull(in, body)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF { // in the middle of a block, or at the end
			return j.file.Truncate(j.end)
		}
		if err == nil {
			err = j.block(body[:size], [sha256.Size]byte(body[size:]))
		}
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", j.end, err)
		}
	}
}

// readSize reads the beginning of a block.
func readSize(in io.Reader) (int, error) {
	var b [8]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(b[4:]) != crc32.ChecksumIEEE(b[:4]) {
		return 0, sealed.ErrDamaged
	}
	return int(binary.LittleEndian.Uint32(b[:])), nil
}

// block takes note of the block at the end.
func (j *Journal) block(body []byte, digest [sha256.Size]byte) error {
	if j.digest = j.next(body); j.digest != digest || len(body) == 0 {
		return sealed.ErrDamaged
	}
	rest := body[1:]
	switch body[0] {
	case familyBlock:
		var f Family
		if err := errors.Join(json.Unmarshal(rest, &f), f.Find(j.own)); err != nil {
			return err
		}
		j.numbers[f.Family] = len(j.families)
		j.families = append(j.families, f)
	case recordBlock:
		var k recordKey
		if _, err := packed.Read(rest, &k); err != nil {
			return err
		}
		j.at[k.Key] = place{j.end + blockHead, len(body)}
	}
	j.end += blockHead + int64(len(body)) + sha256.Size
	return nil
}

// blockHead is how many bytes of a block are before its body.
const blockHead = 8

// next is the digest after a block with the body.
func (j *Journal) next(body []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(j.digest[:])
	h.Write(body)
	return [sha256.Size]byte(h.Sum(nil))
}

// write adds a block, whose body is all but the first blockHead bytes of b; the caller has j.mu.
func (j *Journal) write(b []byte) error {
	body := b[blockHead:]
	binary.LittleEndian.PutUint32(b, uint32(len(body)))
	binary.LittleEndian.PutUint32(b[4:], crc32.ChecksumIEEE(b[:4]))
	digest := j.next(body)
	b = append(b, digest[:]...)
	if _, err := j.file.WriteAt(b, j.end); err != nil {
		return err
	}
	j.end, j.digest = j.end+int64(len(b)), digest
	return nil
}

// number gives a family its number.
func (j *Journal) number(f *Family) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, ok := j.numbers[f.Family]
	if !ok {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		if err := j.write(append(append(make([]byte, blockHead), familyBlock), text...)); err != nil {
			return err
		}
		n = len(j.families)
		j.numbers[f.Family] = n
		j.families = append(j.families, *f)
	}
	f.Number = n
	return nil
}

// family is that of the number, for a fit of d.
func (j *Journal) family(f *Family, d *graph.Density) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if f.Number < 0 || f.Number >= len(j.families) {
		return fmt.Errorf("family %d of %d", f.Number, len(j.families))
	}
	known := &j.families[f.Number]
	if f, ok := known.Family.(family.DataFree); ok && known.member == nil {
		q, err := f.New(d)
		if err != nil {
			return err
		}
		known.member = q
	}
	*f = *known
	return nil
}

// Close ends the journal and brings it to the disk; j may be nil.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	err := errors.Join(j.file.Sync(), j.file.Close())
	j.release()
	return err
}

// Load reads the fit of d with the key that was there when the journal was opened into r; it reports whether there was one.
func (j *Journal) Load(key string, d *graph.Density, r Record) (bool, error) {
	x, ok := j.at[key]
	if !ok {
		return false, nil
	}
	body := make([]byte, x.n)
	if _, err := j.file.ReadAt(body, x.from); err != nil {
		return true, err
	}
	var k recordKey
	rest, err := packed.Read(body[1:], &k)
	if err == nil {
		_, err = packed.Read(rest, r)
	}
	if err != nil {
		return true, err
	}
	was, now := j.model, j.model
	was.Data, now.Data = k.Data, DataDigest(d)
	if err := was.Check(now); err != nil {
		return true, err
	}
	return true, r.Each(func(f *Family) error { return j.family(f, d) })
}

// Add adds the fit of d with the key.
func (j *Journal) Add(key string, d *graph.Density, r Record) error {
	if err := r.Each(j.number); err != nil {
		return err
	}
	buffer, ok := j.buffers.Get().(*[]byte)
	if !ok {
		buffer = new([]byte)
	}
	defer j.buffers.Put(buffer)
	b := append(append((*buffer)[:0], make([]byte, blockHead)...), recordBlock)
	b = packed.Append(packed.Append(b, &recordKey{key, DataDigest(d)}), r)
	b = slices.Grow(b, sha256.Size) // of write
	*buffer = b
	j.mu.Lock()
	err := j.write(b)
	due := time.Since(j.synced) > syncEvery
	if due {
		j.synced = time.Now()
	}
	j.mu.Unlock()
	if err == nil && due {
		err = j.file.Sync()
	}
	return err
}
