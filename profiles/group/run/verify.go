package run

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Limits on what is read back for each kind of keys.
const (
	sampleKeys  = 500
	maxExamples = 10
	drain       = 3 * time.Second
)

// verification compares what is stored with what was acknowledged, once the groups have ended.
type verification struct {
	w    *work
	g    *grounds
	conn store.Conn // where it is stored
	lost int64      // of what was acknowledged
	// shared is what processes share. stored and absent are how many elements of the structure in hand,
	// of calls without an answer, are there and are not.
	shared         *workload.Shared
	stored, absent int64
}

// Verify compares what is stored with what was acknowledged: the number of elements of
// each structure, and a sample of the keys.
func (v *verification) Verify(ctx context.Context) workload.Verification {
	said := ""
	if s, ok := v.w.layer.(model.Speaker); ok {
		said = s.Says() // before reading back is counted
	}
	missed := int64(0)
	for _, r := range v.w.runs {
		for _, o := range r.facts().Ops {
			missed += o.Misses
		}
	}
	hung := v.w.topics.hangUp(ctx, drain)
	out := v.compare(ctx, hung)
	out.Missed = missed
	v.g.end(ctx)
	if err := v.w.close(); err != nil {
		out.Summary += fmt.Sprintf("; closing: %v", err)
	}
	if said != "" && out.Summary != "" {
		said = "; " + said
	}
	out.Summary += said
	return out
}

func (v *verification) compare(ctx context.Context, hung error) workload.Verification {
	if store.Forgets(v.conn) {
		return workload.Verification{State: workload.Skipped, Summary: "the store keeps nothing, so there is nothing to verify"}
	}
	out := workload.Verification{State: workload.Passed}
	for _, st := range v.w.structures.all {
		v.stored, v.absent = 0, 0
		checks, err := v.verifyStock(ctx, st)
		out.Checks = append(out.Checks, checks...)
		if err != nil {
			return workload.Verification{State: workload.Incomplete, Checks: out.Checks, Summary: fmt.Sprintf("%s could not be read back: %v", model.KeyOf(st.space), err)}
		}
		if !v.shared.Lost() { // of a worker that was lost, nobody knows
			out.Unsure(st.unanswered.Load(), v.stored, v.absent)
		}
	}
	for _, c := range out.Checks {
		if !c.OK {
			out.State = workload.Failed
		}
	}
	out.Lose(v.lost)
	switch n := len(out.Checks); {
	case out.State == workload.Failed:
		out.Summary = "what is stored is not what was acknowledged"
	case hung != nil:
		out.Summary = fmt.Sprintf("%s %s right; listening did not end well: %v", units.Plural(n, "comparison"), units.Choose(n, "is", "are"), hung)
	case n == 0:
		return workload.Verification{State: workload.Skipped, Summary: "nothing was written that could be read back"}
	default:
		out.Summary = fmt.Sprintf("%s of what is stored with what was acknowledged %s right", units.Plural(n, "comparison"), units.Choose(n, "is", "are"))
	}
	return out
}

func (v *verification) verifyStock(ctx context.Context, st *stock) ([]workload.Check, error) {
	switch {
	case !st.writes && !st.removes:
		return nil, nil
	case st.op.Kind == model.KindTopic, st.op.Kind == model.KindSTopic:
		return []workload.Check{v.deliveries(st)}, nil
	case st.op.Kind == model.KindRTopic && v.w.s.Trim > 0:
		return []workload.Check{v.deliveries(st)}, nil
	case !st.op.Kind.Keyed():
		check, err := v.length(ctx, st)
		if err == nil && st.op.Kind == model.KindRTopic {
			return []workload.Check{check, v.deliveries(st)}, nil
		}
		return []workload.Check{check}, err
	}
	return v.keys(ctx, st)
}

// deliveries compares the messages received with those that were owed to receivers.
// Only a stream guarantees them all.
func (v *verification) deliveries(st *stock) workload.Check {
	t := v.w.topics.of(st.op)
	owed, got := t.owed(), t.delivered.Load()
	c := workload.Check{Name: "topic " + st.op.Target + ": deliveries", Want: "up to " + strconv.FormatInt(owed, 10), Got: strconv.FormatInt(got, 10), OK: got <= owed}
	t.mu.Lock()
	receivers := int64(len(t.boxes) + len(t.gone))
	t.mu.Unlock()
	if t.brief.Load() && receivers != int64(v.w.s.Subscribers) { // it is unknown whose messages these were
		c.Want, c.OK = "any: messages without a number", true
		return c
	}
	if st.op.Kind == model.KindRTopic && v.w.s.Trim == 0 {
		maybe := (t.attempted.Load() - t.published.Load()) * receivers
		c.Want = strconv.FormatInt(owed, 10)
		c.OK = got >= owed-maybe && got <= owed
		v.lost += max(owed-maybe-got, 0)
	}
	return c
}

