// Where to look next.

package cells

import (
	"container/heap"
	"math"
	"slices"

	"github.com/facetvi/facet/regions"
)

// A lead is a region that may be worth a look, and a point from where to look.
type lead struct {
	z     []float64
	s     regions.Signs
	drawn bool    // the point is one of Settings.Points
	log   float64 // about log r in the region, near the point
	order int
}

// A leadHeap is a heap of leads, with the highest log r first.
type leadHeap []lead

func (l leadHeap) Len() int      { return len(l) }
func (l leadHeap) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l leadHeap) Less(i, j int) bool {
	return l[i].log > l[j].log || l[i].log == l[j].log && l[i].order < l[j].order
}

// Push implements heap.Interface.
func (l *leadHeap) Push(x any) { *l = append(*l, x.(lead)) }

// Pop implements heap.Interface.
func (l *leadHeap) Pop() any {
	n := len(*l) - 1
	x := (*l)[n]
	*l = (*l)[:n]
	return x
}

// A queue has the leads that were not looked at.
type queue struct {
	todo   leadHeap
	asked  map[regions.Signs]bool
	pushed int // leads, ever
}

// ask reports whether a region is one that was not asked for yet.
func (q *queue) ask(s regions.Signs) bool {
	known := q.asked[s]
	q.asked[s] = true
	return !known
}

// push puts a lead in its place.
func (q *queue) push(l lead) {
	q.pushed++
	l.order = q.pushed
	heap.Push(&q.todo, l)
}

// next takes the best n leads.
func (q *queue) next(n int) (list []lead) {
	for range min(n, len(q.todo)) {
		list = append(list, heap.Pop(&q.todo).(lead))
	}
	return list
}

// cellOf is the cell of a lead, without more than its extent.
func (f *finder) cellOf(l lead) (*Cell, error) {
	spans, err := f.spans(l.z, l.s)
	return &Cell{area: area{region: l.s, span: spans}, peak: peak{point: slices.Clone(l.z), drawn: l.drawn}}, err
}

// promise finds log r of leads.
func (f *finder) promise(list []lead) error {
	for part := range slices.Chunk(list, quick) {
		f.x.Spread(part[0].z)
		f.x.Force(part[0].s)
		for k, l := range part {
			for i, v := range l.z {
				f.x.Z[i*quick+k] = v
			}
			for j, sign := range l.s.Floats(nil) {
				f.x.Signs[j*quick+k] = sign
			}
		}
		if err := f.x.Run(); err != nil {
			return err
		}
		for k := range part {
			if part[k].log = f.x.Out[k] - f.away(part[k]); math.IsNaN(part[k].log) {
				part[k].log = math.Inf(-1)
			}
		}
	}
	return nil
}

// away is about how much log r falls on the way from a lead's point to its region, by the scales of the prior.
func (f *finder) away(l lead) (most float64) {
	arr := f.d.Arrangement()
	for k, h := range arr.Planes() {
		if arr.Curve(k) != nil {
			continue
		}
		at, square := h.At(l.z), 0.0
		if at > 0 == l.s.Positive(k) {
			continue
		}
		for j, i := range h.Index {
			square += h.Coef[j] * h.Coef[j] * f.mode.prior[i] * f.mode.prior[i]
		}
		most = max(most, at*at/square/2)
	}
	return most
}
