package pbm

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// mostSummaries is how many summaries are read back where nothing was broken. Where it was, all are.
const mostSummaries = 5000

// mostExamples is how many wrong ones are named.
const mostExamples = 10

// Verify reads back summaries: each group with an acknowledged transaction must have
// one, and it must match the group.
func (b *run) Verify(ctx context.Context) workload.Verification {
	v := b.verify(ctx)
	if v.State != workload.Skipped && v.State != workload.Incomplete && !b.plan.Shared.Lost() { // of a worker that was lost, nobody knows
		n := int64(0)
		for _, w := range b.works {
			w.Record(func(c *counts) { n += c.unanswered.Load() })
		}
		v.Unsure(n, 0, 0) // a transaction writes the same each time, so what is there may be of another
	}
	b.linearizable(ctx, &v)
	return v
}

func (b *run) verify(ctx context.Context) workload.Verification {
	if store.Forgets(b.c) {
		return workload.Verification{State: workload.Skipped, Summary: "the store keeps nothing, so there is nothing to verify"}
	}
	var w *work
	for _, x := range b.works {
		if x.m.op == caseTx {
			w = x
		}
	}
	if w == nil {
		return b.lookups()
	}
	var total, asked, good int64
	for i := range w.touched {
		total += int64(bits.OnesCount64(w.touched[i].Load()))
	}
	var examples []string
	stride, seen := max((total+mostSummaries-1)/mostSummaries, 1), int64(0)
	if b.plan.Broken {
		stride = 1
	}
	for i := range w.touched {
		for word := w.touched[i].Load(); word != 0; word &= word - 1 {
			if seen++; (seen-1)%stride != 0 {
				continue
			}
			n := int64(i)*64 + int64(bits.TrailingZeros64(word))
			group := padogrid.AppendGroup(nil, b.s.prefix, n)
			got, found, err := b.layer.Summary(ctx, group)
			if err != nil {
				return workload.Verification{State: workload.Incomplete, Summary: fmt.Sprintf("the summary of %s could not be read back: %v", group, err)}
			}
			asked++
			want := b.expect(n)
			switch {
			case !found:
				examples = append(examples, fmt.Sprintf("%s: acknowledged but missing", group))
			case got.summary != want && b.exact():
				examples = append(examples, fmt.Sprintf("%s: has %d members of %d bytes instead of %d of %d", group, got.Members, got.Bytes, want.Members, want.Bytes))
			default:
				if err := w.carries(group, got.filling); err != nil {
					examples = append(examples, fmt.Sprintf("%s: %v", group, err))
					break
				}
				good++
			}
		}
	}
	check := workload.Check{Name: "summaries read back", OK: good == asked, Want: strconv.FormatInt(asked, 10), Got: strconv.FormatInt(good, 10), Examples: examples[:min(len(examples), mostExamples)]}
	v := workload.Verification{State: workload.Passed, Checks: []workload.Check{check}, Summary: fmt.Sprintf("%s of %d %s right", units.Plural(asked, "summary"), total, units.Choose(asked, "is", "are"))}
	v.Lose(asked - good)
	v.Unread = total - asked
	switch {
	case !check.OK:
		v.State, v.Summary = workload.Failed, "summaries are not what was acknowledged"
	case asked == 0:
		v = workload.Verification{State: workload.Skipped, Summary: "no transaction was acknowledged, so there is nothing to verify"}
	}
	return v
}

// carries returns what is wrong with the filling of a group's summary.
func (w *work) carries(group []byte, text string) error {
	check := func() error { return datagen.Check(text, datagen.Of(group, 0)) }
	if w.hot != nil {
		check = func() error { return versioned(group, text) }
	}
	if err := check(); err != nil {
		return err
	}
	return w.sizes.Check(len(text))
}

// exact reports whether the content of the groups is known: the keys are only those of
// this plan, and all values have one size.
func (b *run) exact() bool { return b.loaded.Found == "" && !b.mixed }

// expect returns the summary of a group as it was loaded.
func (b *run) expect(group int64) summary {
	n := int64(0)
	for t := range b.s.eligThreads {
		sh := b.s.share(t)
		if k := group - sh.FirstGroup - 1; k >= 0 && k*sh.Size < sh.Entries {
			n += sh.Size
		}
	}
	return summary{n, n * int64(b.s.eligPayload)}
}

// lookups judges a run that only reads: it must have found what was loaded.
func (b *run) lookups() workload.Verification {
	v := workload.Verification{State: workload.Passed, Summary: "every entry asked for was there"}
	for _, w := range b.works {
		var missing int64
		done := w.Record(func(c *counts) { missing += c.missing.Load() }).Done
		c := workload.Check{Name: w.m.name + ": entries found", OK: missing == 0, Want: strconv.FormatInt(done, 10), Got: strconv.FormatInt(done-missing, 10)}
		v.Checks = append(v.Checks, c)
		v.Lose(missing)
		if !c.OK {
			v.State, v.Summary = workload.Failed, fmt.Sprintf("%d entries of map %s were not there", missing, w.m.name)
		}
	}
	return v
}