// length compares the length of a list, queue or stream.
func (v *verification) length(ctx context.Context, st *stock) (workload.Check, error) {
	got, err := v.w.layer.Size(ctx, st.op)
	if err != nil {
		return workload.Check{}, err
	}
	sum := st.before + st.pushed.Load() - st.popped.Load()
	least, most := max(sum-st.maybePopped.Load(), 0), sum+st.maybePushed.Load()
	v.lost += max(least-got, 0)
	switch { // where both are in doubt, one may hide the other
	case st.maybePopped.Load() == 0:
		v.decide(st, got-sum)
	case st.maybePushed.Load() == 0:
		v.decide(st, sum-got)
	}
	return workload.Check{
		Name: string(st.op.Kind) + " " + st.op.Target + ": length", OK: got >= least && got <= most, Want: bounds(least, most), Got: strconv.FormatInt(got, 10),
	}, nil
}

// decide says how many of the elements without an answer were stored, or taken: the rest were not.
func (v *verification) decide(st *stock, done int64) {
	all := st.unanswered.Load() - st.over.Load()
	v.stored = min(max(done, 0), all)
	v.absent = all - v.stored
}

func bounds(least, most int64) string {
	s := strconv.FormatInt(least, 10)
	if most != least {
		s += " to " + strconv.FormatInt(most, 10)
	}
	return s
}

// keys compares the number of entries, and reads back a sample.
func (v *verification) keys(ctx context.Context, st *stock) ([]workload.Check, error) {
	name := string(st.op.Kind) + " " + st.op.Target
	var least, most int64
	exact := true
	for _, l := range st.ledgers {
		least += ones(l.acked)
		most += ones(l.tried)
		exact = exact && !l.spilled.Load()
	}
	if len(st.ledgers) > 1 {
		exact = false // keys of different forms may be equal
	}
	var checks []workload.Check
	short, bad := int64(0), int64(0) // the sample may show some of those that the number does
	defer func() { v.lost += max(short, bad) }()
	got, err := v.w.layer.Size(ctx, st.op)
	if err != nil {
		return nil, err
	}
	if got >= 0 && exact && !st.removes {
		if st.before == 0 && most-least >= st.unanswered.Load()-st.over.Load() { // each was another key
			v.decide(st, got-least)
		}
		least, most = max(least, st.before), most+st.before
		short = least - got
		checks = append(checks, workload.Check{Name: name + ": number of entries", OK: got >= least && got <= most, Want: bounds(least, most), Got: strconv.FormatInt(got, 10)})
	}
	if st.removes {
		return checks, nil
	}
	for _, l := range st.ledgers {
		check, wrong, err := v.sample(ctx, name, l)
		bad += wrong
		if err != nil {
			return checks, err
		}
		if check.Want != "0" {
			checks = append(checks, check)
		}
	}
	return checks, nil
}

// sample reads back acknowledged keys one by one, and returns how many are not as they were.
func (v *verification) sample(ctx context.Context, name string, l *ledger) (workload.Check, int64, error) {
	o := *l.op
	o.Action, o.Children, o.Sequential, o.Direct = model.ActGet, nil, true, true
	check := workload.Check{Name: name + ": keys read back", OK: true}
	h, err := v.w.layer.Caller(&o)
	if err != nil {
		return check, 0, err
	}
	k := &task{w: v.w}
	c := model.Call{Op: &o, Action: model.ActGet}
	numbers := l.sample(sampleKeys)
	same := v.sameness(l)
	good := 0
	for _, n := range numbers {
		k.reset(&c)
		k.add(&c, n, "", nil)
		c.Got, c.Row = nil, nil
		res, err := h.Do(ctx, &c)
		if err != nil {
			return check, 0, err
		}
		why := "acknowledged but missing"
		if res.Misses == 0 {
			why = same(&c, n)
		}
		if why == "" {
			good++
			continue
		}
		check.OK = false
		if len(check.Examples) < maxExamples {
			check.Examples = append(check.Examples, fmt.Sprintf("%s: %s", c.Entries[0].Key, why))
		}
	}
	check.Want, check.Got = strconv.Itoa(len(numbers)), strconv.Itoa(good)
	return check, int64(len(numbers) - good), nil
}
