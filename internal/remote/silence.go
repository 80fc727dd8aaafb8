package remote

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// checkSilence finds out who is silent, and who is gone.
func (c *Coordinator) checkSilence(ctx context.Context) {
	tick := time.NewTicker(beatEvery / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if c.o.Past != nil && c.upto.Load() != math.MaxInt64 {
			continue
		}
		c.mu.Lock()
		quiet := slices.ContainsFunc(c.workers, func(w *worker) bool { return w.state != Ended && time.Since(w.beat) > silent })
		c.mu.Unlock()
		if quiet {
			c.sortOut(ctx)
		}
	}
}

// sortOut tells those that are stalled from those that are gone: NATS says at once when
// nobody listens to what a worker listens to.
func (c *Coordinator) sortOut(ctx context.Context) {
	var quiet []int
	c.mu.Lock()
	for i, w := range c.workers {
		if !w.done() && time.Since(w.beat) > silent {
			quiet = append(quiet, i)
		}
	}
	c.mu.Unlock()
	gone := make([]bool, len(quiet))
	var all sync.WaitGroup
	for k, i := range quiet {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, beatEvery/2)
			defer cancel()
			_, err := c.nc.RequestWithContext(ctx, c.to(i, "clock"), nil)
			gone[k] = errors.Is(err, nats.ErrNoResponders) || !c.nc.IsConnected()
		})
	}
	all.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, i := range quiet {
		w := c.workers[i]
		if w.done() || time.Since(w.beat) <= silent {
			continue
		}
		now := Stalled
		if gone[k] {
			now = Gone
		}
		if c.notice(i, w, now); now == Gone && w.LostAt == 0 && !c.at.IsZero() {
			w.LostAt = time.Since(c.at)
		}
		c.giveUp(i, w)
		c.wake()
	}
}

// giveUp has nobody wait any longer for a worker that has been silent for too long. The
// caller holds c.mu.
func (c *Coordinator) giveUp(i int, w *worker) {
	if c.at.IsZero() || time.Since(w.beat) <= c.o.Patience {
		return
	}
	state := w.state
	c.notice(i, w, GivenUp)
	w.state, w.away, w.givenUp = state, true, true
	if w.LostAt == 0 {
		w.LostAt = time.Since(c.at)
	}
	c.pass(i, w)
	c.end()
}

// Away says of each worker whether it has been silent for so long that nobody waits for it.
func (c *Coordinator) Away() (out []bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		out = append(out, w.away)
	}
	return out
}
