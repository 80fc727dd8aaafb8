package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Of copying a snapshot: how many keys are asked for at once, and how many bytes are on their way at
// most before they are written, one value apart.
const (
	snapshotKeys  = 256
	snapshotBytes = 8 << 20
)

// copySnapshot copies what another server has, which somebody has filled from a snapshot, under the
// keys of the replay. It only reads there.
func (r *onRedis) copySnapshot(ctx context.Context, progress func(done, total int64)) error {
	from, err := r.openSnapshot(ctx, "")
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was only read
	if err := r.checkSnapshot(ctx, from); err != nil {
		return err
	}
	sizes := databases(ctx, from)
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	for db := range sizes {
		one := from
		if db != 0 {
			if one, err = r.openSnapshot(ctx, strconv.Itoa(db)); err != nil {
				return err
			}
		}
		err := link.Masters(ctx, one.Client(), func(ctx context.Context, m link.Client) error { return r.copyFrom(ctx, m, db, progress, total) })
		if db != 0 {
			err = errors.Join(err, one.Close())
		}
		if err != nil {
			return explainCopy(err)
		}
	}
	return nil
}

// openSnapshot connects to the server with the snapshot, and one of its databases.
func (r *onRedis) openSnapshot(ctx context.Context, db string) (*redis.Conn, error) {
	t := r.Snapshot
	if db != "" {
		t.Path = db
	}
	c, err := redis.Open(ctx, t, store.OpenOptions{Threads: 2, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fault.Field("snapshot", fmt.Errorf("snapshot: %w", t.Scrub(err)))
	}
	return c, nil
}

// checkSnapshot refuses the target, where copies would be copied again, and the server that was
// recorded, which has its own work to do and other data by now.
func (r *onRedis) checkSnapshot(ctx context.Context, from *redis.Conn) error {
	switch id := runIDOf(info(ctx, from)); {
	case id == "":
	case id == r.identity:
		return fault.Field("snapshot", fault.Input(fmt.Errorf("snapshot: this is the target itself"), "start another server from the snapshot, and name that"))
	case id == r.Header.Identity && !r.OntoSource:
		return fault.Field("snapshot", fault.Input(fmt.Errorf("snapshot: this is the server that %s was recorded from, whose data have changed since", r.Path),
			"start another server from a snapshot, and name that; or --set onto-source=on, if these data will do"))
	}
	return nil
}

// databases returns how many keys each database of a server has.
func databases(ctx context.Context, c *redis.Conn) map[int]int64 {
	out := map[int]int64{}
	text, err := c.Client().Info(ctx, "keyspace").Result()
	if link.IsCluster(c.Client()) || err != nil { // of a cluster, it is what one node has
		return map[int]int64{0: 0}
	}
	for line := range strings.Lines(text) { // db0:keys=3,expires=0,avg_ttl=0
		name, facts, _ := strings.Cut(strings.TrimSpace(line), ":keys=")
		db, err := strconv.Atoi(strings.TrimPrefix(name, "db"))
		count, _, _ := strings.Cut(facts, ",")
		n, bad := strconv.ParseInt(count, 10, 64)
		if err == nil && bad == nil {
			out[db] = n
		}
	}
	return out
}

// copyFrom copies a database of one server.
func (r *onRedis) copyFrom(ctx context.Context, m link.Client, db int, progress func(done, total int64), total int64) error {
	w := &restorer{r: r, db: db}
	for cursor := uint64(0); ; {
		keys, next, err := m.Scan(ctx, cursor, "", snapshotKeys).Result()
		if err != nil {
			return err
		}
		for len(keys) > 0 {
			n, err := w.copy(ctx, m, keys)
			if err != nil {
				return err
			}
			keys = keys[n:]
			progress(r.start.copied.Load(), max(total, r.start.copied.Load()))
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// restorer writes copies. It belongs to one goroutine.
type restorer struct {
	r     *onRedis
	db    int
	calls []*link.Caller
}

// copy copies the first keys of a list, as many as fit at once, and returns how many it was.
func (w *restorer) copy(ctx context.Context, m link.Client, keys []string) (int, error) {
	sizes, err := m.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, k := range keys {
			p.MemoryUsage(ctx, k)
		}
		return nil
	})
	if err != nil && !errors.Is(err, goredis.Nil) {
		sizes = nil // it may not be asked
	}
	n, bytes := 0, int64(0)
	for n < len(keys) && (n == 0 || bytes < snapshotBytes) {
		if n < len(sizes) {
			size, _ := sizes[n].(*goredis.IntCmd).Result() // 0 if it has gone
			bytes += size
		}
		n++
	}
	var spans []*goredis.DurationCmd
	var dumps []*goredis.StringCmd
	_, err = m.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, k := range keys[:n] {
			spans, dumps = append(spans, p.PTTL(ctx, k)), append(dumps, p.Dump(ctx, k))
		}
		return nil
	})
	if err != nil && !errors.Is(err, goredis.Nil) {
		return 0, err
	}
	used := 0
	for i, d := range dumps {
		text, err := d.Result()
		if errors.Is(err, goredis.Nil) {
			continue // it has expired since
		}
		if used == len(w.calls) {
			w.calls = append(w.calls, &link.Caller{})
		}
		q := &w.calls[used].Request
		used++
		q.Reset()
		q.Command("RESTORE")
		q.Text = w.r.key(q.Text, w.db, keys[i])
		q.End()
		q.Num(max(spans[i].Val().Milliseconds(), 0))
		q.Add(text)
		q.Add("REPLACE")
	}
	if used == 0 {
		return n, nil
	}
	err = w.r.lines.DoAll(ctx, w.calls[:used])
	w.r.start.copied.Add(int64(used))
	return n, err
}

// explainCopy says of a copy that failed what may be done.
func explainCopy(err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "payload version or checksum"):
		return fault.Store(fmt.Errorf("snapshot: the target cannot read what the server with the snapshot writes: %w", err), "start the snapshot on a version that is no newer than the target")
	case strings.HasPrefix(text, "OOM"), strings.Contains(text, "used memory > 'maxmemory'"):
		return fault.Store(fmt.Errorf("snapshot: it does not fit into the target: %w", err), "give the target more memory")
	}
	return fmt.Errorf("snapshot: %w", err)
}
