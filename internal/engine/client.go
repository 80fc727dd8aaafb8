package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// mostCredit is how many retries a worker can save up.
const mostCredit = 10

// do carries out an iteration, as often as the client's policy has it.
func (w *worker) do() error {
	c := &w.t.run.opts.Client
	if c.Patient() {
		return w.task.Do(w.t.run.hard, &w.it)
	}
	if w.lots == nil {
		w.lots = rand.New(rand.NewPCG(uint64(w.t.run.opts.Seed), uint64(w.t.run.opts.Stream)<<40|uint64(w.t.index)<<20|uint64(w.id)))
	}
	w.credit = min(w.credit+c.Budget, mostCredit)
	for retry := 0; ; retry++ {
		may := w.t.run.opts.Retryable
		if retry == c.Retries || c.Budget > 0 && w.credit < 1 {
			may = nil
		}
		w.it.Attempt(may)
		err := w.attempt()
		if !w.it.Again() || errors.Is(err, workload.ErrDone) || workload.IsFatal(err) {
			return err
		}
		w.credit--
		if c.Backoff > 0 && !w.backOff(c.Pause(retry, w.lots.Float64())) {
			return err
		}
	}
}

// backOff waits before a retry, whatever is changed meanwhile; false if the run has ended.
func (w *worker) backOff(d time.Duration) bool {
	for until := w.t.run.now() + int64(d); ; {
		a := w.t.active.Load()
		if a.ended {
			return false
		}
		if left := time.Duration(until - w.t.run.now()); left <= 0 || w.sleep(left, a.stale) {
			return true
		}
	}
}

// attempt carries out an iteration once, for as long as the client has patience.
func (w *worker) attempt() error {
	ctx := w.t.run.hard
	if d := w.t.run.opts.Client.Deadline; d > 0 {
		limited, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		ctx = limited
	}
	return w.task.Do(ctx, &w.it)
}
