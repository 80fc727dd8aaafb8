package run

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// CheckLinearizable is the word of Spec.Check for: were a few hot records read and written as if
// there were one copy of each?
const CheckLinearizable = "linearizable"

const (
	// hotRecords is how many records have their history kept, hotFields how many of their fields
	// at most, and hotDraws how many choices show which records are hot.
	hotRecords = 8
	hotFields  = 64
	hotDraws   = 4096
	// mostEvents is how many calls are kept: 40 bytes each.
	mostEvents = 1 << 20
	// eventBlock is how many of them a client makes room for at a time.
	eventBlock = 1024
	// fewInWindow is how many calls a window has at least.
	fewInWindow = 32
	// mostInWindow is from how many calls on a window may end while a read is under way, which
	// is then left out.
	mostInWindow = 512
	// checkFor is how long histories are checked at most.
	checkFor = 10 * time.Second
)

// Versions that no value has: a record that was not found; and what a field has before anything is
// known of it.
const (
	missing version = 1 << 62
	unknown version = 1 << 63
)

// event is a call about one field of a hot record. Its times are ns since the histories began.
type event struct {
	call, back int64
	version    version
	field      int32 // the number of the field among all that are followed
	write      bool
	failed     bool
}

// histories are those of a few hot records: which calls wrote and read which versions of their
// fields, and when. It is safe for use by several goroutines.
type histories struct {
	began time.Time
	// sets has for each data set the place of its hot records; nil: it has none.
	sets []map[int64]int32
	hot  int

	mu      sync.Mutex
	clients []*historian

	room atomic.Int64 // how many blocks may still be made
	// full is when there was no room any more; calls that began later are left out.
	full atomic.Int64
	// blind says that something was written or read whose version nobody knows.
	blind atomic.Bool
	// found is what was found; nil until it has been checked.
	found atomic.Pointer[Linearizable]
}

// historian is what one client has seen. Only the client writes it.
type historian struct {
	all    *histories
	blocks [][]event
}

// Unchecked says why the histories of a data set cannot be checked; "": they can. Whatever writes
// to a record must be known to have written this version of it.
func Unchecked(w *model.Workload, d *model.Data) string {
	switch {
	case d.Type != model.Value && d.Type != model.Hash:
		return "only values and hashes have versions"
	case d.Records == 0:
		return "it has no records before the run"
	case d.TTL.Given() || d.Cached:
		return "its records may be gone by themselves"
	}
	reads, writes := false, false
	for i := range w.Operations {
		for j := range w.Operations[i].Steps {
			st := &w.Operations[i].Steps[j]
			switch {
			case st.Do == model.Statement:
				return "what statements write is not known"
			case st.Data != d.Name:
				continue
			case w.Operations[i].Atomic:
				return "it takes part in transactions"
			case st.Do == model.Delete || st.TTL.Given():
				return "its records may be gone"
			case st.Fill:
				return "its records may be gone"
			}
			reads = reads || st.Do == model.Get || st.Do == model.Modify
			writes = writes || st.Do.Writes()
		}
	}
	if !reads || !writes {
		return "it is not both read and written"
	}
	return ""
}

// follow chooses the records whose histories are kept: those that the steps choose most.
func (r *Run) follow() {
	h := &histories{began: time.Now(), sets: make([]map[int64]int32, len(r.sets))}
	h.room.Store(mostEvents / eventBlock)
	k := &task{run: r, last: make([]int64, len(r.sets)), hit: 1, tally: &tally{}}
	type hot struct {
		set    *set
		record int64
	}
	counts, number, columns := map[hot]int{}, 0, 1
	for i := range r.work.Operations {
		for j := range r.work.Operations[i].Steps {
			st := &r.work.Operations[i].Steps[j]
			number++
			at := r.work.Index(st.Data)
			if at < 0 || st.Do != model.Get && !st.Do.Writes() || st.Do == model.Insert || Unchecked(r.work, &r.work.Data[at]) != "" {
				continue
			}
			s := newStep(k, st, number-1, -1, -1)
			for n := range uint64(hotDraws) {
				x := n * callApart
				record := int64(n)
				if s.tickets == nil {
					record = st.Keys.From + s.keys.Choose(x, s.set.base-st.Keys.From)
				}
				if s.set.slot(record, 0) >= 0 && record < s.set.base {
					counts[hot{s.set, record}]++
					columns = max(columns, s.set.columns)
				}
			}
		}
	}
	all := make([]hot, 0, len(counts))
	for one := range counts {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b hot) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.set.at, b.set.at), cmp.Compare(a.record, b.record))
	})
	for i, one := range all[:min(len(all), hotRecords, max(hotFields/columns, 1))] {
		if h.sets[one.set.at] == nil {
			h.sets[one.set.at] = map[int64]int32{}
		}
		h.sets[one.set.at][one.record] = int32(i * columns)
		h.hot++
	}
	r.histories = h
}

