package remote

import (
	"cmp"
	"context"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// Commands owns what members are told: each word is numbered and signed, and said again and again
// until it is acknowledged. Its methods may be called from any goroutine, and what begins with a
// capital does not wait for answers.
type Commands struct {
	conn   *Connection
	sign   *signer
	roster *Roster
	// life ends when nobody is told anything any more.
	life context.Context
	end  context.CancelFunc

	changes atomic.Int64 // how often settings were told

	mu     sync.Mutex
	phases map[string]time.Duration // that have begun, since the run did
}

func newCommands(conn *Connection, sign *signer, roster *Roster) *Commands {
	return &Commands{conn: conn, sign: sign, roster: roster, phases: map[string]time.Duration{}}
}

// Change tells each member its settings; of gives them, nil for one that is not told. How long
// the answers took stands in Members.
func (c *Commands) Change(segment int, of func(worker int) []workload.Settings) {
	c.settle(segment, of, true)
}

// Deal is Change of how settings that are in force already are shared out; of gives nil for a
// worker that is not told.
func (c *Commands) Deal(segment int, of func(worker int) []workload.Settings) {
	c.settle(segment, of, false)
}

func (c *Commands) settle(segment int, of func(worker int) []workload.Settings, changed bool) {
	c.changes.Add(1)
	told := time.Now().UnixNano()
	for i := range c.roster.all() {
		if mine := of(i); mine != nil {
			c.command(i, Command{Settings: mine, Segment: segment, Told: told}, changed)
		}
	}
}

// Enter tells all members that a phase may begin.
func (c *Commands) Enter(phase string) {
	at := c.roster.Elapsed()
	c.mu.Lock()
	c.phases[phase] = at
	c.mu.Unlock()
	for i := range c.roster.all() {
		c.command(i, Command{Phase: phase}, false)
	}
}

// entered are the phases that have begun, and when, since the run did.
func (c *Commands) entered() map[string]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.phases)
}

// Stop tells all members to end.
func (c *Commands) Stop(why string) {
	for i := range c.roster.all() {
		c.command(i, Command{Stop: why}, false)
	}
}

// again is how long a member that did not answer is left in peace.
const again = 200 * time.Millisecond

// command tells a member something, again and again until it has answered: it may be cut
// off for a while. Settings that others have replaced meanwhile are not told any more. timed
// says that how long it takes is of interest. Roster.mu may be held.
func (c *Commands) command(i int, cmd Command, timed bool) {
	data, number, sent, of := encoded(cmd), c.sign.number(), time.Now(), c.changes.Load()
	fault.Go(func() { // ends with the answer, the member, or the coordinator
		for {
			answer, err := c.ask(c.life, i, "control", number, data)
			var a applied
			if err != nil || decoded(answer, mostWord, &a) != nil || a.At >= math.MaxInt64/2 {
				a.At = 0
			}
			c.roster.mu.Lock()
			over := a.At > 0 || c.pointless(i, &cmd, of)
			if a.At > 0 && timed {
				c.roster.answered(i, cmd.Segment, sent, a.At)
			}
			c.roster.mu.Unlock()
			if over {
				return
			}
			select {
			case <-time.After(again):
			case <-c.life.Done():
				return
			}
		}
	})
}

// pointless says that something need not be said again: settings that were told when they had
// been so often, a part that nobody waits for, or anything to one that has ended. The caller
// holds Roster.mu.
func (c *Commands) pointless(i int, cmd *Command, changes int64) bool {
	return cmd.Settings != nil && changes != c.changes.Load() ||
		cmd.Handoff != nil && c.roster.members[cmd.Handoff.Index].standing.done() ||
		c.roster.members[i].standing.ended()
}

// patience is how long a member may take to answer.
const patience = 10 * time.Second

// ask asks a member for something, or tells it something, under a number; without one nothing
// comes of it there, and it is not signed.
func (c *Commands) ask(ctx context.Context, i int, what, number string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	q := &nats.Msg{Subject: c.to(i, what), Data: data}
	if number != "" {
		q.Header = c.sign.header(c.roster.address(i), what, number, data)
	}
	m, err := c.conn.nc.RequestMsgWithContext(ctx, q)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return m.Data, nil
}

// to is the subject on which a member is told or asked something.
func (c *Commands) to(i int, what string) string {
	return c.conn.on.worker + "." + c.roster.address(i) + "." + what
}
