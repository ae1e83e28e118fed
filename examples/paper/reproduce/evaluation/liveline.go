package evaluation

import (
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// A liveLine is a line of a terminal that shows one task after another: its
// name, how much of it is done, and its time. One goroutine moves it. Where
// nothing is live, its methods do nothing.
type liveLine struct {
	bar   *mpb.Bar  // nil if nothing is live
	all   *liveLine // of all runs; nil if this is it
	task  atomic.Pointer[task]
	total int
	steps int // taken in this task
}

type task struct {
	name  string
	began time.Time
}

// line adds a live line.
func (p *progress) line() *liveLine {
	l := &liveLine{all: p.all}
	if p.bars == nil {
		return l
	}
	l.task.Store(new(task))
	name := func(decor.Statistics) string { return l.task.Load().name }
	times := func(s decor.Statistics) string {
		return clock(time.Since(l.task.Load().began), int(s.Current), int(s.Total))
	}
	l.bar = p.bars.New(0, mpb.BarStyle(), // 0: it does not end by itself
		mpb.PrependDecorators(decor.Any(name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.CountersNoUnit("%d/%d", decor.WCSyncSpace), decor.Any(times, decor.WCSyncSpace)))
	return l
}

// some is the steps between moves of a line.
const some = 50

// start begins a task of so many steps.
func (l *liveLine) start(name string, steps int) {
	l.total, l.steps = steps, 0
	if l.bar != nil {
		l.task.Store(&task{name, time.Now()})
		l.bar.SetCurrent(0)
		l.bar.SetTotal(int64(steps), false)
	}
}

// step counts a step of the task.
func (l *liveLine) step() {
	if l.steps++; l.steps%some == 0 {
		l.move(some)
	}
}

// finish counts what steps did not: those that a run that diverged never takes.
func (l *liveLine) finish() {
	l.move(l.total - l.steps/some*some)
}

func (l *liveLine) move(steps int) {
	if l.bar != nil {
		l.bar.IncrBy(steps)
		l.all.bar.IncrBy(steps)
	}
}

// rename changes the task's name.
func (l *liveLine) rename(name string) { l.task.Store(&task{name, l.task.Load().began}) }

// close takes the line away.
func (l *liveLine) close() {
	if l.bar != nil {
		l.bar.Abort(true)
	}
}
