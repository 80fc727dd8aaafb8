package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

const (
	// sampled is about how many records of a data set are read back where nothing was broken, and
	// accounted how many of all are where it was, so that what was lost is known to the last one.
	sampled   = 10_000
	accounted = 1 << 20
	// mostCounters is up to how many counters are added up.
	mostCounters = 1 << 20
)

// verification is whether what is stored is what was acknowledged.
type verification struct {
	r        *Run
	prepared *preparation
	shared   *workload.Shared
	plan     *workload.Plan
	// stored and absent count the additions without an answer that counters contain, and do not.
	stored, absent int64
}

// Verify compares what is stored with what was acknowledged.
func (v *verification) Verify(ctx context.Context) workload.Verification {
	if v.r.forgets {
		return workload.Verification{State: workload.Skipped, Summary: "the store keeps nothing, so there is nothing to verify"}
	}
	if v.prepared.claim != nil {
		_ = v.prepared.claim.Restore(ctx) // if it cannot be recorded, that shows below
	}
	out := workload.Verification{State: workload.Passed}
	v.stored, v.absent = 0, 0
	others, unchecked := v.r.mergeOthers()
	if !others {
		v.readBack(ctx)
	}
	for i, s := range v.r.sets {
		if check, ok := v.counters(ctx, i, s, &out); ok {
			out.Checks = append(out.Checks, check)
		}
	}
	v.prepared.ended = true
	if v.prepared.claim != nil {
		if v.r.spec.Load == LoadOnly {
			v.prepared.loadedAll()
		}
		_ = v.prepared.record(ctx) // a later run finds out by itself
	}
	read, wrong, lost, stale, allowed := v.r.read.Load(), v.r.wrongs.Load(), v.r.losts.Load(), v.r.stales.Load(), v.r.allowed.Load()
	tallied := v.r.tallies.sums()
	hits, misses := tallied.hits, tallied.misses
	out.Missed = misses
	v.r.mu.Lock()
	examples := slices.Clone(v.r.examples)
	broken := v.r.broken
	v.r.mu.Unlock()
	out.Lose(v.r.ones.Load())
	sample := v.r.unread.Load() // those left out of it
	out.Unread = sample + unchecked
	// found are the reads whose value was looked at, asked those that also found nothing.
	found, asked := hits+v.r.readFound.Load(), hits+misses+read
	out.Checks = append(out.Checks,
		workload.Check{Name: "values that are not what was written", OK: wrong == 0, Of: found, Want: "0", Got: strconv.FormatInt(wrong, 10)},
		workload.Check{Name: "acknowledged records that are not there", OK: lost == 0, Of: asked, Want: "0", Got: strconv.FormatInt(lost, 10)})
	old := workload.Check{Name: "reads of what had been overwritten", OK: stale == 0, Of: found, Want: "0", Got: strconv.FormatInt(stale, 10)}
	if allowed > 0 {
		old.Want = fmt.Sprintf("0, beside %d that %s allows", allowed, v.r.layer.Why)
	}
	out.Checks = append(out.Checks, old)
	if !v.shared.Lost() { // of a worker that was lost, nobody knows
		var unanswered int64
		for _, s := range v.r.sets {
			unanswered += s.unanswered.Load()
		}
		out.Unsure(unanswered, v.stored+v.r.stored.Load(), v.absent+v.r.absent.Load())
	}
	v.linearizable(ctx, &out)
	for i := range out.Checks {
		if !out.Checks[i].OK {
			out.State = workload.Failed
			if len(out.Checks[i].Examples) == 0 {
				out.Checks[i].Examples = examples
			}
		}
	}
	switch {
	case out.State == workload.Failed:
		out.Summary = "what is stored or was read is not what was acknowledged: " + wrongOf(out.Checks)
		if read > 0 && v.r.readFound.Load() == 0 {
			out.Summary = "the store has lost what it held, as one does that keeps nothing on disk and is started again: not one of the records that must be there is; " + wrongOf(out.Checks)
		}
		if sample > 0 {
			out.Summary += fmt.Sprintf("; %d of %s were read back", read, units.Plural(read+sample, "record"))
		}
	case broken != "":
		out.State, out.Lost, out.Summary = workload.Incomplete, nil, "what is stored could not be read back: "+broken
	default:
		out.Summary = fmt.Sprintf("%s of the run and %s read back at the end are right", units.Plural(hits, "read"), units.Plural(read, "record"))
		if sample > 0 {
			out.Summary += fmt.Sprintf(" (a sample of %s)", units.Plural(read+sample, "record"))
		}
		if hits+misses > 0 {
			out.Summary += fmt.Sprintf("; %s of the gets found their record", units.PartOf(hits, hits+misses))
		}
		if allowed > 0 {
			out.Summary += fmt.Sprintf("; %s of what had been overwritten, which %s allows", units.Plural(allowed, "read"), v.r.layer.Why)
		}
		if v.r.histories != nil {
			out.Summary += "; " + v.r.histories.Found().Words()
		}
	}
	if unchecked > 0 {
		out.Summary += fmt.Sprintf("; %s of workers that were lost could not be checked", units.Plural(unchecked, "record"))
	}
	return out
}

