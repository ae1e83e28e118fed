package draws

import (
	"regexp"
	"strconv"
	"strings"
)

// An array is an array of latents: theta[0], theta[1], … or w[0,0], w[0,1], ….
type array struct {
	name string
	// dims are its lengths; none if it is a single latent.
	dims []int
	// columns holds the number of each element among all the names, the last
	// index varying fastest.
	columns []int
}

var elementName = regexp.MustCompile(`^(.+)\[([0-9]+(?:,[0-9]+)*)\]$`)

// arraysOf groups names, in order of their first element. Names are an array
// if they fill a box of consecutive indices, each once, whatever the first index;
// others stay single, with their brackets.
func arraysOf(names []string) []array {
	type element struct {
		column int
		index  []int
	}
	elements := map[string][]element{}
	plain := map[string]bool{}
	base := make([]string, len(names))
	for i, name := range names {
		m := elementName.FindStringSubmatch(name)
		if m == nil {
			plain[name] = true
			continue
		}
		var index []int
		for _, s := range strings.Split(m[2], ",") {
			k, err := strconv.Atoi(s)
			if err != nil { // too large for an int
				index = nil
				break
			}
			index = append(index, k)
		}
		base[i] = m[1]
		elements[m[1]] = append(elements[m[1]], element{i, index})
	}
	arrays := map[string]array{}
	for name, es := range elements {
		if plain[name] {
			continue
		}
		index := make([][]int, len(es))
		for k, e := range es {
			index[k] = e.index
		}
		dims, order := box(index)
		if dims == nil {
			continue
		}
		f := array{name: name, dims: dims}
		for _, k := range order {
			f.columns = append(f.columns, es[k].column)
		}
		arrays[name] = f
	}
	var out []array
	for i, name := range names {
		f, ok := arrays[base[i]]
		switch {
		case !ok:
			out = append(out, array{name: name, columns: []int{i}})
		case elements[base[i]][0].column == i:
			out = append(out, f)
		}
	}
	return out
}

// box returns the lengths of the box that index fills and the order of its
// elements, the last index varying fastest; nil if index fills none.
func box(index [][]int) (dims, order []int) {
	rank := len(index[0])
	low, high := append([]int(nil), index[0]...), append([]int(nil), index[0]...)
	for _, x := range index {
		if len(x) != rank || rank == 0 {
			return nil, nil
		}
		for k := range x {
			low[k], high[k] = min(low[k], x[k]), max(high[k], x[k])
		}
	}
	size := 1
	for k := range rank {
		n := high[k] - low[k] + 1
		if n > len(index) { // also keeps the product from overflowing
			return nil, nil
		}
		dims = append(dims, n)
		size *= n
		if size > len(index) {
			return nil, nil
		}
	}
	if size != len(index) {
		return nil, nil
	}
	order = make([]int, size)
	for k := range order {
		order[k] = -1
	}
	for j, x := range index {
		at := 0
		for k := range x {
			at = at*dims[k] + x[k] - low[k]
		}
		if order[at] >= 0 { // x[1] and x[01]
			return nil, nil
		}
		order[at] = j
	}
	return dims, order
}

// subscripts writes the index of element k, counted from 1: "2,1".
func (f array) subscripts(k int, separator string) string {
	s := make([]string, len(f.dims))
	for j := len(f.dims) - 1; j >= 0; j-- {
		s[j] = strconv.Itoa(k%f.dims[j] + 1)
		k /= f.dims[j]
	}
	return strings.Join(s, separator)
}

// columnMajor lists the elements with the first index varying fastest, as Stan
// orders them.
func (f array) columnMajor() []int {
	out := []int{0}
	for _, n := range f.dims {
		var next []int
		for i := range n {
			for _, k := range out {
				next = append(next, k*n+i)
			}
		}
		out = next
	}
	return out
}
