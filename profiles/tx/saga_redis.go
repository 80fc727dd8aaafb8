package tx

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// redisSagas keeps transactions in Redis: for each prefix an index and the
// accounts, for each transaction a record, a list of rows, a status and a ledger.
// All keys of a prefix have the same hash tag.
type redisSagas struct {
	spec   *sagaSpec
	client goredis.UniversalClient
	run    link.Scripts
	// base is what the keys of each prefix begin with.
	base                     []string
	ttl, finalTTL, ledgerTTL string
}

// redisClient is one client of Redis. It belongs to one goroutine.
type redisClient struct {
	*redisSagas
	caller link.Caller
}

// layer is the transactions as a run sees them.
func (r *redisSagas) layer() *sagaLayer {
	open := func() sagaStore {
		c := &redisClient{redisSagas: r}
		return sagaStore{Records: c, Phases: c, Participants: c, Index: r, Audit: r, Upkeep: r}
	}
	return &sagaLayer{open: open, price: everyOne, cleanup: r.cleanup}
}

func newRedisSagas(c redis.Typed, sp *sagaSpec) *redisSagas {
	r := &redisSagas{
		spec: sp, client: c.Client(), run: link.Scripts{Lines: c.Lines(sp.pipelining), How: sp.script},
		ttl: seconds(sp.dataExpire), finalTTL: seconds(sp.finishedExpire), ledgerTTL: seconds(sp.finishedExpire + 10*sp.retry),
	}
	for i := range sp.shards {
		r.base = append(r.base, redis.KeyOf(sp.space())+":{"+strconv.Itoa(i)+"}:")
	}
	return r
}

// seconds writes a duration as whole seconds, at least one.
func seconds(d time.Duration) string {
	return strconv.FormatInt(max(int64((d+time.Second-1)/time.Second), 1), 10)
}

// begin begins the call of a script on a transaction's record, rows, index and
// status.
func (r *redisClient) begin(s *saga, of link.Script) *link.Request {
	q, b := &r.caller.Request, r.base[s.shard]
	r.run.Begin(q, of, 4)
	q.Add(b, "g:", s.gid)
	q.Add(b, "b:", s.gid)
	q.Add(b, "u")
	q.Add(b, "s:", s.gid)
	q.Add(r.ttl)
	return q
}

// recordTo and rowTo append a text as an argument.
func (s *saga) recordTo(q *link.Request, first bool) {
	q.Text = s.appendRecord(q.Text, first)
	q.End()
}

func (s *saga) rowTo(q *link.Request, pos int) {
	q.Text = s.appendRow(q.Text, pos)
	q.End()
}

// scoreTo appends a moment in the index: Unix milliseconds. Redis keeps scores that
// are whole as numbers in a short index, and others as texts, which it reads again
// for each comparison.
func scoreTo(q *link.Request, t time.Time) {
	q.Text = appendScore(q.Text, t)
	q.End()
}

func appendScore(b []byte, t time.Time) []byte {
	return strconv.AppendInt(b, t.UnixMilli(), 10)
}

func score(t time.Time) string { return string(appendScore(nil, t)) }

// Save runs save.lua.
func (r *redisClient) Save(ctx context.Context, s *saga) error {
	q := r.begin(s, saveScript)
	s.recordTo(q, true)
	scoreTo(q, s.next)
	q.Add(s.gid)
	q.Add(s.status)
	for pos := range s.rows {
		s.rowTo(q, pos)
	}
	return word(r.run.Finish(ctx, &r.caller, saveScript))
}

// Branch runs branch.lua.
func (r *redisClient) Branch(ctx context.Context, s *saga, pos int) error {
	q := r.begin(s, branchScript)
	q.Add(s.status)
	q.Num(int64(pos))
	s.rowTo(q, pos)
	return word(r.run.Finish(ctx, &r.caller, branchScript))
}

// Change runs change.lua.
func (r *redisClient) Change(ctx context.Context, s *saga, from string) error {
	q := r.begin(s, changeScript)
	s.recordTo(q, false)
	q.Add(from)
	if final(s.status) {
		q.Add("1")
	} else {
		q.Add("0")
	}
	q.Add(s.gid)
	q.Add(s.status)
	q.Add(r.finalTTL)
	return word(r.run.Finish(ctx, &r.caller, changeScript))
}

