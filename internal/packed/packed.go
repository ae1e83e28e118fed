// Package packed writes values as bytes, of which none says what it is: whoever reads them knows the type.
//
//	bool, int, byte   a varint
//	float64           its 64 bits: NaN and −0 come back
//	string, slice     the length, −1 of nil, and the elements
//	pointer           −1 of nil, or 1 and what it points to
//	struct            its exported fields, in order
//
// Fields that are interfaces are left out: what they are is another's to say. A type that changes makes
// another format. Seal what is packed: [Read] notices bytes that are missing, and not those that
// have changed.
package packed

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
)

// ErrLength is Read's error for bytes that end within a value.
var ErrLength = errors.New("packed: a value is longer than its bytes")

// Append appends what v points to. It panics if that has a part of another kind.
func Append(b []byte, v any) []byte {
	c := coder{b: b}
	c.value(reflect.ValueOf(v).Elem())
	return c.b
}

// Read sets what v points to to what Append wrote at the beginning of b, and returns the rest of b.
func Read(b []byte, v any) ([]byte, error) {
	c := coder{b: b, reads: true}
	c.value(reflect.ValueOf(v).Elem())
	if c.short {
		return nil, ErrLength
	}
	return c.b, nil
}

// A coder goes through a value and appends its parts to b, or takes them from there.
type coder struct {
	b            []byte
	reads, short bool
}

// next are the next n bytes of b.
func (c *coder) next(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.short, c.b = true, nil
		return nil
	}
	x := c.b[:n]
	c.b = c.b[n:]
	return x
}

// bits takes 64 bits from b, or appends x.
func (c *coder) bits(x uint64) uint64 {
	if !c.reads {
		c.b = binary.LittleEndian.AppendUint64(c.b, x)
	} else if b := c.next(8); b != nil {
		x = binary.LittleEndian.Uint64(b)
	}
	return x
}

// number takes an integer from b, or appends x.
func (c *coder) number(x int64) int64 {
	if !c.reads {
		c.b = binary.AppendVarint(c.b, x)
		return x
	}
	x, n := binary.Varint(c.b)
	if n <= 0 {
		n = -1
	}
	c.next(n)
	return x
}

// length takes that of a list whose elements have a byte or more from b, or appends n; of nil it is −1.
func (c *coder) length(n int, none bool) int {
	if none {
		n = -1
	}
	if n = int(c.number(int64(n))); c.reads && n > len(c.b) {
		c.next(n)
		return -1
	}
	return n
}

func (c *coder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		x := int64(0)
		if v.Bool() {
			x = 1
		}
		if x = c.number(x); c.reads {
			v.SetBool(x == 1)
		}
	case reflect.Int, reflect.Int64:
		if x := c.number(v.Int()); c.reads {
			v.SetInt(x)
		}
	case reflect.Uint8:
		if x := c.number(int64(v.Uint())); c.reads {
			v.SetUint(uint64(x))
		}
	case reflect.Float64:
		if x := c.bits(math.Float64bits(v.Float())); c.reads {
			v.SetFloat(math.Float64frombits(x))
		}
	case reflect.String:
		if n := c.length(v.Len(), false); c.reads {
			v.SetString(string(c.next(n)))
		} else {
			c.b = append(c.b, v.String()...)
		}
	case reflect.Slice:
		n := c.length(v.Len(), v.IsNil())
		if c.reads && n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range max(n, 0) {
			c.value(v.Index(i))
		}
	case reflect.Pointer:
		if c.length(1, v.IsNil()) < 0 {
			return
		}
		if c.reads {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.value(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if kind := f.Kind(); kind == reflect.Struct || f.CanSet() && kind != reflect.Interface {
				c.value(f) // fields of one that is embedded may be exported
			}
		}
	default:
		panic("packed: a value of type " + v.Type().String())
	}
}
