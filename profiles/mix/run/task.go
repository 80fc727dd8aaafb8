package run

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// task is one client. It belongs to its worker.
type task struct {
	run    *Run
	client model.Client
	// tx is the client where an operation is a transaction; nil: it has none.
	tx    model.Transactor
	tally *tally
	// settled means that nobody writes any more.
	settled bool
	// ending means that what is stored is read back at the end.
	ending bool
	// history keeps what is done to hot records; nil: none is kept.
	history *historian
	ops     []operation

	// seen are the settings that the rest follows: upto are the sums of the weights, hit is
	// the share of gets that ask for what is there.
	seen *workload.Settings
	upto []float64
	hit  float64
	zipf float64

	// last is the record of each data set that the client was about last, -1: none.
	last       []int64
	ordinal    uint32 // of values that nothing follows
	statements int
	timer      *time.Timer
}

// operation is an operation as one client carries it out.
type operation struct {
	*model.Operation
	steps []*step
}

// tickets number calls. Clients take them in blocks.
type tickets struct {
	atomic.Uint64
	_ [56]byte
}

const ticketBlock = 64

func (t *tickets) take() (from, n uint64) {
	return t.Add(ticketBlock) - ticketBlock, ticketBlock
}

// NewTask returns the client of a worker.
func (r *Run) NewTask(worker int) (workload.Task, error) {
	c, err := r.layer.Open()
	if err != nil {
		return nil, err
	}
	k := &task{run: r, client: c, tally: r.tallies.of(), history: r.histories.of(), last: make([]int64, len(r.sets)), ordinal: uint32(mix(uint64(worker))) & datagen.MostOrdinal}
	k.tx, _ = c.(model.Transactor)
	part, number := workload.Op(len(r.work.Operations)), 0
	for i := range r.work.Operations {
		o := operation{Operation: &r.work.Operations[i]}
		for j := range o.Steps {
			at, fill := workload.Op(-1), workload.Op(-1)
			if Parted(o.Operation) && o.Steps[j].Do != model.Think {
				at, part = part, part+1
				if o.Steps[j].Fill {
					fill, part = part, part+1
				}
			}
			o.steps = append(o.steps, newStep(k, &o.Steps[j], number, at, fill))
			number++
		}
		k.ops = append(k.ops, o)
	}
	return k, nil
}

// adopt follows new settings.
func (k *task) adopt(s *workload.Settings) {
	k.seen = s
	k.run.notePayload(s.Payload)
	sum := 0.0
	k.upto = k.upto[:0]
	for i := range k.ops {
		sum += k.run.work.WeightAt(s, i)
		k.upto = append(k.upto, sum)
	}
	k.hit = model.HitAt(s)
	if zipf := model.ZipfAt(s); zipf != k.zipf {
		first := k.zipf == 0
		k.zipf = zipf
		for i := range k.ops {
			for _, st := range k.ops[i].steps {
				if keys, is := Turned(st.Keys.Choice(), zipf); is && !first {
					st.choose(keys)
				}
			}
		}
	}
}

// Turned returns a distribution with another exponent, if it has one.
func Turned(k datagen.Keys, exponent float64) (datagen.Keys, bool) {
	switch k.Kind {
	case datagen.ZipfKeys, datagen.OrderedZipfKeys, datagen.LatestKeys:
		k.Exponent = exponent
		return k, true
	}
	return k, false
}

// number is that of the operation among those of all processes.
func (k *task) number(it *workload.Iteration) uint64 {
	s := &k.run.stake
	n := uint64(it.Seq)*uint64(max(s.Of, 1)) + uint64(s.Process)
	n |= uint64(s.Again&0x7f) << 43
	if it.Warmup {
		n |= 1 << 50
	}
	return n
}

// draw chooses an operation by its weight.
func (k *task) draw(n uint64) int {
	u := unit(mix(n^k.run.seed)) * k.upto[len(k.upto)-1]
	for i, upto := range k.upto {
		if u < upto {
			return i
		}
	}
	return len(k.upto) - 1
}

// Do carries out one operation.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if it.Settings != k.seen {
		k.adopt(it.Settings)
	}
	n := k.number(it)
	at := k.draw(n)
	o := &k.ops[at]
	if it.Step == 0 { // another user
		k.forget()
	}
	x := n * callApart
	o.steps[0].prepare(it, x)
	m := it.Begin(workload.Op(at))
	paused, err := k.carryOut(ctx, it, o, x)
	return it.EndPaused(m, max(o.steps[0].Pipeline, 1), paused, err)
}

// forget makes "same" keys be drawn anew.
func (k *task) forget() {
	for i := range k.last {
		k.last[i] = -1
	}
}