// wrongOf names the failed checks.
func wrongOf(checks []workload.Check) string {
	var all []string
	for _, c := range checks {
		if !c.OK {
			all = append(all, c.Name+": "+c.Words())
		}
	}
	return strings.Join(all, "; ")
}

// Settle reads back what this process has written, before the last report of it.
func (v *verification) Settle(ctx context.Context) {
	if !v.r.forgets {
		v.readBack(ctx)
		v.r.settled.Store(true)
	}
}

// kept reports whether the records of a data set are read back.
func kept(s *set) bool { return s.Type == model.Value || s.Type == model.Hash }

// readBack reads records that must be there, and checks them.
func (v *verification) readBack(ctx context.Context) {
	client, err := v.r.layer.Open()
	if err == nil {
		defer client.Close()
		sets := slices.DeleteFunc(slices.Clone(v.r.sets), func(s *set) bool { return !kept(s) })
		most := int64(sampled)
		if v.plan.Broken {
			most = accounted / int64(max(len(sets), 1))
		}
		for _, s := range sets {
			if err = v.readSet(ctx, client, s, most); err != nil {
				break
			}
			if err = v.decide(ctx, client, s); err != nil {
				break
			}
		}
	}
	if err != nil {
		v.r.mu.Lock()
		v.r.broken = err.Error()
		v.r.mu.Unlock()
	}
}

