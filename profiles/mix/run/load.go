package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// loadRows and loadBytes are how much is written in one call at most.
const (
	loadRows  = 100
	loadBytes = 1 << 20
)

// loader gives out what is to be loaded. It is safe for use by several goroutines.
type loader struct {
	r     *Run
	parts []loadPart
	all   int64
	done  atomic.Int64
	// next is the number of the next record, counted through all parts.
	next atomic.Int64
	from int64 // this process's stretch of all, with to excluded
	to   int64
}

// loadPart is what is to be loaded of a data set: the records from first on.
type loadPart struct {
	set   *set
	first int64
	n     int64
	rows  int64
}

// perCall is how many records of a data set are written in one call, where values have a payload or,
// at 0, the workload's sizes.
func perCall(d *model.Data, payload int) int64 {
	most := int64(payload)
	if payload == 0 {
		most = max(d.Size.Most(), 1)
	}
	bytes := max(int64(d.Columns())*most*max(d.Length.Most(), 1), 1)
	return max(min(loadRows, loadBytes/bytes), 1)
}

// LoadRows is how many records one call of a load writes at most, for pacing.
func LoadRows(w *model.Workload, payload int) int {
	most := int64(1)
	for i := range w.Data {
		if w.Data[i].Records > 0 {
			most = max(most, perCall(&w.Data[i], payload))
		}
	}
	return int(most)
}

func newLoader(r *Run) *loader { return &loader{r: r} }

// begin finds out what is to be loaded: of each data set, all but so many records, which
// are there.
func (l *loader) begin(there []int64) {
	l.parts, l.all = nil, 0
	for i, s := range l.r.sets {
		if !s.loads() {
			continue
		}
		if n := s.Records - there[i]; n > 0 {
			l.parts = append(l.parts, loadPart{s, there[i], n, perCall(s.Data, l.r.spec.Payload)})
			l.all += n
		}
	}
	k, of := int64(l.r.stake.Process), int64(max(l.r.stake.Of, 1))
	l.from, l.to = l.all*k/of, l.all*(k+1)/of
	l.next.Store(l.from)
}

// take gives out the next records; n is 0 when there are none left.
func (l *loader) take(wrap bool) (p *loadPart, first, n int64) {
	for {
		at := l.next.Load()
		if at >= l.to {
			if !wrap || l.from == l.to || !l.next.CompareAndSwap(at, l.from) {
				if !wrap || l.from == l.to {
					return nil, 0, 0
				}
			}
			continue
		}
		off := at
		i := 0
		for off >= l.parts[i].n {
			off -= l.parts[i].n
			i++
		}
		p = &l.parts[i]
		n = min(p.rows, p.n-off, l.to-at)
		if l.next.CompareAndSwap(at, at+n) {
			return p, p.first + off, n
		}
	}
}

// loading is one client that loads. It belongs to one goroutine.
type loading struct {
	l      *loader
	client model.Client
	call   model.Call
	draw   [][]number // of each data set, for each field
	length []number
}

func (l *loader) open() (*loading, error) {
	c, err := l.r.layer.Open()
	if err != nil {
		return nil, err
	}
	k := &loading{l: l, client: c}
	for _, s := range l.r.sets {
		var sizes []number
		for i := range s.columns {
			sizes = append(sizes, numberOf(s.Field(i)))
		}
		k.draw, k.length = append(k.draw, sizes), append(k.length, numberOf(s.Length))
	}
	return k, nil
}

// write writes n records of a part.
func (k *loading) write(ctx context.Context, p *loadPart, first, n int64, payload int) error {
	c := &k.call
	c.Set, c.Fields, c.By, c.Do, c.Rows = p.set.at, nil, 0, model.Put, c.Rows[:0]
	if p.set.TTL.Given() {
		ttl := numberOf(p.set.TTL)
		c.TTL = ttl.draw(mix(uint64(first)))
	}
	elements := false
	switch p.set.Type {
	case model.List:
		c.Do, elements = model.Push, true
	case model.Set, model.Sorted:
		c.Do, elements = model.Include, true
	case model.Stream:
		c.Do, elements = model.Append, true
	}
	for i := first; i < first+n; i++ {
		if !elements {
			k.record(p.set, i, payload)
			continue
		}
		x := mix(uint64(i) ^ k.l.r.seed)
		for j := range k.length[p.set.at].draw(x) {
			k.element(p.set, i, j, mix(x+uint64(j)), payload)
		}
		if len(c.Rows) >= loadRows {
			if err := k.client.Do(ctx, c); err != nil {
				return err
			}
			c.Rows = c.Rows[:0]
		}
	}
	if len(c.Rows) == 0 {
		return nil
	}
	return k.client.Do(ctx, c)
}

// add adds a row to the call.
func (k *loading) add(s *set, record int64, vals int) *model.Row {
	k.call.Rows = room(k.call.Rows, len(k.call.Rows)+1)
	to := &k.call.Rows[len(k.call.Rows)-1]
	to.Key, to.Vals = s.Key.Append(to.Key[:0], record), room(to.Vals, vals)
	return to
}

// record adds a whole record.
func (k *loading) record(s *set, record int64, payload int) {
	to := k.add(s, record, s.columns)
	if s.Type == model.Counter {
		to.Vals[0] = fmt.Append(to.Vals[0][:0], s.Start)
		return
	}
	for f := range s.columns {
		n := payload
		if n == 0 {
			n = int(k.draw[s.at][f].draw(mix(uint64(record)<<8 ^ uint64(f) ^ k.l.r.seed)))
		}
		to.Vals[f] = s.append(to.Vals[f][:0], owner(to.Key, f), 0, n)
	}
}

// element adds an element of a record.
func (k *loading) element(s *set, record, j int64, x uint64, payload int) {
	to := k.add(s, record, 1)
	if s.Type == model.Set || s.Type == model.Sorted {
		to.Vals[0] = appendMember(to.Vals[0][:0], j)
		k.call.By = below(x, mostScore)
		return
	}
	if payload == 0 {
		payload = int(k.draw[s.at][0].draw(x))
	}
	to.Vals[0] = s.append(to.Vals[0][:0], owner(to.Key, 0), 0, payload)
}

// run loads all there is with so many clients.
func (l *loader) run(ctx context.Context, clients, payload int, progress func(done, total int64)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var first error
	for range clients {
		all.Go(fault.Guarded(func() {
			err := l.one(ctx, payload, progress)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
				first = err
			}
			if err != nil {
				cancel()
			}
		}))
	}
	all.Wait()
	return first
}

func (l *loader) one(ctx context.Context, payload int, progress func(done, total int64)) error {
	k, err := l.open()
	if err != nil {
		return err
	}
	defer k.client.Close()
	for {
		p, first, n := l.take(false)
		if n == 0 {
			return nil
		}
		if err := k.write(ctx, p, first, n, payload); err != nil {
			return fault.Code(fmt.Errorf("load %s: %w", p.set.Name, err), fault.CodeStore)
		}
		progress(l.done.Add(n), l.all)
	}
}

// newTask returns a worker that loads, as measured work.
func (l *loader) newTask(int) (workload.Task, error) {
	k, err := l.open()
	if err != nil {
		return nil, err
	}
	return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
		p, first, n := l.take(l.r.spec.Wrap || it.Warmup)
		if n == 0 {
			return workload.ErrDone
		}
		l.r.notePayload(it.Settings.Payload)
		m := it.Begin(0)
		err := it.End(m, int(n), k.write(ctx, p, first, n, it.Settings.Payload))
		if err == nil {
			l.done.Add(n)
		}
		return err
	}), nil
}
