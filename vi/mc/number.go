package mc

import (
	"encoding/json"
	"math"
	"strconv"
)

// A Number is a float64 in JSON, to the last bit. JSON has no word for NaN and
// the infinities: they are the strings "NaN", "+Inf" and "-Inf".
type Number float64

// Numbers are float64s in JSON, each as a Number is.
type Numbers []float64

// MarshalJSON implements json.Marshaler.
func (x Number) MarshalJSON() ([]byte, error) {
	return appendJSON(make([]byte, 0, 24), float64(x)), nil
}

// appendJSON appends x, a float64 as json.Marshal writes it.
func appendJSON(b []byte, x float64) []byte {
	switch abs := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return append(strconv.AppendFloat(append(b, '"'), x, 'g', -1, 64), '"')
	case abs == 0 || abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(b, x, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, x, 'e', -1, 64)
	if n := len(b); b[n-4] == 'e' && b[n-2] == '0' { // e-09 is e-9
		b = append(b[:n-2], b[n-1])
	}
	return b
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *Number) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) != nil {
		return json.Unmarshal(data, (*float64)(x))
	}
	v, err := strconv.ParseFloat(word, 64)
	*x = Number(v)
	return err
}

// MarshalJSON implements json.Marshaler.
func (v Numbers) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	b := append(make([]byte, 0, 2+20*len(v)), '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, x)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *Numbers) UnmarshalJSON(data []byte) error {
	var list []Number
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*v = nil
	if list != nil {
		*v = make(Numbers, len(list))
	}
	for i, x := range list {
		(*v)[i] = float64(x)
	}
	return nil
}
