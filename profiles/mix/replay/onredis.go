package replay

import (
	"context"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/workload"
)

// onRedis is a Redis as the place of a replay: the calls are made on keys of the run's own.
type onRedis struct {
	*Run
	lines  *link.Lines
	prefix string
	// identity is what the server calls itself.
	identity string
	// vague are the keys whose answers depend on more than the order of their calls.
	vague map[uint64]bool
}

// KeysOf is the space that the keys of replays are in.
func KeysOf(namespace string) store.Space {
	return store.Space{Namespace: namespace, Name: "replay", Shape: store.Keys, Grouped: true}
}

// Bind connects a plan to a Redis and puts a replay to work on it. It changes nothing.
func Bind(ctx context.Context, s *Spec, c redis.Typed, p *workload.Bound) error {
	own := runIDOf(info(ctx, c))
	if err := s.elsewhere(own); err != nil {
		return err
	}
	space := KeysOf(s.Namespace)
	claim := ownership.Space{Space: space, Parts: []string{store.FormOf(store.AnyKind, `\d+:.*`)}}
	r := newRun(s, serverOf(ctx, c), claim, p)
	r.at = &onRedis{Run: r, identity: own, lines: c.Lines(false), prefix: redis.KeyOf(space) + ":"}
	return nil
}

// elsewhere refuses the server that was recorded, which has its own work to do.
func (s *Spec) elsewhere(target string) error {
	if s.OntoSource || target == "" || target != s.Header.Identity {
		return nil
	}
	return fault.Input(fmt.Errorf("this is the server that %s was recorded from", s.Path), "choose another --target; or --set onto-source=on, if it can bear both: keys of others are not touched")
}

// runIDOf finds what a server calls itself in what it says of itself; "" if it does not.
func runIDOf(info string) string { return saidOf(info, "run_id:") }

// saidOf finds what a server says of one thing.
func saidOf(info, thing string) string {
	for line := range strings.Lines(info) {
		if text, is := strings.CutPrefix(strings.TrimSpace(line), thing); is {
			return text
		}
	}
	return ""
}

// info is what a server says of itself; "" if it does not.
func info(ctx context.Context, c redis.Typed) string {
	text, _ := c.Client().Info(ctx, "server").Result() // who does not say is not recognised
	return text
}

// serverOf names a server.
func serverOf(ctx context.Context, c redis.Typed) string {
	if version := saidOf(info(ctx, c), "redis_version:"); version != "" {
		return "Redis " + version
	}
	return "the earlier replay"
}

// begin loads what is read before anything writes it: where the recording says that it was there,
// or does not say that it was not.
func (r *onRedis) begin(ctx context.Context, answers bool, progress func(done, total int64)) error {
	if answers {
		if err := r.findVague(ctx.Done()); err != nil {
			return err
		}
	}
	switch r.begins() {
	case copied:
		return r.copySnapshot(ctx, progress)
	case empty:
		return nil
	}
	l := &loader{onRedis: r, ctx: ctx, seed: maphash.MakeSeed(), seen: map[uint64]uint8{}}
	done := int64(0)
	err := r.items(ctx.Done(), func(i *item, args []capture.Arg) error {
		if done++; done%1024 == 0 {
			progress(done, r.Items)
		}
		for _, p := range i.calls {
			if err := l.call(args[p.from:p.to], &p, i.found); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = l.flush()
	}
	progress(done, r.Items)
	return err
}

// caller returns what makes the calls of a thread.
func (r *onRedis) caller() caller {
	k := &redisCaller{on: r}
	k.each = k.tell
	return k
}

// redisCaller makes the calls of a thread.
type redisCaller struct {
	on   *onRedis
	q    link.Caller
	in   *chunk
	call *call
	n    int64
	// pipe are the requests of calls that are sent at once, calls are these, told gets what came of
	// each, and each is tell.
	pipe  []*link.Caller
	calls []call
	told  func(i int, err error)
	each  func(i int, err error)
}

// finds are the commands that find one value or nothing.
var finds = map[string]bool{"GET": true, "GETEX": true, "GETDEL": true, "HGET": true, "LINDEX": true, "ZSCORE": true}

// do makes the call.
func (k *redisCaller) do(ctx context.Context, keep bool) (err error) {
	k.q.Reply.Keep = keep
	k.n, err = k.on.lines.Do(ctx, &k.q)
	return err
}

// found reports whether a read has found something; is: it was one of one value.
func (k *redisCaller) found() (hit, is bool) {
	return k.n >= 0, !k.call.transaction && finds[k.in.args[k.in.parts[k.call.from].from].Text]
}

// after does nothing: a call is all that there is.
func (k *redisCaller) after(context.Context) {}

// end does nothing: the lines are of all threads.
func (k *redisCaller) end() {}

// ready writes the request of a call.
func (k *redisCaller) ready(_ context.Context, in *chunk, c *call) error {
	k.write(&k.q, in, c)
	k.in, k.call = in, c
	return nil
}

func (k *redisCaller) write(q *link.Caller, in *chunk, c *call) {
	if c.transaction {
		q.Multi()
	} else {
		q.Reset()
	}
	for i := c.from; i < c.to; i++ {
		p := &in.parts[i]
		k.on.command(&q.Request, in.args[p.from:p.to], p.keys, p.db)
	}
	if c.transaction {
		q.Exec()
	}
}

// gather writes the requests of several calls.
func (k *redisCaller) gather(in *chunk, calls []call) {
	for len(k.pipe) < len(calls) {
		k.pipe = append(k.pipe, &link.Caller{})
	}
	for i := range calls {
		k.write(k.pipe[i], in, &calls[i])
	}
	k.in, k.calls = in, calls
}

// send makes the calls.
func (k *redisCaller) send(ctx context.Context, told func(i int, err error)) {
	k.told = told
	k.on.lines.DoEach(ctx, k.pipe[:len(k.calls)], k.each)
}

// tell passes on what came of a call.
func (k *redisCaller) tell(i int, err error) {
	k.call, k.n = &k.calls[i], k.pipe[i].Reply.N
	k.told(i, err)
}

// command appends a command, whose keys become keys of the run's own.
func (r *onRedis) command(q *link.Request, args []capture.Arg, keys []int, db int) {
	q.Next(args[0].Text)
	next := 0
	for i := range args[1:] {
		a := &args[i+1]
		if next < len(keys) && keys[next] == i+1 {
			if next == 0 {
				q.KeyAt(i + 1)
			}
			next++
			q.Text = r.key(q.Text, db, a.Text)
		} else {
			q.Text = content(q.Text, a)
		}
		q.End()
	}
}

// key appends a key.
func (r *onRedis) key(b []byte, db int, name string) []byte {
	b = append(b, r.prefix...)
	b = strconv.AppendInt(b, int64(db), 10)
	return append(append(b, ':'), name...)
}

// content appends an argument: what was recorded, or as many bytes. Short ones are numbers, so
// that they can be added to; those that were the same are the same again.
func content(b []byte, a *capture.Arg) []byte {
	const digits = "1234567890"
	switch a.Kind {
	case capture.Text:
		return append(b, a.Text...)
	case capture.Name:
		x := a.ID | 1
		for range a.Size {
			x = x*6364136223846793005 + 1442695040888963407
			b = append(b, 'a'+byte(x>>33)%26)
		}
		return b
	}
	for left := a.Size; left > 0; left -= len(digits) {
		b = append(b, digits[:min(left, len(digits))]...)
	}
	return b
}
