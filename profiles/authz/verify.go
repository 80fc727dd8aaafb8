package authz

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// sample is how many memberships of a tenant are read back.
const sample = 200

// Verify reports wrong decisions, and reads back a sample of what was loaded and
// every role that the mix changed.
func (b *binding) Verify(ctx context.Context) workload.Verification {
	v := b.outcome(ctx)
	v.Undone = b.undone()
	return v
}

func (b *binding) outcome(ctx context.Context) workload.Verification {
	if b.s.driver == "null" {
		return workload.Verification{State: workload.Skipped, Summary: "the store keeps nothing, so there is nothing to verify"}
	}
	if err := b.insist(ctx, func() error { return b.record(ctx) }); err != nil {
		return workload.Verification{State: workload.Incomplete, Summary: fmt.Sprintf("the load could not be recorded: %v", err)}
	}
	v := workload.Verification{State: workload.Passed}
	var decisions, read int64
	for _, ph := range b.site.tenants {
		for _, t := range ph {
			decisions += t.decisions()
			v.Checks = append(v.Checks, t.verdict())
			c, n, lost, err := b.readBack(ctx, t)
			if err != nil {
				return workload.Verification{State: workload.Incomplete, Checks: v.Checks, Summary: fmt.Sprintf("tenant %s could not be read back: %v", t.name, err)}
			}
			if err := b.again(ctx, t); err != nil {
				return workload.Verification{State: workload.Incomplete, Checks: v.Checks, Summary: fmt.Sprintf("what tenant %s carries could not be read back: %v", t.name, err)}
			}
			v.Lose(lost)
			if err := b.decide(ctx, t, &v); err != nil {
				return workload.Verification{State: workload.Incomplete, Checks: v.Checks, Summary: fmt.Sprintf("tenant %s could not be read back: %v", t.name, err)}
			}
			read += n
			if n > 0 {
				v.Checks = append(v.Checks, c)
			}
		}
	}
	if c, any := b.carried.check(); any {
		v.Checks = append(v.Checks, c)
	}
	v.Summary = fmt.Sprintf("%d decisions agree with the oracle, %d roles read back are right", decisions, read)
	for _, c := range v.Checks {
		if !c.OK {
			v.State = workload.Failed
			v.Summary = fmt.Sprintf("%s: %s wanted, %s found", c.Name, c.Want, c.Got)
			if len(c.Examples) > 0 {
				v.Summary += ": " + c.Examples[0]
			}
			break
		}
	}
	return v
}

func (t *tenant) decisions() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var n int64
	for _, ks := range t.tallies {
		for _, k := range ks {
			n += k.allowed.Load() + k.denied.Load()
		}
	}
	return n
}

func (t *tenant) verdict() workload.Check {
	loaded := t.loaded()
	t.mu.Lock()
	defer t.mu.Unlock()
	denied, allowed, examples := t.wrongs[0], t.wrongs[1], t.wrong
	for _, o := range t.others {
		denied, allowed = denied+o.wrong.Counts[0], allowed+o.wrong.Counts[1]
		examples = slices.Concat(examples, o.wrong.Examples)
	}
	c := workload.Check{
		Name: t.name + ": wrong decisions", OK: denied+allowed == 0, Want: "0",
		Got: fmt.Sprintf("%d denied though allowed, %d allowed though not", denied, allowed), Examples: examples[:min(len(examples), 10)],
	}
	if t.site.shared.Lost() && !loaded { // what a worker that has gone did not load grants nothing to anybody
		c.OK, c.Want = allowed == 0, "0 allowed though not, of a tenant of which a worker that was lost has not loaded all"
	}
	return c
}

// readBack returns how many roles of a tenant it has asked for, and how many are not what they were.
func (b *binding) readBack(ctx context.Context, t *tenant) (c workload.Check, asked, lost int64, err error) {
	want := map[string]string{}
	if m := b.s.model; t.loaded() && b.s.mode == report.ModeChecks {
		step := max(1, len(m.Up)/sample)
		for p := 0; p < len(m.Up); p += step {
			for _, l := range m.Up[p] {
				want[t.id(int32(p))+"\x00"+t.id(l.To)] = m.Roles[l.Role]
			}
		}
	}
	maps.Copy(want, t.merged(&t.changed, func(o *elsewhere) map[string]string { return o.changed }))
	c.Name = t.name + ": roles read back"
	good := int64(0)
	for key, role := range want {
		principal, resource, _ := strings.Cut(key, "\x00")
		got, err := b.role(ctx, principal, resource)
		if err != nil {
			return c, asked, 0, err
		}
		asked++
		if got == role {
			good++
		} else if len(c.Examples) < 10 {
			c.Examples = append(c.Examples, fmt.Sprintf("%s on %s: %q stored, %q acknowledged", principal, resource, got, role))
		}
	}
	c.OK, c.Want, c.Got = asked == good, strconv.FormatInt(asked, 10), strconv.FormatInt(good, 10)
	return c, asked, asked - good, nil
}

// unanswered reports whether a change failed without an answer, so that nobody knows whether it was made.
func (b *bound) unanswered(err error) bool {
	return err != nil && b.conn.Classify(err).Unanswered(err)
}

// decide reads back the changes of a tenant that had no answer: each is made, or is not.
func (b *binding) decide(ctx context.Context, t *tenant, v *workload.Verification) error {
	doubtful := t.merged(&t.doubtful, func(o *elsewhere) map[string]string { return o.doubtful })
	var made int64
	for key, want := range doubtful {
		principal, resource, _ := strings.Cut(key, "\x00")
		got, err := b.role(ctx, principal, resource)
		if err != nil {
			return err
		}
		if got == want {
			made++
		}
	}
	if !t.site.shared.Lost() { // of a worker that was lost, nobody knows
		v.Unsure(int64(len(doubtful)), made, int64(len(doubtful))-made)
	}
	return nil
}

// merged returns roles that are known here with those that other workers have told of.
func (t *tenant) merged(own *map[string]string, theirs func(o *elsewhere) map[string]string) map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[string]string{}
	maps.Copy(all, *own)
	for _, o := range t.others {
		maps.Copy(all, theirs(o))
	}
	return all
}

// role asks the store for a role, patiently.
func (b *binding) role(ctx context.Context, principal, resource string) (got string, err error) {
	err = b.insist(ctx, func() (err error) {
		got, err = b.l.Graph.Role(ctx, &model.Work{}, principal, resource)
		return err
	})
	return got, err
}

// insist calls f until it succeeds, or has failed for the drain: a store that was
// overloaded, or is coming back, needs a moment.
func (b *binding) insist(ctx context.Context, f func() error) error {
	end := time.Now().Add(b.s.drain)
	for {
		err := f()
		if err == nil || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		_ = store.Pause(ctx, 100*time.Millisecond)
	}
}
