package mc

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// A Number is a float64 in JSON, to the last bit. JSON has no word for NaN and
// the infinities: they are the strings "NaN", "+Inf" and "-Inf".
type Number float64

// Numbers are float64s in JSON, each as a Number is.
type Numbers []float64

// MarshalJSON implements json.Marshaler.
func (x Number) MarshalJSON() ([]byte, error) {
	if v := float64(x); notInJSON(v) {
		return json.Marshal(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return json.Marshal(float64(x))
}

func notInJSON(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

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
	if !slices.ContainsFunc(v, notInJSON) {
		return json.Marshal([]float64(v))
	}
	list := make([]Number, len(v))
	for i, x := range v {
		list[i] = Number(x)
	}
	return json.Marshal(list)
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
