package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// Options say how to bring workers together.
type Options struct {
	// Workers is how many must join.
	Workers int
	// Listen is HOST:PORT; no host is this machine alone. NATS, when set, is the user's own
	// server, used instead of one that listens there.
	Listen string
	NATS   *Server
	// Token is what workers must bring; empty: nothing. WatchToken is one that lets nobody but
	// watchers in, whom Token lets in, too; empty: there is none. Where NATS is the user's,
	// that says who may do what.
	Token, WatchToken string
	// Key signs what workers are told; nil: one is made.
	Key *Key
	// Identity makes connections use TLS; nil: they do not.
	Identity *Identity
	// Dir is the folder that keeps what workers have sent, and Keep how many bytes of that at
	// most: what was sent first goes first, and then nobody can go on in this coordinator's
	// place. 0: three eighths of what is free on the disk. Without NATS only.
	Dir  string
	Keep int64
	// Version is ours: workers must have the same.
	Version string
	// Patience is how long a worker may be silent until nobody waits for it any longer; 0:
	// DefaultPatience.
	Patience time.Duration
	// Wait is for how long Gather waits while no worker joins or gets ready, Remind how often
	// it says who is missing; 0: DefaultWait, and half a minute.
	Wait, Remind time.Duration
	// Run is the id of the run, Order what workers are given, at most MaxMessage.
	Run   string
	Order []byte
	// Line is that of the runs which this is one of, with the same workers; empty: it is the
	// only one. More says that others of them follow.
	Line string
	More bool
	// Past is that of the coordinator in whose place this one goes on; nil: there was none.
	Past *Restored
	// Tracks is how many tracks the run has; 0: it is not known.
	Tracks int
	// Received is called with each report, in order for each worker and one at a time.
	Received func(worker int, r *Report) error
	// Noticed is told of a worker that is silent, gone, given up or back; nil: nobody is. It
	// must not wait.
	Noticed func(worker int, host string, now State)
	// Pass, when set, has the rest of the part of a worker that is given up done by another,
	// and tells what of it is left, by what the figures have of it, and its settings. Passed is
	// told whose it was, the number of the heir and of the worker in whose process that is.
	Pass   func(part int, did []workload.Did) Handoff
	Passed func(from, heir, host int)
	// Show tells those who watch the run how it is, in words of the caller's own; nil: nobody
	// may watch. It is called from any goroutine.
	Show func() []byte
}

// Coordinator brings workers together, and owns the life of a run with them: it opens, gathers,
// starts, rests and closes. What goes on in between belongs to its parts, each with a state of its
// own: who is there to Roster, how far they are to Progress, what they are told to Commands. Its
// methods may be called from any goroutine.
type Coordinator struct {
	Connection *Connection
	Roster     *Roster
	Progress   *Progress
	Commands   *Commands
	Replay     *Replay

	o        Options
	sign     *signer
	intake   *intake
	liveness *liveness
	audience *audience
	line     *line

	gc     int // how eager the collector was before
	idle   sync.Once
	closed sync.Once
}

// newCoordinator connects its parts with each other, and with nothing else. o has a key.
func newCoordinator(o Options) *Coordinator {
	c := &Coordinator{o: o}
	c.Connection = newConnection(&c.o)
	c.sign = newSigner(c.o.Key, o.Run)
	c.Roster = newRoster(&c.o)
	c.Commands = newCommands(c.Connection, c.sign, c.Roster)
	c.Progress = newProgress(c.Roster, c.Commands)
	c.Replay = newReplay(c.Roster)
	c.intake = &intake{o: &c.o, roster: c.Roster, tell: c.Commands, progress: c.Progress, replay: c.Replay}
	h := &handoffs{o: &c.o, roster: c.Roster, tell: c.Commands, progress: c.Progress, intake: c.intake}
	c.liveness = &liveness{o: &c.o, conn: c.Connection, roster: c.Roster, tell: c.Commands, replay: c.Replay, handoffs: h}
	c.line = newLine(o.More)
	c.audience = newAudience(c.Connection, o.Show)
	return c
}

// Open begins to listen.
func Open(ctx context.Context, o Options) (*Coordinator, error) {
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	if o.Key == nil {
		var err error
		if o.Key, err = NewKey(); err != nil {
			return nil, err
		}
	}
	c := newCoordinator(o)
	if err := c.Connection.open(); err != nil {
		return nil, err
	}
	c.gc = debug.SetGCPercent(eager)
	ctx, c.Commands.end = context.WithCancel(context.WithoutCancel(ctx))
	c.Commands.life = ctx
	if err := c.listen(ctx); err != nil {
		if o.Past != nil {
			c.Connection.stays.Store(true)
		}
		c.Close()
		return nil, fmt.Errorf("bring workers together: %w", err)
	}
	fault.Go(func() { c.liveness.watch(ctx) })
	return c, nil
}