// Touch runs touch.lua.
func (r *redisClient) Touch(ctx context.Context, s *saga) error {
	q := r.begin(s, touchScript)
	s.recordTo(q, false)
	q.Add(s.status)
	scoreTo(q, s.next)
	q.Add(s.gid)
	return word(r.run.Finish(ctx, &r.caller, touchScript))
}

// Lock runs lock.lua.
func (r *redisSagas) Lock(ctx context.Context, shard int, now, until time.Time) (string, error) {
	gid, err := r.run.Run(ctx, lockScript, 1, r.base[shard]+"u", score(now), score(until)).Text()
	if errors.Is(err, goredis.Nil) {
		return "", errNone
	}
	return gid, err
}

// Load reads record and rows. An index entry without a record is removed.
func (r *redisSagas) Load(ctx context.Context, shard int, gid string) (*saga, error) {
	b := r.base[shard]
	pipe := r.client.Pipeline()
	record, rows := pipe.Get(ctx, b+"g:"+gid), pipe.LRange(ctx, b+"b:"+gid, 0, -1)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, goredis.Nil) {
		return nil, err
	}
	if errors.Is(record.Err(), goredis.Nil) {
		return nil, errors.Join(errNone, r.client.ZRem(ctx, b+"u", gid).Err())
	}
	return parseSaga(shard, record.Val(), rows.Val())
}

// shardOf is the prefix that an account belongs to.
func (r *redisSagas) shardOf(account int64) int { return int(account) % r.spec.shards }

// Move runs move.lua where the account is.
func (r *redisClient) Move(ctx context.Context, s *saga, pos int) (reply, error) {
	rw := &s.rows[pos]
	t := s.steps[rw.step]
	q := &r.caller.Request
	b := r.base[r.shardOf(t.Account)]
	r.run.Begin(q, moveScript, 2)
	q.Add(b, "a")
	q.Add(b, "l:", s.gid)
	q.Num(t.Account)
	undo := rw.op == opCompensate
	if undo {
		t.Amount = -t.Amount
	}
	q.Num(t.Amount)
	q.Text = append(appendBranch(q.Text, rw.step), rw.op...)
	q.End()
	if undo {
		q.Text = append(appendBranch(q.Text, rw.step), opAction...)
	}
	q.End()
	q.Add(r.ledgerTTL)
	n, err := r.run.Finish(ctx, &r.caller, moveScript)
	return reply(n), err
}

// field names a branch call in a ledger.
func field(step int, op string) string {
	var b [24]byte
	return string(append(appendBranch(b[:0], step), op...))
}

// sagaScripts are what a saga and its checks need.
var sagaScripts = []link.Script{
	saveScript, branchScript, changeScript, touchScript, lockScript, moveScript, totalScript, registerScript, reserveScript, queryScript,
}

// Prepare loads functions where these are what is called, and makes missing
// accounts.
func (r *redisSagas) Prepare(ctx context.Context, progress func(done, total int64)) error {
	const chunk = 1000
	if err := r.run.Load(ctx, librarySaga, "--set script=evalsha", sagaScripts...); err != nil {
		return err
	}
	for from := int64(0); from < r.spec.accounts; from += chunk {
		pipe := r.client.Pipeline()
		for a := from; a < min(from+chunk, r.spec.accounts); a++ {
			pipe.HSetNX(ctx, r.base[r.shardOf(a)]+"a", strconv.FormatInt(a, 10), r.spec.balance)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("make accounts: %w", err)
		}
		progress(min(from+chunk, r.spec.accounts), r.spec.accounts)
	}
	return nil
}

// Unfinished lists the index of a prefix.
func (r *redisSagas) Unfinished(ctx context.Context, shard int) ([]pending, error) {
	zs, err := r.client.ZRangeWithScores(ctx, r.base[shard]+"u", 0, -1).Result()
	out := make([]pending, 0, len(zs))
	for _, z := range zs {
		gid, _ := z.Member.(string)
		out = append(out, pending{gid, time.UnixMilli(int64(z.Score))})
	}
	return out, err
}

