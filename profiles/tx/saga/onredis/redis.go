// Package onredis keeps transactions and accounts in Redis.
package onredis

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
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Redis keeps transactions in Redis: for each prefix an index and the accounts, and for
// each transaction a record, a list of rows, a status and a ledger. All keys of a
// prefix have the same hash tag.
type Redis struct {
	Spec   *model.Spec
	client link.Client
	Run    link.Scripts
	// Base is how the keys of each prefix begin.
	Base                     []string
	TTL, FinalTTL, LedgerTTL string
}

// client is one client of Redis. It belongs to one goroutine.
type client struct {
	*Redis
	caller link.Caller
}

// Layer returns the transactions as a run sees them.
func (r *Redis) Layer() *model.Adapter {
	open := func() model.Store {
		c := &client{Redis: r}
		return model.Store{Records: c, Phases: c, Participants: c, Index: r, Audit: r, Upkeep: r}
	}
	return &model.Adapter{Open: open, Price: model.EveryOne, Cleanup: r.cleanup}
}

// New returns the transactions of a connection.
func New(c redis.Typed, sp *model.Spec) *Redis {
	r := &Redis{
		Spec: sp, client: c.Client(), Run: link.Scripts{Lines: c.Lines(sp.Pipelining), How: sp.Script},
		TTL: seconds(sp.DataExpire), FinalTTL: seconds(sp.FinishedExpire), LedgerTTL: seconds(sp.FinishedExpire + 10*sp.Retry),
	}
	for i := range sp.Shards {
		r.Base = append(r.Base, redis.KeyOf(sp.Space())+":{"+strconv.Itoa(i)+"}:")
	}
	return r
}

// Needs returns what transactions need of a store of the driver.
func Needs(driver string, sp *model.Spec) []store.Need {
	if driver != "redis" {
		return nil
	}
	const instead = "use --set mode=pbm with atomic=watch, or postgres: or mysql:"
	out := []store.Need{{Ability: store.Scripts, For: "mode=saga", Instead: instead}}
	if sp.Script == link.ByFunction {
		out[0] = store.Need{Ability: store.Functions, For: "script=function", Instead: "use --set script=evalsha"}
	}
	if sp.Accounts > 0 {
		out = append(out, store.Need{Ability: store.FreeKeys, For: "the audit of accounts", Instead: "use --set accounts=0, which moves no money"})
	}
	return out
}

// seconds formats a duration as whole seconds, at least one.
func seconds(d time.Duration) string {
	return strconv.FormatInt(max(int64((d+time.Second-1)/time.Second), 1), 10)
}

// Begin begins the call of a script on a transaction's record, rows, index and status.
func (r *client) Begin(s *model.Saga, of link.Script) *link.Request {
	q, b := &r.caller.Request, r.Base[s.Shard]
	r.Run.Begin(q, of, 4)
	q.Add(b, "g:", s.Gid)
	q.Add(b, "b:", s.Gid)
	q.Add(b, "u")
	q.Add(b, "s:", s.Gid)
	q.Add(r.TTL)
	return q
}

// recordTo and rowTo append a text as an argument.
func recordTo(q *link.Request, s *model.Saga, first bool) {
	q.Text = s.AppendRecord(q.Text, first)
	q.End()
}

func rowTo(q *link.Request, s *model.Saga, pos int) {
	q.Text = s.AppendRow(q.Text, pos)
	q.End()
}

// scoreTo appends a moment for the index, in whole Unix milliseconds. In a short index
// Redis stores whole scores as numbers but others as texts, which it parses again for
// each comparison.
func scoreTo(q *link.Request, t time.Time) {
	q.Text = appendScore(q.Text, t)
	q.End()
}

func appendScore(b []byte, t time.Time) []byte {
	return strconv.AppendInt(b, t.UnixMilli(), 10)
}

func score(t time.Time) string { return string(appendScore(nil, t)) }

// Save runs save.lua.
func (r *client) Save(ctx context.Context, s *model.Saga) error {
	q := r.Begin(s, SaveScript)
	recordTo(q, s, true)
	scoreTo(q, s.Next)
	q.Add(s.Gid)
	q.Add(s.Status)
	for pos := range s.Rows {
		rowTo(q, s, pos)
	}
	return Word(r.Run.Finish(ctx, &r.caller, SaveScript))
}

