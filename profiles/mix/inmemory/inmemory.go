// Package inmemory keeps the data of a workload in maps of this process, or nowhere.
package inmemory

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// memory is what all clients share. It is safe for use by several goroutines.
type memory struct {
	serve func(context.Context) error
	mu    sync.RWMutex
	sets  []*set
}

// set is a data set: its records, and their keys in order.
type set struct {
	*model.Data
	records map[string]*record
	keys    []string
}

// record has values, a number, or elements; the scores of these are in the same order.
type record struct {
	vals     [][]byte
	number   int64
	elements [][]byte
	scores   []int64
	until    time.Time
}

// New returns the data of a workload; if nothing is set, nothing is kept. serve is called for each
// call.
func New(w *model.Workload, nothing bool, serve func(context.Context) error) *model.Adapter {
	if nothing {
		return &model.Adapter{Lacks: lacks, Open: func() (model.Client, error) { return null{serve}, nil }}
	}
	m := &memory{serve: serve}
	for i := range w.Data {
		m.sets = append(m.sets, &set{Data: &w.Data[i], records: map[string]*record{}})
	}
	return &model.Adapter{Lacks: lacks, Open: func() (model.Client, error) { return &client{m: m}, nil }}
}

func lacks(_ *model.Operation, st *model.Step, _ *model.Data) error {
	if st.Do == model.Statement {
		return fault.Hint(errStatement, "use get, put, insert, update, add, delete, scan or a call on lists, sets, sorted sets and streams")
	}
	return nil
}

const errStatement = failure("memory of this process has no statements of its own")

type failure string

// Error says it.
func (f failure) Error() string { return string(f) }

// null does nothing, and finds what it is asked for, without values.
type null struct{ serve func(context.Context) error }

// Do does nothing.
func (n null) Do(ctx context.Context, c *model.Call) error {
	if err := n.serve(ctx); err != nil {
		return err
	}
	for i := range c.Rows {
		c.Rows[i].Found, c.Rows[i].Vals = true, c.Rows[i].Vals[:0]
	}
	c.Got = c.Got[:0]
	return nil
}

// Close does nothing.
func (null) Close() {}

// Begin, Commit and Abort do nothing.
func (null) Begin(context.Context) error  { return nil }
func (null) Commit(context.Context) error { return nil }
func (null) Abort(context.Context)        {}

// client is one client. A transaction holds the lock of all there is.
type client struct {
	m    *memory
	open bool
	undo []func()
}

// Close does nothing.
func (c *client) Close() {}

// Begin locks all there is.
func (c *client) Begin(context.Context) error {
	c.m.mu.Lock()
	c.open = true
	return nil
}

// Commit ends a transaction.
func (c *client) Commit(context.Context) error {
	c.open, c.undo = false, c.undo[:0]
	c.m.mu.Unlock()
	return nil
}

// Abort takes back what a transaction did.
func (c *client) Abort(context.Context) {
	for _, undo := range slices.Backward(c.undo) {
		undo()
	}
	c.open, c.undo = false, c.undo[:0]
	c.m.mu.Unlock()
}

// Do carries out a call.
func (c *client) Do(ctx context.Context, call *model.Call) error {
	if err := c.m.serve(ctx); err != nil {
		return err
	}
	s := c.m.sets[call.Set]
	call.Buf, call.Got = call.Buf[:0], call.Got[:0]
	switch call.Do {
	case model.Get, model.Scan, model.Range, model.Has, model.Members:
		if !c.open {
			c.m.mu.RLock()
			defer c.m.mu.RUnlock()
		}
	default:
		if !c.open {
			c.m.mu.Lock()
			defer c.m.mu.Unlock()
		}
	}
	if call.Do == model.Scan {
		s.scan(call)
		return nil
	}
	for i := range call.Rows {
		c.row(s, call, &call.Rows[i])
	}
	return nil
}

// row carries out a call on one record.
func (c *client) row(s *set, call *model.Call, row *model.Row) {
	r := s.at(row.Key)
	row.Found = r != nil
	switch call.Do {
	case model.Get:
		if r != nil {
			s.get(r, call, row)
		}
	case model.Put, model.Insert, model.Update:
		c.remember(s, row.Key, r)
		s.put(call, row, r)
	case model.Add:
		c.remember(s, row.Key, r)
		if r == nil {
			r = s.make(row.Key)
		}
		r.number += call.By
		call.N = r.number
	case model.Delete:
		c.remember(s, row.Key, r)
		s.remove(string(row.Key))
	default:
		s.elements(call, row, r)
	}
}

// remember notes how a record was, where it may be taken back.
func (c *client) remember(s *set, key []byte, was *record) {
	if !c.open {
		return
	}
	k := string(key)
	var old *record
	if was != nil {
		old = &record{vals: slices.Clone(was.vals), number: was.number, until: was.until}
	}
	c.undo = append(c.undo, func() {
		if old == nil {
			s.remove(k)
			return
		}
		*s.make([]byte(k)) = *old
	})
}