// Read reads transactions in one pipeline, their ledgers from wherever the
// accounts may be.
func (r *redisSagas) Read(ctx context.Context, shard int, gids []string) ([]stored, error) {
	type parts struct {
		status, record *goredis.StringCmd
		rows           *goredis.StringSliceCmd
		ledgers        []*goredis.MapStringStringCmd
	}
	pipe := r.client.Pipeline()
	all := make([]parts, len(gids))
	b := r.base[shard]
	for i, gid := range gids {
		all[i] = parts{status: pipe.Get(ctx, b+"s:"+gid), record: pipe.Get(ctx, b+"g:"+gid), rows: pipe.LRange(ctx, b+"b:"+gid, 0, -1)}
		if r.spec.accounts == 0 {
			continue
		}
		for _, other := range r.base {
			all[i].ledgers = append(all[i].ledgers, pipe.HGetAll(ctx, other+"l:"+gid))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, goredis.Nil) {
		return nil, err
	}
	out := make([]stored, len(gids))
	for i, p := range all {
		out[i] = stored{gid: gids[i], status: p.status.Val(), ledger: map[string]entry{}}
		if p.record.Err() == nil {
			s, err := parseSaga(shard, p.record.Val(), p.rows.Val())
			if err != nil {
				return nil, err
			}
			out[i].inner, out[i].kind = s.status, s.kind
			for _, rw := range s.rows {
				out[i].rows, out[i].fillings = append(out[i].rows, rw.status), append(out[i].fillings, rw.filling)
			}
		}
		for n, l := range p.ledgers {
			for f, v := range l.Val() {
				e := parseEntry(v)
				e.ledger = n
				out[i].ledger[f] = e
			}
		}
	}
	return out, nil
}

func parseEntry(v string) entry {
	// Written by move.lua: account:amount:place, or null:place, or null; by
	// reserve.lua account:amount:frozen:place.
	parts := strings.Split(v, ":")
	number := func(s string) int64 {
		n, _ := strconv.ParseInt(s, 10, 64)
		return n
	}
	seq := number(parts[len(parts)-1])
	if len(parts) < 3 {
		return entry{null: true, seq: seq}
	}
	e := entry{transfer: transfer{number(parts[0]), number(parts[1])}, seq: seq}
	if len(parts) > 3 {
		e.frozen = number(parts[2])
	}
	return e
}

// Balances reads all accounts.
func (r *redisSagas) Balances(ctx context.Context, f func(account, balance, frozen int64)) error {
	for _, b := range r.base {
		all, err := r.client.HGetAll(ctx, b+"a").Result()
		if err != nil {
			return err
		}
		for k, v := range all {
			if k[0] == 'f' {
				continue // read with its account
			}
			a, err1 := strconv.ParseInt(k, 10, 64)
			n, err2 := strconv.ParseInt(v, 10, 64)
			var frozen int64
			var err3 error
			if ice, ok := all["f"+k]; ok {
				frozen, err3 = strconv.ParseInt(ice, 10, 64)
			}
			if err := errors.Join(err1, err2, err3); err != nil {
				return fmt.Errorf("account %s: %w", k, err)
			}
			f(a, n, frozen)
		}
	}
	return nil
}

// Money runs total.lua on each prefix.
func (r *redisSagas) Money(ctx context.Context) ([]money, error) {
	out := make([]money, 0, len(r.base))
	for _, b := range r.base {
		got, err := r.run.Run(ctx, totalScript, 2, b+"a", b+"u", b+"l:").StringSlice()
		if err != nil {
			return nil, err
		}
		var m money
		if len(got) == 2 {
			m.sum, _ = strconv.ParseInt(got[0], 10, 64)
			m.flying, _ = strconv.ParseInt(got[1], 10, 64)
		}
		out = append(out, m)
	}
	return out, nil
}

// Sweep does nothing: Redis removes what has expired.
func (r *redisSagas) Sweep(context.Context, time.Time) (int64, error) { return 0, nil }

// cleanup removes the functions.
func (r *redisSagas) cleanup(ctx context.Context) error { return r.run.Unload(ctx, librarySaga) }

func (s *sagaSpec) space() store.Space {
	return store.Space{Namespace: s.namespace, Name: sagaSpace, Shape: store.Keys, Grouped: true}
}
