package tx

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts so
	_ "embed"     // for the scripts
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
)

//go:embed lua/save.lua
var saveLua string

//go:embed lua/branch.lua
var branchLua string

//go:embed lua/change.lua
var changeLua string

//go:embed lua/touch.lua
var touchLua string

//go:embed lua/lock.lua
var lockLua string

//go:embed lua/move.lua
var moveLua string

//go:embed lua/total.lua
var totalLua string

// script is a Lua script with the name that Redis gives it.
type script struct{ text, sha string }

func newScript(text string) script {
	// Comments are for readers; they need not travel.
	var lines []string
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "--") {
			lines = append(lines, l)
		}
	}
	text = strings.TrimSuffix(strings.Join(lines, ""), "\n")
	sum := sha1.Sum([]byte(text)) //nolint:gosec // Redis names scripts so
	return script{text, hex.EncodeToString(sum[:])}
}

var (
	saveScript   = newScript(saveLua)
	branchScript = newScript(branchLua)
	changeScript = newScript(changeLua)
	touchScript  = newScript(touchLua)
	lockScript   = newScript(lockLua)
	moveScript   = newScript(moveLua)
	totalScript  = newScript(totalLua)
)

// scripts runs scripts on a client, by name or with their whole text.
type scripts struct {
	client goredis.UniversalClient
	whole  bool
}

// run runs a script; args begin with the number of keys. A server that does not
// know it is given its text.
func (r scripts) run(ctx context.Context, s script, args ...any) *goredis.Cmd {
	if !r.whole {
		cmd := r.send(ctx, "evalsha", s.sha, args)
		if err := cmd.Err(); err == nil || !goredis.HasErrorPrefix(err, "NOSCRIPT") {
			return cmd
		}
	}
	return r.send(ctx, "eval", s.text, args)
}

func (r scripts) send(ctx context.Context, name, what string, args []any) *goredis.Cmd {
	all := make([]any, 0, 2+len(args))
	all = append(append(all, name, what), args...)
	cmd := goredis.NewCmd(ctx, all...)
	cmd.SetFirstKeyPos(3)
	_ = r.client.Process(ctx, cmd) // the command keeps its error
	return cmd
}

// code reads the number that a script answers with.
func code(cmd *goredis.Cmd) error {
	n, err := cmd.Int()
	switch {
	case err != nil:
		return err
	case n == 1:
		return errTaken
	case n == 2:
		return errMoved
	}
	return nil
}

// redisSagas keeps transactions in Redis: for each prefix an index and the
// accounts, for each transaction a record, a list of rows, a status and a ledger.
// All keys of a prefix have the same hash tag.
type redisSagas struct {
	spec   *sagaSpec
	client goredis.UniversalClient
	run    scripts
	// base is what the keys of each prefix begin with.
	base                     []string
	ttl, finalTTL, ledgerTTL string
}

func newRedisSagas(c redis.Typed, sp *sagaSpec) *redisSagas {
	r := &redisSagas{
		spec: sp, client: c.Client(), run: scripts{c.Client(), sp.script == scriptEval},
		ttl: seconds(sp.dataExpire), finalTTL: seconds(sp.finishedExpire), ledgerTTL: seconds(sp.finishedExpire + 10*sp.retry),
	}
	for i := range sp.shards {
		r.base = append(r.base, prefixed(sp.namespace, sagaSpace)+":{"+strconv.Itoa(i)+"}:")
	}
	return r
}

func prefixed(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + ":" + name
}

// seconds writes a duration as whole seconds, at least one.
func seconds(d time.Duration) string {
	return strconv.FormatInt(max(int64((d+time.Second-1)/time.Second), 1), 10)
}

const (
	keyRecord = iota
	keyRows
	keyIndex
	keyStatus
	keyLedger
)

// keys returns the keys of a transaction.
func (r *redisSagas) keys(s *saga) []string {
	if len(s.keys) == 0 {
		b := r.base[s.shard]
		s.keys = append(s.keys, b+"g:"+s.gid, b+"b:"+s.gid, b+"u", b+"s:"+s.gid)
	}
	return s.keys
}

func (r *redisSagas) four(s *saga, extra int) []any {
	k := r.keys(s)
	s.buf = s.buf[:0]
	args := make([]any, 0, 5+extra)
	return append(args, 4, k[keyRecord], k[keyRows], k[keyIndex], k[keyStatus])
}

// recordText and rowText write into the saga's buffer, behind what is there.
func (s *saga) recordText(first bool) []byte {
	from := len(s.buf)
	s.buf = s.appendRecord(s.buf, first)
	return s.buf[from:len(s.buf):len(s.buf)]
}

