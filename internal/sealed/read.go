package sealed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Why Read does not accept a file. Its errors wrap one of these, unless they are
// the reader's or of package json.
var (
	ErrFormat    = errors.New("of another format")
	ErrTruncated = errors.New("cut off")
	ErrTrailing  = errors.New("something follows its end")
	ErrDamaged   = errors.New("damaged")
	ErrTooLarge  = errors.New("too large")
)

// maxHead bounds the first line, in bytes.
const maxHead = 4096

// Read decodes into v what Write wrote in the same format, and reads r to its
// end. A body of more than limit bytes is an error. Besides what v takes, Read
// takes memory for at most about three times the smaller of the limit and r's
// length. It does not touch v unless the digest is right.
func Read(r io.Reader, format string, limit int, v any) error {
	in := bufio.NewReaderSize(r, maxHead)
	h, err := readHead(in, format)
	if err != nil {
		return err
	}
	if h.Bytes > limit {
		return fmt.Errorf("%w: %d bytes, and the limit is %d", ErrTooLarge, h.Bytes, limit)
	}
	body, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		return err
	}
	if err := h.check(body); err != nil {
		return err
	}
	if h.Format != format {
		return fmt.Errorf("%w: %q, not %q", ErrFormat, h.Format, format)
	}
	return json.Unmarshal(body, v)
}

// readHead reads the first line.
func readHead(in *bufio.Reader, format string) (head, error) {
	var h head
	first, err := in.ReadSlice('\n')
	switch begins := []byte(`{"Format":"`); {
	case err == io.EOF && (bytes.HasPrefix(first, begins) || bytes.HasPrefix(begins, first)):
		return h, fmt.Errorf("%w in its first line", ErrTruncated)
	case err != nil && err != io.EOF && err != bufio.ErrBufferFull:
		return h, err
	}
	if json.Unmarshal(first, &h) == nil && h.Bytes >= 0 {
		if want, _ := line(h); bytes.Equal(first, want) {
			return h, nil
		}
	}
	// One of these is left if one bit has changed.
	if bytes.Contains(first, []byte(`,"Bytes":`)) || bytes.Contains(first, []byte(`,"SHA256":"`)) {
		return h, fmt.Errorf("%w in its first line", ErrDamaged)
	}
	return h, fmt.Errorf("%w: its first line is not that of a %q", ErrFormat, format)
}

// check compares the body with what the head says of it.
func (h head) check(body []byte) error {
	is := headOf(h.Format, body)
	switch {
	case is == h:
		return nil
	case is.SHA256 == h.SHA256:
		return fmt.Errorf("%w in its first line", ErrDamaged) // the body is right
	case is.Bytes < h.Bytes:
		return fmt.Errorf("%w after %d of %d bytes", ErrTruncated, is.Bytes, h.Bytes)
	case is.Bytes > h.Bytes && headOf(h.Format, body[:h.Bytes]) == h:
		return fmt.Errorf("%w, %d bytes", ErrTrailing, h.Bytes)
	}
	return fmt.Errorf("%w: its digest is not that of its first line", ErrDamaged)
}
