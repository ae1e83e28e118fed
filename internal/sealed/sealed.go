package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
)

// A head is the first line.
type head struct {
	Format string
	Bytes  int    // of the body
	SHA256 string // of format and body
}

// headOf is the head of a body.
func headOf(format string, body []byte) head {
	h := sha256.New()
	io.WriteString(h, format+"\n")
	h.Write(body)
	return head{format, len(body), hex.EncodeToString(h.Sum(nil))}
}

// line is v in JSON, with one newline, at the end.
func line(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// Write writes v to w as JSON. The format is a name with a version, such as
// "facet fit 4".
func Write(w io.Writer, format string, v any) error {
	body, err := line(v)
	if err != nil {
		return err
	}
	first, err := line(headOf(format, body))
	if err != nil {
		return err
	}
	_, err = w.Write(append(first, body...))
	return err
}
