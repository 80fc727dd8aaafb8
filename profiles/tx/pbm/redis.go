package pbm

import (
	"context"
	_ "embed" // for the scripts
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

//go:embed summary.lua
var summaryLua string

//go:embed summary_map.lua
var summaryMapLua string

// The name of the function's library is global on the server: it has no namespace. The
// library is removed with --cleanup.
const (
	pbmFunction = "perfbench_tx_"
	libraryPBM  = "perfbench_tx"
)

var (
	summaryScript = link.NewScript(pbmFunction+"summary", summaryLua)
	// summaryMapScript does the same if each map is one hash.
	summaryMapScript = link.NewScript(pbmFunction+"summary_map", summaryMapLua)
)

// redisLayer runs the transaction on Redis, in one of four ways.
type redisLayer struct {
	*shapes
	client link.Client
	run    link.Scripts
	// callers holds *link.Caller.
	callers sync.Pool
	once    func(ctx context.Context, g *groupCall) (summary, bool, error)
	base    [3]string
	// filled means that this run has written fillings, which a summary without one must
	// not leave behind.
	filled atomic.Bool
}

// groupCall is one transaction: the keys of the group's profile, members and summary,
// the names of its members if they must be given, and the summary's filling.
type groupCall struct {
	keys    []string
	group   string
	members [][]byte
	filling string
}

// untouched stands for a filling that is left as it is: no real filling has this value.
const untouched = "-"

func newRedisLayer(c redis.Typed, s *Spec) (*redisLayer, error) {
	h, err := newShapes(c, s)
	if err != nil {
		return nil, fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	r := &redisLayer{shapes: h, client: c.Client(), run: link.Scripts{Lines: c.Lines(true), How: link.BySHA}}
	r.callers.New = func() any { return new(link.Caller) }
	for i, name := range []string{padogrid.Profiles, padogrid.Eligibility, padogrid.Summaries} {
		r.base[i] = redis.KeyOf(s.space(name)) + ":{"
	}
	r.once = map[string]func(context.Context, *groupCall) (summary, bool, error){
		atomicScript: r.byScript(link.BySHA), atomicFunction: r.byScript(link.ByFunction), atomicWatch: r.byWatch, atomicNone: r.bare,
	}[s.atomic]
	return r, nil
}

// functions returns the scripts of a run that calls functions of the server.
func (r *redisLayer) functions() link.Scripts {
	f := r.run
	if r.s.atomic == atomicFunction && r.s.tx() {
		f.How = link.ByFunction
	}
	return f
}

// prepare makes the scripts known if they are called.
func (r *redisLayer) prepare(ctx context.Context) error {
	if !r.s.tx() || r.s.atomic == atomicWatch || r.s.atomic == atomicNone {
		return nil
	}
	return r.functions().Load(ctx, libraryPBM, "--set atomic=script", summaryScript, summaryMapScript)
}

// cleanup removes the function.
func (r *redisLayer) cleanup(ctx context.Context) error { return r.functions().Unload(ctx, libraryPBM) }

// keys returns the keys of a group's profile, members and summary: in the layout by
// groups all in one slot, otherwise two whole maps and the summary.
func (r *redisLayer) keys(group string) []string {
	k := []string{r.base[0] + group + "}", r.base[1] + group + "}", r.base[2] + group + "}"}
	if !r.s.grouped() {
		k[0], k[1] = redis.KeyOf(r.s.space(padogrid.Profiles)), redis.KeyOf(r.s.space(padogrid.Eligibility))
	}
	return k
}

// Summarize tries the transaction once. Redis cannot search a whole map for a group, so
// the members' keys are computed for it.
func (r *redisLayer) Summarize(ctx context.Context, group, filling []byte) (summary, bool, error) {
	g := groupCall{group: string(group), filling: string(filling)}
	g.keys = r.keys(g.group)
	if !r.s.grouped() {
		g.members = r.s.memberKeys(group)
	}
	switch {
	case len(filling) > 0:
		if !r.filled.Load() {
			r.filled.Store(true)
		}
	case !r.filled.Load() && !r.s.hadSummaries:
		g.filling = untouched
	}
	return r.once(ctx, &g)
}

// twoNumbers parses the script's reply.
func twoNumbers(r *link.Reply, err error) (summary, bool, error) {
	switch {
	case err != nil:
		return summary{}, false, err
	case r.N < 0:
		return summary{}, false, nil
	case r.Len() != 2:
		return summary{}, false, fmt.Errorf("the script answered with %d numbers instead of 2", r.Len())
	}
	var got [2]int64
	for i := range got {
		text, _ := r.At(i)
		if got[i], err = strconv.ParseInt(string(text), 10, 64); err != nil {
			return summary{}, false, fmt.Errorf("the script answered with %q instead of a number", text)
		}
	}
	return summary{got[0], got[1]}, true, nil
}

// byScript returns a function that calls the script for the layout in the given way.
func (r *redisLayer) byScript(how string) func(context.Context, *groupCall) (summary, bool, error) {
	run := link.Scripts{Lines: r.run.Lines, How: how}
	return func(ctx context.Context, g *groupCall) (summary, bool, error) {
		of := summaryMapScript
		if r.s.grouped() {
			of = summaryScript
		}
		c := r.callers.Get().(*link.Caller)
		defer r.callers.Put(c)
		run.Begin(&c.Request, of, 3)
		for _, k := range g.keys {
			c.Add(k)
		}
		c.Add(g.group)
		c.Add(g.filling)
		for _, m := range g.members {
			c.Bytes(m)
		}
		c.Reply.Keep = true
		_, err := run.Finish(ctx, c, of)
		return twoNumbers(&c.Reply, err)
	}
}

// byWatch watches the three keys, reads, and writes unless one of them has been written
// in the meantime.
func (r *redisLayer) byWatch(ctx context.Context, g *groupCall) (sum summary, found bool, err error) {
	err = link.Watch(ctx, r.client, func(tx goredis.Cmdable) error {
		var err error
		if sum, found, err = r.read(ctx, tx, g); err != nil || !found {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			return g.write(ctx, p, sum)
		})
		return err
	}, g.keys...)
	if errors.Is(err, goredis.TxFailedErr) {
		err = errConflict
	}
	return sum, found, err
}

// bare does the same without isolation.
func (r *redisLayer) bare(ctx context.Context, g *groupCall) (summary, bool, error) {
	sum, found, err := r.read(ctx, r.client, g)
	if err != nil || !found {
		return sum, false, err
	}
	return sum, true, g.write(ctx, r.client, sum)
}

// read adds up a group's members, in two round trips.
func (r *redisLayer) read(ctx context.Context, c goredis.Cmdable, g *groupCall) (sum summary, found bool, err error) {
	k := g.keys
	if !r.s.grouped() {
		return readMaps(ctx, c, k, g.group, g.members)
	}
	first := c.Pipeline()
	profile, names := first.Exists(ctx, k[0]), first.HKeys(ctx, k[1])
	if _, err := first.Exec(ctx); err != nil {
		return sum, false, err
	}
	if profile.Val() == 0 {
		return sum, false, nil
	}
	second := c.Pipeline()
	sizes := make([]*goredis.IntCmd, len(names.Val()))
	for i, m := range names.Val() {
		sizes[i] = second.HStrLen(ctx, k[1], m)
	}
	if len(sizes) > 0 {
		if _, err := second.Exec(ctx); err != nil {
			return sum, false, err
		}
	}
	sum.Members = int64(len(sizes))
	for _, n := range sizes {
		sum.Bytes += n.Val()
	}
	return sum, true, nil
}

// readMaps does so in one round trip, if each map is one hash.
func readMaps(ctx context.Context, c goredis.Cmdable, k []string, group string, members [][]byte) (sum summary, found bool, err error) {
	pipe := c.Pipeline()
	profile := pipe.HExists(ctx, k[0], group)
	there, sizes := make([]*goredis.BoolCmd, len(members)), make([]*goredis.IntCmd, len(members))
	for i, m := range members {
		there[i], sizes[i] = pipe.HExists(ctx, k[1], string(m)), pipe.HStrLen(ctx, k[1], string(m))
	}
	if _, err := pipe.Exec(ctx); err != nil || !profile.Val() {
		return sum, false, err
	}
	for i := range members {
		if there[i].Val() {
			sum.Members++
			sum.Bytes += sizes[i].Val()
		}
	}
	return sum, true, nil
}

// write stores the summary as the scripts do.
func (g *groupCall) write(ctx context.Context, c goredis.Cmdable, sum summary) error {
	fields := []any{
		"groupNumber", g.group, "carrierNumber", g.group, "contractNumber", g.group,
		"memberCount", sum.Members, "totalBlobSize", sum.Bytes, "writtenTime", time.Now().UnixMilli(),
	}
	if g.filling != "" && g.filling != untouched {
		fields = append(fields, "filling", g.filling)
	}
	err := c.HSet(ctx, g.keys[2], fields...).Err()
	if err == nil && g.filling == "" {
		err = c.HDel(ctx, g.keys[2], "filling").Err()
	}
	return err
}

// Summary reads a group's summary.
func (r *redisLayer) Summary(ctx context.Context, group []byte) (kept, bool, error) {
	got, err := r.client.HMGet(ctx, r.keys(string(group))[2], "memberCount", "totalBlobSize", "filling").Result()
	if err != nil || got[0] == nil || got[1] == nil {
		return kept{}, false, err
	}
	m, err1 := strconv.ParseInt(fmt.Sprint(got[0]), 10, 64)
	b, err2 := strconv.ParseInt(fmt.Sprint(got[1]), 10, 64)
	filling, _ := got[2].(string)
	return kept{summary{m, b}, filling}, true, errors.Join(err1, err2)
}

// GetProfiles reads several entries, in the layout by groups in one pipeline.
func (r *redisLayer) GetProfiles(ctx context.Context, at string, groups [][]byte) (int, error) {
	if !r.s.grouped() {
		return r.shapes.GetProfiles(ctx, at, groups)
	}
	base := 0
	if at == padogrid.Summaries {
		base = 2
	}
	return r.pipeline(ctx, base, groups, groups)
}

// GetMembers reads several entries, in the layout by groups in one pipeline.
func (r *redisLayer) GetMembers(ctx context.Context, groups, keys [][]byte) (int, error) {
	if !r.s.grouped() {
		return r.shapes.GetMembers(ctx, groups, keys)
	}
	return r.pipeline(ctx, 1, groups, keys)
}

// pipeline reads entries with one HMGET per group; on a cluster there is a pipeline for
// each node.
func (r *redisLayer) pipeline(ctx context.Context, base int, groups, keys [][]byte) (int, error) {
	pipe := r.client.Pipeline()
	var cmds []*goredis.SliceCmd
	for i := 0; i < len(keys); {
		args := []any{"hmget", r.base[base] + string(groups[i]) + "}"}
		j := i
		for ; j < len(keys) && string(groups[j]) == string(groups[i]); j++ {
			args = append(args, keys[j])
		}
		cmd := goredis.NewSliceCmd(ctx, args...)
		cmd.SetFirstKeyPos(1)
		_ = pipe.Process(ctx, cmd) // the command keeps its error
		cmds = append(cmds, cmd)
		i = j
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, err
	}
	n := 0
	for _, c := range cmds {
		for _, v := range c.Val() {
			if v != nil {
				n++
			}
		}
	}
	return n, nil
}
