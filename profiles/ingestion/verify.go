package ingestion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// reader has what verification needs of a store.
type reader struct {
	count   store.Counter
	getAll  store.BatchGetter
	grouped store.GroupPutter
}

// Limits of the sample that is read back from each map.
const (
	sampleKeys  = 1000
	sampleBytes = 256 << 20
	callKeys    = 100
	callBytes   = 8 << 20
	maxExamples = 10
)

// Verify compares what is stored with what was acknowledged: the number of entries, and
// a sample of their values.
func (b *binding) Verify(ctx context.Context) workload.Verification {
	if store.Forgets(b.conn) {
		return workload.Verification{State: workload.Skipped, Summary: "the store keeps nothing, so there is nothing to verify"}
	}
	// A store that lost everything during the run has been written to since. If it
	// cannot be recorded, that shows below.
	_ = b.claim.Restore(ctx)
	v := workload.Verification{State: workload.Passed}
	var entries, found, sampled int64
	for _, l := range b.loads {
		n, there, err := b.verifyMap(ctx, l, &v)
		if err != nil {
			return workload.Verification{State: workload.Incomplete, Checks: v.Checks, Summary: fmt.Sprintf("map %s could not be read back: %v", l.m.name, err)}
		}
		entries, found, sampled = entries+l.acked.count()*l.acked.stride, found+there, sampled+n
	}
	for _, c := range v.Checks {
		if !c.OK {
			v.State = workload.Failed
		}
	}
	switch {
	case v.State == workload.Failed:
		v.Summary = "what is stored is not what was acknowledged: " + wrong(v.Checks)
	case len(v.Checks) == 0:
		v.State, v.Summary = workload.Skipped, "nothing was attempted, so there is nothing to verify"
	default:
		are := units.Choose(entries, "is", "are") + " there"
		if earlier := found - entries; earlier > 0 {
			are = fmt.Sprintf("of this run %s, beside %d of earlier runs", are, earlier)
		}
		v.Summary = fmt.Sprintf("%s %s, and %s read back %s right", units.Plural(entries, "entry"), are, units.Plural(sampled, "value"), units.Choose(sampled, "is", "are"))
	}
	return v
}

// wrong names the failed checks.
func wrong(checks []workload.Check) string {
	var all []string
	for _, c := range checks {
		if !c.OK {
			all = append(all, fmt.Sprintf("%s: %s instead of %s", c.Name, c.Got, c.Want))
		}
	}
	return strings.Join(all, "; ")
}

// verifyMap adds to v what became of a map, and returns how many values it has read back and how
// many entries are there.
func (b *binding) verifyMap(ctx context.Context, l *load, v *workload.Verification) (read, there int64, err error) {
	least := l.acked.count()
	if least == 0 && l.work.Reached() == 0 {
		return 0, 0, nil
	}
	got, err := b.read.count.Count(ctx, l.space)
	if err != nil {
		return 0, 0, err
	}
	most, before := l.work.Reached(), ""
	if l.existed && l.before > most {
		most, before = l.before, fmt.Sprintf(" (up to %d may have been there before)", l.before)
	}
	b.decide(l, got, v)
	want := strconv.FormatInt(least, 10)
	if most != least {
		want += " to " + strconv.FormatInt(most, 10) + before
	}
	v.Checks = append(v.Checks, workload.Check{Name: l.m.name + ": number of entries", OK: got >= least && got <= most, Want: want, Got: strconv.FormatInt(got, 10)})
	if least == 0 {
		v.Lose(0)
		return 0, got, nil
	}
	s := sampler{b: b, l: l, sizes: l.sizes.All()}
	if err := s.run(ctx); err != nil {
		return 0, got, err
	}
	v.Lose(max(least-got, s.asked-s.good)) // the sample may show some of those that the number does
	v.Checks = append(v.Checks, workload.Check{
		Name: l.m.name + ": values read back", OK: s.good == s.asked,
		Want: strconv.FormatInt(s.asked, 10), Got: strconv.FormatInt(s.good, 10), Examples: s.examples,
	})
	return s.asked, got, nil
}

// decide says what became of the entries of a map that had no answer: where each of them is another
// entry, which was not there before and lacks an acknowledgement, the number of those that are there does.
func (b *binding) decide(l *load, got int64, v *workload.Verification) {
	var n int64
	l.work.Record(func(c *counts) { n += c.unanswered.Load() })
	least, tried := l.acked.count(), l.work.Reached()
	switch {
	case b.shared.Lost(): // of that worker's, nobody knows
	case !l.existed && l.acked.stride == 1 && tried-least == n:
		v.Unsure(n, got-least, tried-got)
	default:
		v.Unsure(n, 0, 0)
	}
}

// sampler reads back a sample of a map.
type sampler struct {
	b           *binding
	l           *load
	sizes       []int
	asked, good int64
	examples    []string
}

type sampleKey struct {
	share int
	entry int64
}

// run reads the sample, in calls of limited size.
func (s *sampler) run(ctx context.Context) error {
	largest := int64(max(slices.Max(s.sizes), 1))
	n := max(min(sampleKeys, sampleBytes/largest), 1)
	perCall := int(max(min(callKeys, callBytes/largest), 1))
	keys := make([]sampleKey, 0, n)
	s.l.acked.spread(n, func(share int, entry int64) { keys = append(keys, sampleKey{share, entry}) })
	if s.b.s.grouped {
		perCall = 1
	}
	for part := range slices.Chunk(keys, perCall) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.read(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (s *sampler) read(ctx context.Context, part []sampleKey) error {
	names := make([][]byte, len(part))
	var vals [][]byte
	var err error
	m := s.l.m
	if s.b.s.grouped {
		group, key := appendGroup(nil, nil, m, &m.shares[part[0].share], s.b.s.prefix, part[0].entry)
		names[0] = fmt.Appendf(nil, "%s in group %s", key, group)
		vals, err = s.b.read.grouped.GetGroup(ctx, s.l.space, group, [][]byte{key})
	} else {
		for i, k := range part {
			names[i] = appendKey(nil, m, &m.shares[k.share], s.b.s.prefix, k.entry)
		}
		vals, err = s.b.read.getAll.GetAll(ctx, s.l.space, names)
	}
	if err == nil && len(vals) != len(part) {
		err = fmt.Errorf("asked for %d values and got %d", len(part), len(vals))
	}
	if err != nil {
		return err
	}
	for i, val := range vals {
		s.asked++
		if why := s.judge(val, part[i].share); why != nil {
			if len(s.examples) < maxExamples {
				s.examples = append(s.examples, fmt.Sprintf("%s: %v", names[i], why))
			}
			continue
		}
		s.good++
	}
	return nil
}

// judge returns what is wrong with the value of a share's entry.
func (s *sampler) judge(val []byte, share int) error {
	if val == nil {
		return errors.New("acknowledged but missing")
	}
	if !slices.Contains(s.sizes, len(val)) {
		return fmt.Errorf("has %d bytes, and values of %v were written", len(val), s.sizes)
	}
	return checkValue(val, uint32(share))
}