// sleep pauses for so many ns, or until ctx ends.
func (k *task) sleep(ctx context.Context, ns int64) error {
	if ns <= 0 {
		return nil
	}
	if k.timer == nil {
		k.timer = time.NewTimer(time.Duration(ns))
	} else {
		k.timer.Reset(time.Duration(ns))
	}
	select {
	case <-k.timer.C:
		return nil
	case <-ctx.Done():
		k.timer.Stop()
		return ctx.Err()
	}
}

// carryOut carries out the steps of an operation. paused is how long it was thinking.
func (k *task) carryOut(ctx context.Context, it *workload.Iteration, o *operation, x uint64) (paused int64, err error) {
	if o.Atomic {
		return 0, k.transact(ctx, it, o, x)
	}
	for i, s := range o.steps {
		y := x + uint64(i*rowsApart)
		if s.Do == model.Think {
			from := it.Now()
			err = k.sleep(ctx, s.pause.draw(mix(y)))
			paused += it.Now() - from
		} else {
			if i > 0 {
				s.prepare(it, y)
			}
			err = k.step(ctx, it, s, y)
		}
		if err != nil {
			return paused, err
		}
	}
	return paused, nil
}

// step carries out a step that has been prepared.
func (k *task) step(ctx context.Context, it *workload.Iteration, s *step, x uint64) error {
	err := k.call(ctx, it, s, &s.main, s.part)
	switch {
	case err != nil:
	case s.Do == model.Modify:
		s.modified(it, x)
		err = k.call(ctx, it, s, &s.again, -1)
	case s.Fill && s.refill(it, x):
		err = k.call(ctx, it, s, &s.again, s.fill)
	}
	return err
}

// call sends a call, and times it if it is an operation by itself.
func (k *task) call(ctx context.Context, it *workload.Iteration, s *step, p *part, op workload.Op) error {
	if op < 0 {
		return s.finish(p, k.send(ctx, s, p))
	}
	m := it.Begin(op)
	err := it.End(m, 1, k.send(ctx, s, p))
	return s.finish(p, err)
}

// send sends a call, and keeps it in the histories if it is about a hot record.
func (k *task) send(ctx context.Context, s *step, p *part) error {
	if k.history == nil || s.set == nil || !k.history.about(s, p) {
		return k.client.Do(ctx, &p.call)
	}
	from := k.history.Now()
	err := k.client.Do(ctx, &p.call)
	k.history.note(s, p, from, k.history.Now(), err)
	return err
}

// transact carries out the steps as one transaction, and again if the store took it back
// because of another. What they answered is looked at once it is known to hold.
func (k *task) transact(ctx context.Context, it *workload.Iteration, o *operation, x uint64) error {
	for i, s := range o.steps[1:] {
		s.prepare(it, x+uint64((i+1)*rowsApart))
	}
	err := k.attempt(ctx, o)
	for try := 1; try < tries && err != nil && k.run.conn.Classify(err) == store.Conflict; try++ {
		k.tally.again.Add(1)
		err = k.attempt(ctx, o)
	}
	first := err
	for _, s := range o.steps {
		if e := s.finish(&s.main, err); first == nil {
			first = e
		}
	}
	return first
}

// tries is how often a transaction is tried at most.
const tries = 50

// attempt tries a transaction once.
func (k *task) attempt(ctx context.Context, o *operation) error {
	err := k.tx.Begin(ctx)
	if err != nil {
		return err
	}
	for _, s := range o.steps {
		if err = k.client.Do(ctx, &s.main.call); err != nil {
			k.tx.Abort(ctx)
			return err
		}
	}
	return k.tx.Commit(ctx)
}

// Parted reports whether the steps of an operation are timed one by one as well.
func Parted(o *model.Operation) bool {
	n := 0
	for i := range o.Steps {
		if o.Steps[i].Do != model.Think {
			n++
		}
		if o.Steps[i].Fill {
			n++
		}
	}
	return n > 1 && !o.Atomic
}

// Parts returns the names of the steps of an operation that are timed one by one: the verb
// and the data set, and a number where that is not enough.
func Parts(o *model.Operation) []string {
	if !Parted(o) {
		return nil
	}
	var out []string
	seen := map[string]int{}
	add := func(verb, data string) {
		name := o.Name + "-" + verb
		if data != "" {
			name += "-" + data
		}
		seen[name]++
		if n := seen[name]; n > 1 {
			name += "-" + string(rune('0'+n%10))
		}
		out = append(out, name)
	}
	for i := range o.Steps {
		s := &o.Steps[i]
		if s.Do == model.Think {
			continue
		}
		add(string(s.Do), s.Data)
		if s.Fill {
			add("fill", s.Data)
		}
	}
	return out
}