// Branch runs branch.lua.
func (r *client) Branch(ctx context.Context, s *model.Saga, pos int) error {
	q := r.Begin(s, BranchScript)
	q.Add(s.Status)
	q.Num(int64(pos))
	rowTo(q, s, pos)
	return Word(r.Run.Finish(ctx, &r.caller, BranchScript))
}

// Change runs change.lua.
func (r *client) Change(ctx context.Context, s *model.Saga, from string) error {
	q := r.Begin(s, ChangeScript)
	recordTo(q, s, false)
	q.Add(from)
	if model.Final(s.Status) {
		q.Add("1")
	} else {
		q.Add("0")
	}
	q.Add(s.Gid)
	q.Add(s.Status)
	q.Add(r.FinalTTL)
	return Word(r.Run.Finish(ctx, &r.caller, ChangeScript))
}

// Touch runs touch.lua.
func (r *client) Touch(ctx context.Context, s *model.Saga) error {
	q := r.Begin(s, touchScript)
	recordTo(q, s, false)
	q.Add(s.Status)
	scoreTo(q, s.Next)
	q.Add(s.Gid)
	return Word(r.Run.Finish(ctx, &r.caller, touchScript))
}

// Lock runs lock.lua.
func (r *Redis) Lock(ctx context.Context, shard int, now, until time.Time) (string, error) {
	gid, err := r.Run.Run(ctx, lockScript, 1, r.Base[shard]+"u", score(now), score(until)).Text()
	if errors.Is(err, goredis.Nil) {
		return "", model.ErrNone
	}
	return gid, err
}

// Load reads record and rows. An index entry without a record is removed.
func (r *Redis) Load(ctx context.Context, shard int, gid string) (*model.Saga, error) {
	b := r.Base[shard]
	pipe := r.client.Pipeline()
	record, rows := pipe.Get(ctx, b+"g:"+gid), pipe.LRange(ctx, b+"b:"+gid, 0, -1)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, goredis.Nil) {
		return nil, err
	}
	if errors.Is(record.Err(), goredis.Nil) {
		return nil, errors.Join(model.ErrNone, r.client.ZRem(ctx, b+"u", gid).Err())
	}
	return model.ParseSaga(shard, record.Val(), rows.Val())
}

// shardOf returns the prefix to which an account belongs.
func (r *Redis) shardOf(account int64) int { return int(account) % r.Spec.Shards }

// Move runs move.lua on the server of the account.
func (r *client) Move(ctx context.Context, s *model.Saga, pos int) (model.Reply, error) {
	rw := &s.Rows[pos]
	t := s.Steps[rw.Step]
	q := &r.caller.Request
	b := r.Base[r.shardOf(t.Account)]
	r.Run.Begin(q, MoveScript, 2)
	q.Add(b, "a")
	q.Add(b, "l:", s.Gid)
	q.Num(t.Account)
	undo := rw.Op == model.BranchCompensate
	if undo {
		t.Amount = -t.Amount
	}
	q.Num(t.Amount)
	q.Text = append(model.AppendBranch(q.Text, rw.Step), rw.Op...)
	q.End()
	if undo {
		q.Text = append(model.AppendBranch(q.Text, rw.Step), model.BranchAction...)
	}
	q.End()
	q.Add(r.LedgerTTL)
	n, err := r.Run.Finish(ctx, &r.caller, MoveScript)
	return model.Reply(n), err
}

// sagaScripts are the scripts that a saga and its checks need.
var sagaScripts = []link.Script{
	SaveScript, BranchScript, ChangeScript, touchScript, lockScript, MoveScript, totalScript, registerScript, reserveScript, queryScript,
}

// Prepare loads functions, if functions are what is called, and creates missing
// accounts.
func (r *Redis) Prepare(ctx context.Context, progress func(done, total int64)) error {
	const chunk = 1000
	if err := r.Run.Load(ctx, librarySaga, "--set script=evalsha", sagaScripts...); err != nil {
		return err
	}
	for from := int64(0); from < r.Spec.Accounts; from += chunk {
		pipe := r.client.Pipeline()
		for a := from; a < min(from+chunk, r.Spec.Accounts); a++ {
			pipe.HSetNX(ctx, r.Base[r.shardOf(a)]+"a", strconv.FormatInt(a, 10), r.Spec.Balance)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("make accounts: %w", err)
		}
		progress(min(from+chunk, r.Spec.Accounts), r.Spec.Accounts)
	}
	return nil
}