// eager is how much, in percent, a coordinator's memory may grow between two collections:
// what comes from workers is garbage soon, and no operation of this process waits for them.
const eager = 40

// listen takes what workers say.
func (c *Coordinator) listen(ctx context.Context) error {
	stream, err := c.kept(ctx)
	if err != nil {
		return fmt.Errorf("keep what workers send: %w", err)
	}
	figures, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	if _, err := figures.Consume(c.intake.figures, jetstream.PullMaxMessages(64)); err != nil {
		return err
	}
	for subject, f := range map[string]nats.MsgHandler{
		c.Connection.on.join + ".*": c.join, c.Connection.on.ready + ".*.*": c.ready, c.Connection.on.beat + ".*.*": c.liveness.beat, c.Connection.on.ended + ".*.*": c.intake.ended,
		c.Connection.on.members: c.tellMembers, subjectRuns: c.offer, c.Connection.on.watch: c.watched, c.Connection.on.parted: c.line.part,
	} {
		if _, err := c.Connection.nc.Subscribe(subject, f); err != nil {
			return err
		}
	}
	return c.Connection.nc.Flush()
}

// kept is where figures are kept: a new stream, or that of the coordinator before, which is read
// again.
func (c *Coordinator) kept(ctx context.Context) (jetstream.Stream, error) {
	if c.o.Past == nil {
		return c.Connection.stream(ctx)
	}
	stream, last, err := c.Connection.past(ctx)
	if err == nil {
		c.Replay.begin(last)
	}
	return stream, err
}

// tellMembers tells of all workers who asks for them, but not their ids: who has one can speak
// for its worker.
func (c *Coordinator) tellMembers(m *nats.Msg) {
	all := c.Roster.Members()
	for i := range all {
		all[i].ID = ""
	}
	answer(m, encoded(all))
}

// offer tells of the run.
func (c *Coordinator) offer(m *nats.Msg) {
	o := offer{Run: c.o.Run, Coordinator: c.Connection.id, Key: c.o.Key.Public(), Line: c.o.Line, Shared: c.o.NATS != nil}
	o.Over, o.More = c.line.stands()
	c.Roster.mu.Lock()
	o.Full = c.Roster.full()
	c.Roster.mu.Unlock()
	c.sign.respond(m, string(m.Data[:min(len(m.Data), mostName)]), "offer", encoded(o))
}

// watched tells one who watches how the run is.
func (c *Coordinator) watched(m *nats.Msg) {
	over, _ := c.line.stands()
	c.audience.asked(m, over)
}

// Last shows all who watch the run what came of it, and waits a little until they have it.
func (c *Coordinator) Last(shown []byte) { c.audience.last(shown) }

// Key is what signs what workers are told, for another coordinator that goes on in this one's
// place.
func (c *Coordinator) Key() *Key { return c.o.Key }

// Idle ends what goes on for workers, all of whom have ended: from then on the coordinator
// only answers. It may be called again.
func (c *Coordinator) Idle() {
	if c.Commands.end == nil {
		return // it was never open
	}
	c.liveness.idle.Store(true)
	c.idle.Do(func() {
		c.Commands.end()
		debug.SetGCPercent(c.gc)
	})
}

// Hold idles like Idle, and has workers wait for the next run, which is to listen at the same
// place: Close makes way for it.
func (c *Coordinator) Hold() {
	c.Idle()
	c.line.hold()
}

// Dismiss tells the workers that wait for the next run that there is none, and closes. So many
// are waited for, a little; ctx cuts that short.
func (c *Coordinator) Dismiss(ctx context.Context, workers int) {
	c.line.dismiss(ctx, workers)
	c.Close()
}

// Leave ends like Close and removes nothing, so that another can go on.
func (c *Coordinator) Leave() {
	c.Connection.stays.Store(true)
	c.Close()
}

// Close ends our server, or removes from the user's what was kept there, and forgets the
// workers. It may be called again.
func (c *Coordinator) Close() {
	c.closed.Do(func() {
		c.Idle()
		c.Connection.close()
	})
}

func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // messages of ours are plain data
	}
	return data
}
