package saga

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/ondtm"
)

// onDTM connects a plan to a dtm server.
func (s Binding) onDTM(_ context.Context, c *dtm.Conn, p *workload.Bound) error {
	s.Begin(p.RunID)
	if s.Timeout%time.Second != 0 {
		return fault.Field("timeout", fault.Input(fmt.Errorf("timeout: %s: a dtm server counts in whole seconds", s.Timeout), "for example --set timeout=3s"))
	}
	s.Shards = 1
	d := ondtm.New(c, s.Spec)
	r := NewRun(s.Spec, d.Layer(), common.Meter{})
	o := newOpening(r)
	p.Parts = workload.Parts{&dtmRun{newVerification(r, o, nil), d}}
	p.Phases[0].Tracks[0].NewTask = func(worker int) (workload.Task, error) { return &dtmTask{d: d, Task: r.NewTask(worker)}, nil }
	return nil
}

// dtmRun is a run whose transactions a dtm server coordinates.
type dtmRun struct {
	*verification
	d *ondtm.DTM
}

// Verify waits for what the server has still to do.
func (x *dtmRun) Verify(ctx context.Context) workload.Verification {
	defer func() { _ = errors.Join(x.r.log.close(), x.d.Close()) }() // nobody uses them any more
	if err := x.settle(ctx); err != nil {
		x.r.usage.end(ctx)
		return workload.Verification{State: workload.Incomplete, Summary: err.Error()}
	}
	return x.verify(ctx)
}

// Setup starts the endpoint and makes the accounts.
func (x *dtmRun) Setup(ctx context.Context, progress func(done, total int64)) error {
	r, o, d := x.r, x.o, x.d
	if err := d.Listen(ctx); err != nil {
		return err
	}
	sp := r.spec
	if sp.AckLog != "" {
		// Its content is not checked, because those accounts were lost with their
		// process.
		log, _, err := openAckLog(sp.AckLog)
		if err != nil {
			return err
		}
		r.log = log
	}
	o.base = map[int64]int64{}
	if sp.Accounts > 0 {
		if err := d.Prepare(ctx, progress); err != nil {
			return err
		}
		if err := d.Balances(ctx, func(a, n, frozen int64) { o.base[a] = n + frozen }); err != nil {
			return err
		}
	}
	r.usage.begin(ctx)
	return nil
}

// dtmTask is one client of the server. It belongs to its worker.
type dtmTask struct {
	*Task
	d *ondtm.DTM
}

// Do submits one saga and waits for its outcome.
func (k *dtmTask) Do(ctx context.Context, it *workload.Iteration) error {
	t := k.t
	seq := t.seq
	t.seq++
	k.Prepare(it, seq)
	body, err := k.d.Body(&k.s)
	if err != nil {
		return workload.Fatal(err)
	}
	t.all.Add(1)
	m := it.Begin(model.OpSaga)
	o, err := k.transact(ctx, it, body)
	units := 0
	if err == nil {
		units = 1
		t.set(seq, o)
		if k.run.log != nil {
			if err = k.run.log.add(k.s.Gid, o); err != nil {
				err = workload.Fatal(err)
			}
		}
	}
	if err = it.End(m, units, err); !it.Warmup {
		k.count(it, o, err)
	}
	return err
}

// transact runs the current transaction.
func (k *dtmTask) transact(ctx context.Context, it *workload.Iteration, body []byte) (outcome, error) {
	if k.s.Of() != model.KindSaga {
		return k.phased(ctx, it, body)
	}
	return outcomeOf(k.d.Submit(ctx, k.s.Gid, body))
}

// outcomeOf returns the outcome that follows from a reply.
func outcomeOf(done bool, err error) (outcome, error) {
	switch {
	case err != nil:
		return unknown, err
	case done:
		return ackedDone, nil
	}
	return ackedUndone, nil
}

// phased runs a transaction that is prepared first: the application's part is done by
// perfbench, the rest by the server.
func (k *dtmTask) phased(ctx context.Context, it *workload.Iteration, body []byte) (outcome, error) {
	s, c := &k.s, &k.c
	s.Straggler = 0
	if err := c.Timed(it, model.OpSave, func() error { return k.d.Post(ctx, "prepare", body) }); err != nil {
		return unknown, fmt.Errorf("prepare: %w", err)
	}
	good, err := c.FirstPhase(ctx, it, s)
	if err != nil {
		return unknown, err
	}
	if good && c.Spec.LostRate > 0 && c.Rand.Float64() < c.Spec.LostRate {
		c.Counts.LostSubmits.Add(1)
		return unknown, coordinator.ErrLost
	}
	if good {
		var o outcome
		err := c.Timed(it, model.OpSubmit, func() (err error) {
			o, err = outcomeOf(k.d.Submit(ctx, s.Gid, body))
			return err
		})
		return o, err
	}
	late := s.Straggler
	err = c.Timed(it, model.OpAbort, func() error { return k.d.Post(ctx, "abort", body) })
	if err != nil {
		return unknown, fmt.Errorf("abort: %w", err)
	}
	got, err := outcomeOf(k.d.Outcome(ctx, s.Gid))
	if err == nil {
		err = c.Late(ctx, s, late)
	}
	return got, err
}

// settle waits until the server has finished what is undecided, which it does by itself
// after its retry interval.
func (x *dtmRun) settle(ctx context.Context) error {
	const most = 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	began := time.Now()
	for worker, t := range x.r.clients.all() {
		for seq := range t.seq {
			if t.get(seq) != unknown {
				continue
			}
			gid := string(model.AppendGid(nil, x.r.spec.Stamp, worker, seq))
			for {
				got, err := x.d.Query(ctx, gid)
				if err != nil {
					return fmt.Errorf("unfinished sagas could not be waited for: %w", err)
				}
				if got.Status == "" {
					break // it never arrived
				}
				if model.Final(got.Status) {
					x.recordSaga(&model.Saga{Gid: gid, Status: got.Status})
					break
				}
				if err := store.Pause(ctx, 100*time.Millisecond); err != nil {
					return fmt.Errorf("the server has not finished %s within %s", gid, most)
				}
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.atEnd.Seconds = time.Since(began).Seconds()
	return nil
}