// readSet reads back a data set, or a sample of it if it has more than most records.
func (v *verification) readSet(ctx context.Context, client model.Client, s *set, most int64) error {
	k := &task{run: v.r, client: client, tally: &tally{}, last: make([]int64, len(v.r.sets)), hit: 1, settled: v.r.stake.Of <= 1, ending: true}
	st := newStep(k, &model.Step{Do: model.Get, Data: s.Name}, 0, -1, -1)
	inserted := s.issued.Load() * int64(max(v.r.stake.Of, 1))
	all := s.base + inserted
	every := max((all+most-1)/most, 1)
	var records []int64
	flush := func() error {
		if len(records) == 0 {
			return nil
		}
		p := &st.main
		st.grow(p, len(records))
		for i, record := range records {
			p.rows[i].record, p.rows[i].number, p.rows[i].absent = record, -1, false
			p.call.Rows[i].Key, p.call.Rows[i].Found = s.Key.Append(p.call.Rows[i].Key[:0], record), false
		}
		st.pick(p, 0, false)
		st.expect(p)
		if err := client.Do(ctx, &p.call); err != nil {
			return fmt.Errorf("read back %s: %w", s.Name, err)
		}
		_ = st.found(p) // it notes what is wrong
		v.r.read.Add(int64(len(records)))
		for i := range p.call.Rows {
			if p.call.Rows[i].Found {
				v.r.readFound.Add(1)
			}
		}
		records = records[:0]
		return nil
	}
	perCall := int(perCall(s.Data, max(v.r.spec.Payload, v.r.payloads.Most())))
	for at := range all {
		if !s.mine(&v.r.stake, at) || s.left(at) || !s.there(&v.r.stake, at) {
			continue
		}
		if at/int64(max(v.r.stake.Of, 1))%every != 0 {
			v.r.unread.Add(1)
			continue
		}
		if records = append(records, at); len(records) == perCall {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// decide looks for the records of inserts that had no answer.
func (v *verification) decide(ctx context.Context, client model.Client, s *set) error {
	if s.absent || v.r.uses(s, model.Delete) {
		return nil // they may be gone again
	}
	c := &model.Call{Do: model.Get, Set: s.at}
	look := func() error {
		if len(c.Rows) == 0 {
			return nil
		}
		if err := client.Do(ctx, c); err != nil {
			return fmt.Errorf("read back %s: %w", s.Name, err)
		}
		for i := range c.Rows {
			if c.Rows[i].Found {
				v.r.stored.Add(1)
			} else {
				v.r.absent.Add(1)
			}
		}
		c.Rows = c.Rows[:0]
		return nil
	}
	stake := &v.r.stake
	for number := range s.issued.Load() {
		if !s.unsure.has(number) || s.inserted.has(number) {
			continue
		}
		n := len(c.Rows)
		c.Rows = room(c.Rows, n+1)
		c.Rows[n].Key, c.Rows[n].Found = s.Key.Append(c.Rows[n].Key[:0], s.base+number*int64(max(stake.Of, 1))+int64(stake.Process)), false
		if n+1 == loadRows {
			if err := look(); err != nil {
				return err
			}
		}
	}
	return look()
}

// added returns by how much each addition to a data set adds; 0: not all by the same.
func (v *verification) added(s *set) (by int64) {
	for _, o := range v.r.work.Operations {
		for i := range o.Steps {
			st := &o.Steps[i]
			switch {
			case st.Data != s.Name || st.Do != model.Add:
			case len(st.By.Table) > 0 || st.By.Min != st.By.Max || by != 0 && by != st.By.Min:
				return 0
			default:
				by = st.By.Min
			}
		}
	}
	return by
}

// counters compares what counters come to with what was added; what they are short of is lost.
func (v *verification) counters(ctx context.Context, i int, s *set, out *workload.Verification) (workload.Check, bool) {
	if v.r.spec.Load == LoadOnly { // what was loaded is no addition
		return workload.Check{}, false
	}
	if s.Type != model.Counter || !v.r.uses(s, model.Add) || s.Records > mostCounters || s.absent || v.r.uses(s, model.Delete, model.Put, model.Insert) {
		return workload.Check{}, false
	}
	got, there, err := sum(ctx, v.r.layer, s, s.Records)
	if err != nil {
		v.r.mu.Lock()
		v.r.broken = err.Error()
		v.r.mu.Unlock()
		return workload.Check{}, false
	}
	v.r.there.mu.Lock()
	before, loaded := v.r.there.Sums[i], v.r.there.Loaded[i]
	v.r.there.mu.Unlock()
	if missing := min(loaded, s.Records) - there; missing > 0 {
		out.Lose(missing)
		return workload.Check{
			Name: s.Name + ": counters that are there",
			Want: fmt.Sprintf("all %d that were loaded", loaded), Got: fmt.Sprintf("%d, so %d are gone, and what was added to them", there, missing),
		}, true
	}
	got -= before
	sum, low, high := s.sum.Load(), s.low.Load(), s.high.Load()
	c := workload.Check{Name: s.Name + ": sum of what was added", OK: got >= sum+low && got <= sum+high, Want: strconv.FormatInt(sum, 10), Got: strconv.FormatInt(got, 10)}
	if low != 0 || high != 0 {
		c.Want = fmt.Sprintf("%d to %d", sum+low, sum+high)
	}
	if !c.OK && before != 0 {
		c.Name, c.Got = s.Name+": sum of the counters", strconv.FormatInt(before+got, 10)
		c.Want = fmt.Sprintf("%d and what was added, %s", before, c.Want)
	}
	if v.shared.Lost() {
		c.OK, c.Want = true, "unknown, since a worker was lost"
	} else {
		out.Lose(sum + low - got)
		if by, n := v.added(s), s.unsureAdds.Load(); by != 0 && n > 0 {
			done := min(max((got-sum)/by, 0), n)
			v.stored, v.absent = v.stored+done, v.absent+n-done
		}
	}
	return c, true
}

// sum adds up the first n counters of a data set, and counts those that are there.
func sum(ctx context.Context, a *model.Adapter, s *set, n int64) (sum, there int64, err error) {
	client, err := a.Open()
	if err != nil {
		return 0, 0, err
	}
	defer client.Close()
	c := &model.Call{Do: model.Get, Set: s.at}
	for at := int64(0); at < n; at += loadRows {
		c.Rows = room(c.Rows, int(min(loadRows, n-at)))
		for i := range c.Rows {
			c.Rows[i].Key, c.Rows[i].Found = s.Key.Append(c.Rows[i].Key[:0], at+int64(i)), false
		}
		if err := client.Do(ctx, c); err != nil {
			return 0, 0, fmt.Errorf("add up %s: %w", s.Name, err)
		}
		for i := range c.Rows {
			if !c.Rows[i].Found {
				continue
			}
			v, err := strconv.ParseInt(string(c.Rows[i].Vals[0]), 10, 64)
			if err != nil {
				return 0, 0, fmt.Errorf("add up %s: %w", s.Name, err)
			}
			sum, there = sum+v, there+1
		}
	}
	return sum, there, nil
}