// of returns the part of one more client.
func (h *histories) of() *historian {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one := &historian{all: h}
	h.clients = append(h.clients, one)
	return one
}

// now is the time of histories in ns.
func (h *historian) now() int64 { return int64(time.Since(h.all.began)) }

// about reports whether a call is about a hot record.
func (h *historian) about(s *step, p *part) bool {
	hot := h.all.sets[s.set.at]
	if hot == nil {
		return false
	}
	switch p.call.Do {
	case model.Get, model.Put, model.Update:
	default:
		return false
	}
	for i := range p.call.Rows {
		if _, is := hot[p.rows[i].record]; is {
			return true
		}
	}
	return false
}

// note keeps what a call has done to hot records.
func (h *historian) note(s *step, p *part, from, to int64, err error) {
	if full := h.all.full.Load(); full > 0 && from > full {
		return
	}
	hot, write := h.all.sets[s.set.at], p.call.Do != model.Get
	if err != nil && !write {
		return
	}
	for i := range p.call.Rows {
		first, is := hot[p.rows[i].record]
		if !is {
			continue
		}
		got := &p.call.Rows[i]
		for j, f := range p.picked {
			e := event{call: from, back: to, field: first + int32(f), write: write, failed: err != nil, version: missing}
			if write || got.Found {
				has := j < len(got.Vals) && got.Vals[j] != nil && s.set.split(len(got.Vals[j])) >= versionFrom
				if has {
					e.version, has = readVersion(got.Vals[j])
				}
				if !has || write && !p.rows[i].begun[j] {
					h.all.blind.Store(true)
					continue
				}
			}
			h.add(e)
		}
	}
}

func (h *historian) add(e event) {
	last := len(h.blocks) - 1
	if last < 0 || len(h.blocks[last]) == eventBlock {
		if h.all.room.Add(-1) < 0 {
			h.all.full.CompareAndSwap(0, max(e.back, 1)) // calls under way must be known, too
		}
		h.blocks, last = append(h.blocks, make([]event, 0, eventBlock)), last+1
	}
	h.blocks[last] = append(h.blocks[last], e)
}

// gather returns the history of each field, in the order in which calls began.
func (h *histories) gather() map[int32][]event {
	h.mu.Lock()
	defer h.mu.Unlock()
	full, all := h.full.Load(), map[int32][]event{}
	for _, c := range h.clients {
		for _, b := range c.blocks {
			for _, e := range b {
				if full == 0 || e.call <= full {
					all[e.field] = append(all[e.field], e)
				}
			}
		}
	}
	for _, one := range all {
		slices.SortFunc(one, func(a, b event) int { return cmp.Compare(a.call, b.call) })
	}
	if full > 0 { // a read that ended later may have found what is not known
		for f, one := range all {
			all[f] = slices.DeleteFunc(one, func(e event) bool { return !e.write && e.back > full })
		}
	}
	return all
}

// check checks the histories, until ctx ends or for checkFor. All clients have ended.
func (h *histories) check(ctx context.Context) *Linearizable {
	ctx, stop := context.WithTimeout(ctx, checkFor)
	defer stop()
	l := &Linearizable{State: HistoriesOK, Records: h.hot}
	for _, one := range h.gather() {
		l.Calls += int64(len(one))
		checkHistory(ctx, one, l)
	}
	switch {
	case l.Violated > 0:
		l.State = HistoriesViolated
	case h.hot == 0:
		l.State, l.Why = HistoriesUnknown, "no record is both read and written whose versions can be followed"
	case h.blind.Load():
		l.State, l.Why = HistoriesUnknown, "there were values of less than 16 bytes, or more of them than have a number, so nobody knows which one was read"
	case l.Calls == 0:
		l.State, l.Why = HistoriesUnknown, "no hot record was called"
	case l.Undecided > 0:
		l.State = HistoriesUnknown
		l.Why = fmt.Sprintf("%s could not be decided in %s", units.Plural(l.Undecided, "window"), checkFor)
	case h.full.Load() > 0:
		l.Why = fmt.Sprintf("the first %s only", time.Duration(h.full.Load()).Round(time.Millisecond))
	}
	h.found.Store(l)
	return l
}

