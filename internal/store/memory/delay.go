package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// delay makes a store slow on purpose, for demonstrations: every call takes
// latency, and once every so often all calls stand still for a while.
type delay struct {
	latency, stall, every time.Duration
	since                 time.Time
}

func newDelay(t store.Target) (delay, error) {
	latency, err1 := t.Duration("latency")
	stall, err2 := t.Duration("stall")
	every, err3 := t.Duration("stall_every")
	if every == 0 {
		every = 5 * time.Second
	}
	err := errors.Join(err1, err2, err3)
	if err == nil && stall > 0 && stall >= every {
		err = fault.Input(fmt.Errorf("memory: stall=%v is not shorter than stall_every=%v", stall, every), "")
	}
	return delay{latency, stall, every, time.Now()}, err
}

// wait takes as long as one call does, or until ctx ends. A stall begins at each
// multiple of every since the store was opened.
func (d *delay) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	pause := d.latency
	if d.stall > 0 {
		if age := time.Since(d.since); age >= d.every && age%d.every < d.stall {
			pause += d.stall - age%d.every
		}
	}
	return store.Rest(ctx, pause)
}
