package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

const (
	// hotRecords is how many records have their history kept, hotFields how many of their fields
	// at most, and hotDraws how many choices show which records are hot.
	hotRecords = 8
	hotFields  = 64
	hotDraws   = 4096
)

// hotHistory is that of a few hot records: a register is one field. It is safe for use by several
// goroutines.
type hotHistory struct {
	*histories.History
	// sets has for each data set the first register of each of its hot records; nil: it has none.
	sets []map[int64]int32
}

// historian is what one client has seen. Only the client uses it.
type historian struct {
	*histories.Client
	all *hotHistory
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
	h := &hotHistory{History: histories.New("hot record"), sets: make([]map[int64]int32, len(r.sets))}
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
	for _, one := range all[:min(len(all), hotRecords, max(hotFields/columns, 1))] {
		if h.sets[one.set.at] == nil {
			h.sets[one.set.at] = map[int64]int32{}
		}
		h.sets[one.set.at][one.record] = h.Follow(columns)
	}
	r.histories = h
}

// of returns the part of one more client; nil if there is no history.
func (h *hotHistory) of() *historian {
	if h == nil {
		return nil
	}
	return &historian{h.Client(), h}
}

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
	if h.Full(from) {
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
			e := histories.Event{Call: from, Back: to, Register: first + int32(f), Write: write, Failed: err != nil, Version: histories.Missing}
			if write || got.Found {
				has := j < len(got.Vals) && got.Vals[j] != nil && s.set.split(len(got.Vals[j])) >= versionFrom
				if has {
					e.Version, has = datagen.ReadVersion(got.Vals[j])
				}
				if !has || write && !p.rows[i].begun[j] {
					h.all.Blind()
					continue
				}
			}
			h.Note(e)
		}
	}
}

// linearizable checks the histories, if they were kept.
func (v *verification) linearizable(ctx context.Context, out *workload.Verification) {
	if v.r.histories != nil {
		out.Checks = append(out.Checks, v.r.histories.Check(ctx).Check())
	}
}