func (s *saga) rowText(pos int) []byte {
	from := len(s.buf)
	s.buf = s.appendRow(s.buf, pos)
	return s.buf[from:len(s.buf):len(s.buf)]
}

// score is a moment in the index: Unix seconds, to the millisecond.
func score(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64)
}

// Save runs save.lua.
func (r *redisSagas) Save(ctx context.Context, s *saga) error {
	args := append(r.four(s, 5+len(s.rows)), r.ttl, s.recordText(true), score(s.next), s.gid, s.status)
	for pos := range s.rows {
		args = append(args, s.rowText(pos))
	}
	return code(r.run.run(ctx, saveScript, args...))
}

// Branch runs branch.lua.
func (r *redisSagas) Branch(ctx context.Context, s *saga, pos int) error {
	return code(r.run.run(ctx, branchScript, append(r.four(s, 4), r.ttl, s.status, pos, s.rowText(pos))...))
}

// Change runs change.lua.
func (r *redisSagas) Change(ctx context.Context, s *saga, from string) error {
	flag := "0"
	if final(s.status) {
		flag = "1"
	}
	return code(r.run.run(ctx, changeScript, append(r.four(s, 7), r.ttl, s.recordText(false), from, flag, s.gid, s.status, r.finalTTL)...))
}

// Touch runs touch.lua.
func (r *redisSagas) Touch(ctx context.Context, s *saga) error {
	return code(r.run.run(ctx, touchScript, append(r.four(s, 5), r.ttl, s.recordText(false), s.status, score(s.next), s.gid)...))
}

// Lock runs lock.lua.
func (r *redisSagas) Lock(ctx context.Context, shard int, now, until time.Time) (string, error) {
	gid, err := r.run.run(ctx, lockScript, 1, r.base[shard]+"u", score(now), score(until)).Text()
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
func (r *redisSagas) Move(ctx context.Context, s *saga, pos int) (reply, error) {
	rw := &s.rows[pos]
	t := s.steps[rw.step]
	b := r.base[r.shardOf(t.Account)]
	field, counter := field(rw.step, rw.op), ""
	if rw.op == opCompensate {
		counter, t.Amount = field2(rw.step), -t.Amount
	}
	n, err := r.run.run(ctx, moveScript, 2, b+"a", b+"l:"+s.gid, t.Account, t.Amount, field, counter, r.ledgerTTL).Int()
	return reply(n), err
}

// field names a branch call in a ledger.
func field(step int, op string) string {
	var b [24]byte
	return string(append(appendBranch(b[:0], step), op...))
}

func field2(step int) string { return field(step, opAction) }

// Prepare makes missing accounts.
func (r *redisSagas) Prepare(ctx context.Context, progress func(done, total int64)) error {
	const chunk = 1000
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
		out = append(out, pending{gid, time.UnixMilli(int64(z.Score * 1000))})
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
			out[i].inner = s.status
			for _, rw := range s.rows {
				out[i].rows = append(out[i].rows, rw.status)
			}
		}
		for _, l := range p.ledgers {
			for f, v := range l.Val() {
				out[i].ledger[f] = parseEntry(v)
			}
		}
	}
	return out, nil
}

func parseEntry(v string) entry {
	account, amount, ok := strings.Cut(v, ":")
	if !ok {
		return entry{null: true}
	}
	a, _ := strconv.ParseInt(account, 10, 64) // written by move.lua
	n, _ := strconv.ParseInt(amount, 10, 64)
	return entry{transfer: transfer{a, n}}
}

// Balances reads all accounts.
func (r *redisSagas) Balances(ctx context.Context, f func(account, balance int64)) error {
	for _, b := range r.base {
		all, err := r.client.HGetAll(ctx, b+"a").Result()
		if err != nil {
			return err
		}
		for k, v := range all {
			a, err1 := strconv.ParseInt(k, 10, 64)
			n, err2 := strconv.ParseInt(v, 10, 64)
			if err := errors.Join(err1, err2); err != nil {
				return fmt.Errorf("account %s: %w", k, err)
			}
			f(a, n)
		}
	}
	return nil
}

// Money runs total.lua on each prefix.
func (r *redisSagas) Money(ctx context.Context) ([]money, error) {
	out := make([]money, 0, len(r.base))
	for _, b := range r.base {
		got, err := r.run.run(ctx, totalScript, 2, b+"a", b+"u", b+"l:").StringSlice()
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

func (s *sagaSpec) space() store.Space {
	return store.Space{Namespace: s.namespace, Name: sagaSpace, Shape: store.Keys, Grouped: true}
}
