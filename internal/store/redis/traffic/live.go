package traffic

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Load is what a server did in a while.
type Load struct {
	// Calls are calls a second, CPU the processors that the server used.
	Calls, CPU float64
}

// Live says how a server is listened to, and what came of it.
type Live struct {
	capture.Options
	// Duration is how long; Before is how long the server is watched first, without MONITOR.
	Duration, Before time.Duration
	// Say is told each step before it begins; may be nil.
	Say func(string)

	// Alone and With are the server's load before, and while it was listened to.
	Alone, With Load
}

// blocks is how many blocks of lines, of blockSize bytes each, wait while others are written
// down. When they are full, lines are lost: the server must not wait for us, since it would
// have to keep what we have not read.
const (
	blocks    = 64
	blockSize = 256 << 10
	// maxLive is how long a line is that is not lost: each byte may be written as four.
	maxLive = 4*capture.MaxText + 64<<10
)

// Record makes a capture of what a server is asked, until the time is up or ctx ends, which
// is no error. Errors have the code of the store, and of bad input for the path.
func (l *Live) Record(ctx context.Context, t store.Target, path string) (tally capture.Tally, err error) {
	conn, err := redis.Open(ctx, t, store.OpenOptions{Threads: 1})
	if err != nil {
		return tally, err
	}
	defer conn.Close() //nolint:errcheck // nothing of it is needed any more
	if link.IsCluster(conn.Client()) {
		return tally, fault.Input(errors.New("each node of a cluster is asked for other keys, and is captured by itself"), "name one of its nodes: redis://host:port")
	}
	// Their end is ours: when the time is up, what has arrived is still written.
	wires, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	control, err := link.NewWire(wires, conn.Client())
	if err != nil {
		return tally, fault.Code(err, fault.CodeStore)
	}
	defer control.Close()
	ear, err := link.NewWire(wires, conn.Client())
	if err != nil {
		return tally, fault.Code(err, fault.CodeStore)
	}
	defer ear.Close()
	ours := map[string]bool{control.Addr(): true, ear.Addr(): true}

	info := informed(control)
	l.say("MONITOR has the server send every call to perfbench, which takes throughput from a busy one; first, what it does without it, for " + l.Before.String())
	if l.Alone, err = l.watch(ctx, control, l.Before); err != nil {
		return tally, err
	}
	if ctx.Err() != nil {
		return tally, context.Cause(ctx)
	}
	commands := told(ctx, conn.Client())
	h := l.Header(capture.Header{
		Store: "redis", Server: strings.TrimSpace("Redis " + info["redis_version"]), Source: t.Redacted(), Identity: info["run_id"], How: "MONITOR",
		Started: time.Now().UTC(), Timing: capture.Exact,
	})
	w, err := capture.Create(path, h, l.Max)
	if err != nil {
		return tally, err
	}
	l.say("MONITOR for " + l.Duration.String())
	lines, err := ear.Listen("MONITOR")
	if err != nil {
		return tally, errors.Join(fault.Store(fmt.Errorf("redis: the server refuses MONITOR: %w", err), "grant it:  ACL SETUSER … +monitor"), w.Discard())
	}
	r := newRecorder(w, l.Options, commands, h.Started)
	r.ours = ours
	limit, cancel := context.WithTimeout(ctx, l.Duration)
	defer cancel()
	ended, err := l.listen(limit, lines, cut, r, control)
	if ctx.Err() != nil {
		ended = "it was interrupted"
	}
	if l.Alone.Calls > 0 {
		w.Tally.Notes = append(w.Tally.Notes, l.Cost())
	}
	err = w.End(ended, err)
	return w.Tally, err
}

// another is by how much a rate must have changed to be that of another load: listening takes less.
const another = 0.6

// Cost says what listening cost the server.
func (l *Live) Cost() string {
	change, note := l.With.Calls/max(l.Alone.Calls, 1)-1, ""
	by := fmt.Sprintf(" (%+.0f %%)", 100*change)
	if math.Abs(change) > another {
		by, note = "", ": the load has changed, so that this says nothing of the cost"
	}
	return fmt.Sprintf("the server did %.0f calls/s on %.2f cores before, and %.0f calls/s%s on %.2f cores while it was listened to%s",
		l.Alone.Calls, l.Alone.CPU, l.With.Calls, by, l.With.CPU, note)
}

func (l *Live) say(s string) {
	if l.Say != nil {
		l.Say(s)
	}
}