// checkHistory checks the history of one field. It is cut into windows where the value is known:
// after a write that was alone.
func checkHistory(ctx context.Context, all []event, l *Linearizable) {
	all = settle(all)
	state := unknown
	var window []event
	under, wrote := int64(math.MinInt64), int64(math.MinInt64) // until when any call, and any write, is under way
	alone, last := false, unknown
	flush := func(next []event) {
		if len(window) > 0 {
			l.Windows++
			switch porcupine.CheckOperationsTimeout(registerFrom(state), operations(window), left(ctx)) {
			case porcupine.Illegal:
				l.Violated++
				if l.Example == "" {
					l.Example = exampleOf(window)
				}
			case porcupine.Unknown:
				l.Undecided++
			}
			state = last
		}
		window = append(window[:0], next...)
	}
	for _, e := range all {
		// Before e begins no write is under way, and the last one overlapped with no other.
		switch known := alone && wrote < e.call; {
		case known && under < e.call && len(window) >= fewInWindow:
			flush(nil)
		case known && len(window) >= mostInWindow:
			n := len(window)
			window = slices.DeleteFunc(window, func(o event) bool { return !o.write && o.back >= e.call })
			l.LeftOut += int64(n - len(window))
			flush(nil)
			under = wrote
		}
		if e.write {
			alone = e.call > wrote
			wrote, last = max(wrote, e.back), e.version
		}
		under = max(under, e.back)
		window = append(window, e)
	}
	flush(nil)
}

// left is for how long ctx goes on, at least a moment.
func left(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok || ctx.Err() != nil {
		return time.Nanosecond
	}
	return max(time.Until(end), time.Nanosecond)
}

// settle decides what became of writes that failed: one whose version was read took effect before
// that read ended; one that nobody has read may as well never have taken effect.
func settle(all []event) []event {
	read := map[version]int64{}
	for _, e := range all {
		if back, is := read[e.version]; !e.write && (!is || e.back < back) {
			read[e.version] = e.back
		}
	}
	kept := make([]event, 0, len(all))
	for _, e := range all {
		if e.write && e.failed {
			back, is := read[e.version]
			if !is || back < e.call {
				continue
			}
			e.back = back
		}
		kept = append(kept, e)
	}
	return kept
}

// registerFrom is what one copy of a field does that has a version at first; unknown: any.
func registerFrom(first version) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, output any) (bool, any) {
			if input.(bool) { // a write
				return true, output
			}
			return state == unknown || state == output, output
		},
	}
}

// operations are the calls of a window as the checker has them.
func operations(window []event) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(window))
	for i, e := range window {
		ops[i] = porcupine.Operation{Input: e.write, Output: e.version, Call: e.call, Return: e.back}
	}
	return ops
}

// exampleOf says what is in a window that is wrong.
func exampleOf(window []event) string {
	reads := 0
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, e := range window {
		from, to = min(from, e.call), max(to, e.back)
		if !e.write {
			reads++
		}
	}
	return fmt.Sprintf("%s and %s of one field within %s, in no order that one copy could have had",
		units.Plural(int64(reads), "read"), units.Plural(int64(len(window)-reads), "write"), time.Duration(to-from))
}

// linearizable checks the histories, if they were kept.
func (v *verification) linearizable(ctx context.Context, out *workload.Verification) {
	if v.r.histories == nil {
		return
	}
	l := v.r.histories.check(ctx)
	c := workload.Check{Name: "windows of the histories of hot records that are not linearizable", OK: l.Violated == 0, Of: l.Windows, Want: "0", Got: fmt.Sprint(l.Violated)}
	if l.Violated == 0 && l.State == HistoriesUnknown {
		c.Got = "unknown: " + l.Why
		c.Want = c.Got
	}
	if l.Example != "" {
		c.Examples = []string{l.Example}
	}
	out.Checks = append(out.Checks, c)
}