// Unfinished lists the index of a prefix.
func (r *Redis) Unfinished(ctx context.Context, shard int) ([]model.Pending, error) {
	zs, err := r.client.ZRangeWithScores(ctx, r.Base[shard]+"u", 0, -1).Result()
	out := make([]model.Pending, 0, len(zs))
	for _, z := range zs {
		gid, _ := z.Member.(string)
		out = append(out, model.Pending{Gid: gid, Due: time.UnixMilli(int64(z.Score))})
	}
	return out, err
}

// Read reads transactions in one pipeline, and their ledgers from wherever the accounts
// are.
func (r *Redis) Read(ctx context.Context, shard int, gids []string) ([]model.Stored, error) {
	type parts struct {
		status, record *goredis.StringCmd
		rows           *goredis.StringSliceCmd
		ledgers        []*goredis.MapStringStringCmd
	}
	pipe := r.client.Pipeline()
	all := make([]parts, len(gids))
	b := r.Base[shard]
	for i, gid := range gids {
		all[i] = parts{status: pipe.Get(ctx, b+"s:"+gid), record: pipe.Get(ctx, b+"g:"+gid), rows: pipe.LRange(ctx, b+"b:"+gid, 0, -1)}
		if r.Spec.Accounts == 0 {
			continue
		}
		for _, other := range r.Base {
			all[i].ledgers = append(all[i].ledgers, pipe.HGetAll(ctx, other+"l:"+gid))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, goredis.Nil) {
		return nil, err
	}
	out := make([]model.Stored, len(gids))
	for i, p := range all {
		out[i] = model.Stored{Gid: gids[i], Status: p.status.Val(), Ledger: map[string]model.Entry{}}
		if p.record.Err() == nil {
			s, err := model.ParseSaga(shard, p.record.Val(), p.rows.Val())
			if err != nil {
				return nil, err
			}
			out[i].Inner, out[i].Kind = s.Status, s.Kind
			for _, rw := range s.Rows {
				out[i].Rows, out[i].Fillings = append(out[i].Rows, rw.Status), append(out[i].Fillings, rw.Filling)
			}
		}
		for n, l := range p.ledgers {
			for f, v := range l.Val() {
				e := parseEntry(v)
				e.Ledger = n
				out[i].Ledger[f] = e
			}
		}
	}
	return out, nil
}

func parseEntry(v string) model.Entry {
	// Written by move.lua: account:amount:place, or null:place, or null; by
	// reserve.lua: account:amount:frozen:place.
	parts := strings.Split(v, ":")
	number := func(s string) int64 {
		n, _ := strconv.ParseInt(s, 10, 64)
		return n
	}
	seq := number(parts[len(parts)-1])
	if len(parts) < 3 {
		return model.Entry{Null: true, Seq: seq}
	}
	e := model.Entry{Transfer: model.Transfer{Account: number(parts[0]), Amount: number(parts[1])}, Seq: seq}
	if len(parts) > 3 {
		e.Frozen = number(parts[2])
	}
	return e
}

// Balances reads all accounts.
func (r *Redis) Balances(ctx context.Context, f func(account, balance, frozen int64)) error {
	for _, b := range r.Base {
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
func (r *Redis) Money(ctx context.Context) ([]model.Money, error) {
	out := make([]model.Money, 0, len(r.Base))
	for _, b := range r.Base {
		got, err := r.Run.Run(ctx, totalScript, 2, b+"a", b+"u", b+"l:").StringSlice()
		if err != nil {
			return nil, err
		}
		var m model.Money
		if len(got) == 2 {
			m.Sum, _ = strconv.ParseInt(got[0], 10, 64)
			m.Flying, _ = strconv.ParseInt(got[1], 10, 64)
		}
		out = append(out, m)
	}
	return out, nil
}

// Sweep does nothing, since Redis removes what has expired.
func (r *Redis) Sweep(context.Context, time.Time) (int64, error) { return 0, nil }

// cleanup removes the functions.
func (r *Redis) cleanup(ctx context.Context) error { return r.Run.Unload(ctx, librarySaga) }
