package saga

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// bindSaga connects a saga plan to a store of transactions.
func bindSaga(c store.Conn, p *workload.Plan, s Binding, l *model.Adapter, m common.Meter) error {
	r := NewRun(s.Spec, l, m)
	r.stake = s.stake
	o := newOpening(r)
	v := newVerification(r, o, c)
	v.whole = true
	p.Claims, p.Parts = o.claims(), workload.Parts{o, v}
	r.share(p, o)
	p.Phases[0].Tracks[0].NewTask = func(worker int) (workload.Task, error) { return r.NewTask(r.stake.Number(worker)), nil }
	return nil
}

// Parts are the claims of a run that is one part of a plan, and what prepares and verifies it.
func (r *Run) Parts(c store.Conn) ([]ownership.Space, workload.Parts) {
	o := newOpening(r)
	return o.claims(), workload.Parts{o, newVerification(r, o, c)}
}

// opening is how all stood when the run began: what an earlier one had left, and the balances.
type opening struct {
	r     *Run
	store model.Store

	mu      sync.Mutex
	atStart recovery
	base    map[int64]int64                   // balances
	foreign map[string]map[string]model.Entry // ledgers of others' unfinished sagas
	earlier map[string]outcome                // from the log of a run that was killed
	// resumed means that this process has replaced another one.
	resumed bool
}

func newOpening(r *Run) *opening {
	return &opening{r: r, store: r.layer.Open(), foreign: map[string]map[string]model.Entry{}, earlier: map[string]outcome{}}
}

// recordSaga records a saga that was taken up.
func (o *opening) recordSaga(s *model.Saga) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.atStart.add(s)
}

// Teardown removes what the layer has made.
func (o *opening) Teardown(ctx context.Context) error {
	if o.r.layer.Cleanup == nil {
		return nil
	}
	return o.r.layer.Cleanup(ctx)
}

// Setup makes tables and accounts, and takes up what an earlier run has left
// unfinished.
func (o *opening) Setup(ctx context.Context, progress func(done, total int64)) error {
	sp := o.r.spec
	if sp.AckLog != "" {
		log, earlier, err := openAckLog(sp.AckLog)
		if err != nil {
			return err
		}
		o.mu.Lock()
		o.r.log, o.earlier = log, earlier
		o.mu.Unlock()
	}
	if at := o.r.layer.Places; at != nil {
		if err := at.Create(ctx); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if err := o.store.Prepare(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if err := o.takeUp(ctx); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	o.r.beside.begin(workload.Stake{})
	o.r.usage.begin(ctx)
	return nil
}

// KeyForms are the forms of the keys of sagas, by prefix: accounts and index and, for
// each transaction, its record, rows, status and ledger.
var KeyForms = []string{
	store.FormOf("hash", `\{[0-9]+\}:a`), store.FormOf("zset", `\{[0-9]+\}:u`),
	store.FormOf("string", `\{[0-9]+\}:[gs]:`+gidForm), store.FormOf("list", `\{[0-9]+\}:b:`+gidForm),
	store.FormOf("hash", `\{[0-9]+\}:l:`+gidForm),
}

var gidForm = fmt.Sprintf("[0-9a-z]{%d}", model.GidLength)

// claims returns where sagas are kept: in tables of their own, or in keys.
func (o *opening) claims() []ownership.Space {
	if at := o.r.layer.Places; at != nil {
		return at.Spaces(o.params())
	}
	return []ownership.Space{{Space: o.r.spec.Space(), Parts: KeyForms, Params: o.params()}}
}

// Admit refuses what was made with other accounts.
func (o *opening) Admit(ctx context.Context, c *ownership.Claim) error {
	sp, want := o.r.spec, o.params()
	for _, wanted := range o.claims() {
		spot := c.Spot(wanted.Space)
		if spot.State == ownership.Fresh {
			continue
		}
		old := spot.Earlier.Params
		if len(old) == 0 { // with tables, older versions recorded them separately
			all, _ := c.Earlier(sp.Space())
			old = all.Params
		}
		if len(old) > 0 && !maps.Equal(old, want) {
			return fault.Input(fmt.Errorf("%s already exists, made with %s, and this run has %s", ownership.Name(wanted.Space), words(old), words(want)),
				"use the same values, another --namespace, or delete it with  "+ownership.DeleteCommand(sp.Namespace))
		}
	}
	if at := o.r.layer.Places; at != nil {
		return at.Check(ctx, c)
	}
	return nil
}

func (o *opening) params() map[string]string {
	sp := o.r.spec
	return map[string]string{
		"accounts": strconv.FormatInt(sp.Accounts, 10), "balance": strconv.FormatInt(sp.Balance, 10), "prefixes": strconv.Itoa(sp.Shards),
	}
}

func words(params map[string]string) string {
	names := make([]string, 0, len(params))
	for k := range params {
		names = append(names, k)
	}
	sort.Strings(names)
	for i, k := range names {
		names[i] = k + "=" + params[k]
	}
	return strings.Join(names, " ")
}

// takeUp continues what is due of an earlier run, and notes the state of the rest.
func (o *opening) takeUp(ctx context.Context) error {
	began := time.Now()
	c := coordinator.Recovery(o.r.spec, o.r.layer.Open())
	for shard := range o.r.spec.Shards {
		list, err := o.store.Unfinished(ctx, shard)
		if err != nil {
			return fmt.Errorf("look for unfinished transactions: %w", err)
		}
		for _, p := range list {
			if p.Due.After(began) {
				if err := o.leave(ctx, shard, p.Gid); err != nil {
					return err
				}
				continue
			}
			s, err := c.Resume(ctx, shard, p.Gid)
			if errors.Is(err, coordinator.ErrWaiting) {
				if err := o.leave(ctx, shard, p.Gid); err != nil {
					return err
				}
				continue
			}
			if err != nil && !errors.Is(err, model.ErrNone) && !errors.Is(err, coordinator.ErrUndecided) && !errors.Is(err, model.ErrMoved) {
				return err
			}
			o.recordSaga(s)
			if err != nil { // somebody else continues it, or this run will later
				if err := o.leave(ctx, shard, p.Gid); err != nil {
					return err
				}
			}
		}
	}
	o.mu.Lock()
	o.atStart.Seconds = time.Since(began).Seconds()
	o.mu.Unlock()
	if o.r.spec.Accounts == 0 {
		return nil
	}
	o.base = map[int64]int64{}
	return o.store.Balances(ctx, func(a, balance, frozen int64) { o.base[a] = balance + frozen })
}

// leave notes the state of a saga that is not finished before the run.
func (o *opening) leave(ctx context.Context, shard int, gid string) error {
	got, err := o.store.Read(ctx, shard, []string{gid})
	if err == nil {
		o.foreign[gid] = got[0].Ledger
	}
	return err
}