// listen writes down lines until limit ends, or the server ends them.
func (l *Live) listen(limit context.Context, lines *bufio.Reader, cut func(), r *recorder, control *link.Wire) (ended string, err error) {
	began, from := time.Now(), informed(control)
	full, free := make(chan []byte, blocks), make(chan []byte, blocks+2)
	for range blocks + 2 {
		free <- make([]byte, 0, blockSize)
	}
	gone := make(chan lost, 1) // one, at the end
	fault.Go(func() { gone <- gather(lines, full, free) })
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var p parser
	var c raw
	up := limit.Done()
	ended = "the server ended the connection"
	for full != nil {
		select {
		case block, ok := <-full:
			if !ok {
				full = nil
				break
			}
			if err == nil {
				err = takeDown(block, &p, &c, r)
			}
			if err != nil {
				cut()
			}
			if cap(block) > 2*blockSize {
				block = make([]byte, 0, blockSize)
			}
			free <- block[:0]
		case <-tick.C:
			r.w.Tally.At = time.Since(began).Microseconds()
			if err == nil {
				if err = r.w.Flush(); err != nil {
					cut()
				}
			}
		case <-up:
			up, ended = nil, "the time was up"
			l.With = loadOf(from, informed(control), time.Since(began))
			cut()
		}
	}
	n := <-gone
	for why, n := range map[string]int64{leftBehind: n.behind, capture.LeftTooLarge: n.large} {
		if n > 0 {
			r.w.Leave(why, n)
		}
	}
	r.w.Tally.At = time.Since(began).Microseconds()
	return ended, err
}

// lost counts lines that were not taken down: because no block was free, and because they are
// too long.
type lost struct{ behind, large int64 }

// gather reads lines into blocks until there are no more.
func gather(lines *bufio.Reader, full chan<- []byte, free <-chan []byte) (n lost) {
	defer close(full)
	var block []byte
	from := 0       // where in the block the line begins
	losing := false // the rest of a line whose beginning was lost
	send := func() {
		if len(block) > 0 {
			full <- block // there is room: there are no more blocks than that
			block = nil
		}
	}
	for {
		part, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if block != nil {
				block = block[:from]
			}
			send()
			return n
		}
		whole := err == nil
		if block == nil && !losing {
			select {
			case block = <-free:
				from = 0
			default:
				n.behind++
				losing = true
			}
		}
		if losing {
			losing = !whole
			continue
		}
		if block = append(block, part...); len(block)-from > maxLive {
			n.large++
			block, losing = block[:from], !whole
			continue
		}
		if !whole {
			continue
		}
		if from = len(block); from >= blockSize-(8<<10) || lines.Buffered() == 0 {
			send()
		}
	}
}

// takeDown records the lines of a block.
func takeDown(block []byte, p *parser, c *raw, r *recorder) error {
	for line := range bytes.Lines(block) {
		line, _ = bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("+"))
		if err := p.parse(line, c); err != nil || len(c.args[0]) == 0 {
			r.w.Leave(leftStrange, 1)
			continue
		}
		if err := r.add(c); err != nil {
			return err
		}
	}
	return nil
}

// watch measures what a server does for a while.
func (l *Live) watch(ctx context.Context, control *link.Wire, d time.Duration) (Load, error) {
	began, from := time.Now(), informed(control)
	if d <= 0 {
		return Load{}, nil
	}
	if store.Pause(ctx, d) != nil {
		return Load{}, context.Cause(ctx)
	}
	return loadOf(from, informed(control), time.Since(began)), nil
}

func loadOf(from, to map[string]string, d time.Duration) Load {
	diff := func(names ...string) (sum float64) {
		for _, n := range names {
			a, _ := strconv.ParseFloat(from[n], 64) // 0 where a server does not say it
			b, _ := strconv.ParseFloat(to[n], 64)
			sum += b - a
		}
		return max(sum/d.Seconds(), 0)
	}
	return Load{Calls: diff("total_commands_processed"), CPU: diff("used_cpu_user", "used_cpu_sys")}
}

// informed returns what a server reports; what it may not or cannot say is missing.
func informed(w *link.Wire) map[string]string {
	out := map[string]string{}
	for _, section := range []string{"server", "stats", "cpu"} {
		text, err := w.Ask("INFO", section)
		if err != nil && errors.Is(err, io.EOF) {
			return out
		}
		for line := range strings.Lines(text) {
			if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				out[k] = v
			}
		}
	}
	return out
}

// told asks a server for the commands that the table does not have, such as those of its
// modules: which of their arguments are keys. The rest of them is data.
func told(ctx context.Context, client link.Client) *Commands {
	all, err := client.Command(ctx).Result()
	if err != nil {
		return nil // it may not tell
	}
	c := &Commands{told: map[string]spec{}}
	for name, info := range all {
		name = strings.ToUpper(name)
		if _, ok := table[name]; ok || info.FirstKeyPos <= 0 {
			continue
		}
		before, step := strings.Repeat("v", int(info.FirstKeyPos)-1), "k"+strings.Repeat("v", max(int(info.StepCount), 1)-1)
		switch {
		case info.LastKeyPos < 0:
			c.told[name] = spec{parts: before + "*" + step + "|" + strings.Repeat("v", int(-info.LastKeyPos)-1)}
		default:
			n := (int(info.LastKeyPos)-int(info.FirstKeyPos))/max(int(info.StepCount), 1) + 1
			c.told[name] = spec{parts: before + strings.Repeat(step, n)}
		}
	}
	return c
}