// at returns a record; nil: it is not there, or has expired.
func (s *set) at(key []byte) *record {
	r := s.records[string(key)]
	if r != nil && !r.until.IsZero() && time.Now().After(r.until) {
		return nil
	}
	return r
}

// make returns a record, which is made if it is not there.
func (s *set) make(key []byte) *record {
	k := string(key)
	r := s.records[k]
	if r == nil {
		r = &record{}
		s.records[k] = r
		if at, there := slices.BinarySearch(s.keys, k); !there {
			s.keys = slices.Insert(s.keys, at, k)
		}
	}
	return r
}

func (s *set) remove(key string) {
	delete(s.records, key)
	if at, there := slices.BinarySearch(s.keys, key); there {
		s.keys = slices.Delete(s.keys, at, at+1)
	}
}

// get answers with the values of a record.
func (s *set) get(r *record, call *model.Call, row *model.Row) {
	row.Vals = row.Vals[:0]
	add := func(val []byte) {
		from := len(call.Buf)
		call.Buf = append(call.Buf, val...)
		row.Vals = append(row.Vals, call.Buf[from:])
	}
	switch {
	case s.Type == model.Counter:
		add(strconv.AppendInt(nil, r.number, 10))
	case call.Fields == nil:
		for _, val := range r.vals {
			add(val)
		}
	default:
		for _, f := range call.Fields {
			if f < len(r.vals) {
				add(r.vals[f])
			}
		}
	}
}

// put writes a record, or some fields of it.
func (s *set) put(call *model.Call, row *model.Row, r *record) {
	if call.Do == model.Update && r == nil {
		return
	}
	if r == nil {
		s.remove(string(row.Key)) // it has expired
	}
	r = s.make(row.Key)
	r.until = time.Time{}
	if call.TTL > 0 {
		r.until = time.Now().Add(time.Duration(call.TTL))
	}
	if s.Type == model.Counter {
		r.number, _ = strconv.ParseInt(string(row.Vals[0]), 10, 64) // of ours
		return
	}
	for len(r.vals) < s.Columns() {
		r.vals = append(r.vals, nil)
	}
	for i, val := range row.Vals {
		f := i
		if call.Fields != nil {
			f = call.Fields[i]
		}
		r.vals[f] = slices.Clone(val)
	}
}

// scan answers with the records from a key on.
func (s *set) scan(call *model.Call) {
	at, _ := slices.BinarySearch(s.keys, string(call.Rows[0].Key))
	for ; at < len(s.keys) && len(call.Got) < call.Count; at++ {
		r := s.at([]byte(s.keys[at]))
		if r == nil {
			continue
		}
		n := len(call.Got)
		if n == cap(call.Got) {
			call.Got = append(call.Got, model.Row{})
		}
		call.Got = call.Got[:n+1]
		got := &call.Got[n]
		got.Key, got.Found = append(got.Key[:0], s.keys[at]...), true
		s.get(r, call, got)
	}
}

// elements carries out a call on a list, set, sorted set or stream.
func (s *set) elements(call *model.Call, row *model.Row, r *record) {
	find := func() int {
		if r == nil {
			return -1
		}
		return slices.IndexFunc(r.elements, func(e []byte) bool { return string(e) == string(row.Vals[0]) })
	}
	switch call.Do {
	case model.Push, model.Append:
		r = s.make(row.Key)
		r.elements = append(r.elements, slices.Clone(row.Vals[0]))
		if s.Most > 0 && int64(len(r.elements)) > s.Most {
			r.elements = r.elements[int64(len(r.elements))-s.Most:]
		}
	case model.Pop:
		if row.Found = r != nil && len(r.elements) > 0; row.Found {
			row.Vals = append(row.Vals[:0], r.elements[0])
			r.elements = r.elements[1:]
		}
	case model.Include:
		at := find()
		r = s.make(row.Key)
		if at < 0 {
			r.elements, r.scores = append(r.elements, slices.Clone(row.Vals[0])), append(r.scores, call.By)
		} else {
			r.scores[at] = call.By
		}
	case model.Exclude:
		at := find()
		if row.Found = at >= 0; row.Found {
			r.elements, r.scores = slices.Delete(r.elements, at, at+1), slices.Delete(r.scores, at, at+1)
		}
	case model.Has:
		row.Found = find() >= 0
	case model.Range, model.Members:
		if r != nil {
			s.list(call, r)
		}
	}
}

// list answers with the elements of a record: the last ones, or those of the highest scores.
func (s *set) list(call *model.Call, r *record) {
	order := make([]int, len(r.elements))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	if s.Type == model.Sorted {
		slices.SortFunc(order, func(a, b int) int { return int(r.scores[b] - r.scores[a]) })
	}
	for _, i := range order {
		if call.Do == model.Range && len(call.Got) == call.Count {
			return
		}
		call.Got = append(call.Got, model.Row{Vals: [][]byte{r.elements[i]}, Found: true})
	}
}
