package vi

import (
	"encoding/json"
	"strconv"
)

// A number is a float64 in JSON, to the last bit. JSON has no word for NaN and
// the infinities: they are the strings "NaN", "+Inf" and "-Inf".
type number float64

type numbers []float64

// MarshalJSON implements json.Marshaler.
func (x number) MarshalJSON() ([]byte, error) {
	if finite(float64(x)) {
		return json.Marshal(float64(x))
	}
	return json.Marshal(strconv.FormatFloat(float64(x), 'g', -1, 64))
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *number) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) != nil {
		return json.Unmarshal(data, (*float64)(x))
	}
	v, err := strconv.ParseFloat(word, 64)
	*x = number(v)
	return err
}

// MarshalJSON implements json.Marshaler.
func (v numbers) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	list := make([]number, len(v))
	for i, x := range v {
		list[i] = number(x)
	}
	return json.Marshal(list)
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *numbers) UnmarshalJSON(data []byte) error {
	var list []number
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*v = nil
	if list != nil {
		*v = make(numbers, len(list))
	}
	for i, x := range list {
		(*v)[i] = float64(x)
	}
	return nil
}

type estimateJSON struct{ Mean, SE number }

// MarshalJSON implements json.Marshaler; NaN and infinities are strings.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(estimateJSON{number(e.Mean), number(e.SE)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var j estimateJSON
	err := json.Unmarshal(data, &j)
	*e = Estimate{float64(j.Mean), float64(j.SE)}
	return err
}

type adamJSON struct {
	StepSize, Beta1, Beta2, Epsilon float64
	T                               int
	M, V                            numbers
}

// MarshalJSON implements json.Marshaler; NaN and infinities are strings.
func (a Adam) MarshalJSON() ([]byte, error) {
	return json.Marshal(adamJSON{a.StepSize, a.Beta1, a.Beta2, a.Epsilon, a.T, a.M, a.V})
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Adam) UnmarshalJSON(data []byte) error {
	var j adamJSON
	err := json.Unmarshal(data, &j)
	*a = Adam{j.StepSize, j.Beta1, j.Beta2, j.Epsilon, j.T, j.M, j.V}
	return err
}
