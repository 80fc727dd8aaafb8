package saga

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/meter"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onmemory"
)

// coordinated has transactions coordinated by a dtm server. Accounts and barrier are
// in this process, behind the endpoints that the server calls; of a transaction it
// is asked what became of it.
type coordinated struct {
	*onmemory.Memory
	conn   *dtm.Conn
	url    string // of the endpoints
	server *http.Server
	mu     sync.Mutex
	rnd    *rand.Rand
}

// onDTM connects a plan to a dtm server.
func (s Binding) onDTM(_ context.Context, c *dtm.Conn, p *workload.Bound) error {
	s.Begin(p.RunID)
	if s.Timeout%time.Second != 0 {
		return fault.Field("timeout", fault.Input(fmt.Errorf("timeout: %s: a dtm server counts in whole seconds", s.Timeout), "for example --set timeout=3s"))
	}
	s.Shards = 1
	d := &coordinated{Memory: onmemory.New(c, s.Spec), conn: c, rnd: rand.New(rand.NewPCG(uint64(s.Seed), 0))} //nolint:gosec // no secret
	r := NewRun(s.Spec, d.Layer(), meter.Meter{})
	p.Setup = func(ctx context.Context, progress func(done, total int64)) error {
		if progress == nil {
			progress = func(int64, int64) {}
		}
		return d.setup(ctx, r, progress)
	}
	p.Verify = func(ctx context.Context) workload.Verification {
		defer func() { _ = errors.Join(r.log.close(), d.server.Close()) }() // nobody calls any more
		if err := d.settle(ctx, r); err != nil {
			r.measureEnd(ctx)
			return workload.Verification{State: workload.Incomplete, Summary: err.Error()}
		}
		return r.verify(ctx)
	}
	p.Facts = func() any { return r.facts() }
	p.Phases[0].Tracks[0].NewTask = func(worker int) (workload.Task, error) { return &coordinatedTask{d: d, Task: r.NewTask(worker)}, nil }
	return nil
}

// Layer is the transactions as a run sees them: the server has the records and their
// phases.
func (d *coordinated) Layer() *model.Layer {
	open := func() model.Store {
		st := d.Memory.Open()
		st.Phases, st.Audit = d, d
		return st
	}
	return &model.Layer{Open: open, Price: model.EveryOne}
}

// setup serves the endpoints and makes the accounts.
func (d *coordinated) setup(ctx context.Context, r *Run, progress func(done, total int64)) error {
	sp := d.Spec
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", sp.Endpoint)
	if err != nil {
		return fault.Field("endpoint", fault.Input(fmt.Errorf("endpoint: %w", err), "for example --set endpoint=127.0.0.1:0"))
	}
	d.url = "http://" + l.Addr().String() + "/"
	d.server = &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = d.server.Serve(l) }() // ends with Close
	if sp.AckLog != "" {
		// What it holds is not checked: those accounts went with their process.
		if r.log, _, err = openAckLog(sp.AckLog); err != nil {
			return err
		}
	}
	r.base = map[int64]int64{}
	if sp.Accounts > 0 {
		if err := d.Prepare(ctx, progress); err != nil {
			return err
		}
		if err := d.Balances(ctx, func(a, n, frozen int64) { r.base[a] = n + frozen }); err != nil {
			return err
		}
	}
	r.measureStart(ctx)
	return nil
}

// chance says whether something happens that has a probability.
func (d *coordinated) chance(p float64) bool {
	if p <= 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rnd.Float64() < p
}

// serve answers a branch call as a participant does.
func (d *coordinated) serve(w http.ResponseWriter, req *http.Request) {
	say := func(status int, word string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"dtm_result":"`+word+`"}`) // the caller may be gone
	}
	q, sp := req.URL.Query(), d.Spec
	gid, op := q.Get("gid"), q.Get("op")
	var step int
	var in model.Instruction
	_, err := fmt.Sscanf(q.Get("branch_id"), "%d", &step)
	if err == nil && op != model.OpMsg { // which only asks
		err = json.NewDecoder(io.LimitReader(req.Body, maxSagaPayload+1<<16)).Decode(&in)
	}
	k := model.KindOf(q.Get("trans_type"))
	if err != nil || !called(k, step, op) {
		say(http.StatusBadRequest, "ERROR")
		return
	}
	if store.Rest(req.Context(), sp.Delay) != nil {
		return
	}
	if d.chance(sp.OngoingRate) {
		say(http.StatusTooEarly, "ONGOING")
		return
	}
	lost := d.chance(sp.ErrorRate)
	if in.Refuse && op == model.OpAction {
		say(http.StatusConflict, "FAILURE")
		return
	}
	got, err := d.carry(req.Context(), gid, op, k, step, in)
	switch {
	case err != nil || lost:
		say(http.StatusInternalServerError, "ERROR")
	case got == model.ReplyRefused:
		say(http.StatusConflict, "FAILURE")
	default:
		say(http.StatusOK, "SUCCESS")
	}
}

// submission is what a submit sends.
type submission struct {
	Gid        string              `json:"gid"`
	TransType  string              `json:"trans_type"`
	WaitResult bool                `json:"wait_result"`
	Concurrent bool                `json:"concurrent"`
	Steps      []map[string]string `json:"steps,omitempty"`
	Payloads   []string            `json:"payloads,omitempty"`
	Protocol   string              `json:"protocol"`
	Timeout    int64               `json:"timeout_to_fail,omitempty"`
	Query      string              `json:"query_prepared,omitempty"`
}

// coordinatedTask is one client of the server. It belongs to its worker.
type coordinatedTask struct {
	*Task
	d *coordinated
}

// Do submits one saga and waits for its outcome.
func (k *coordinatedTask) Do(ctx context.Context, it *workload.Iteration) error {
	t := k.t
	seq := t.seq
	t.seq++
	k.Prepare(it, seq)
	body, err := k.body()
	if err != nil {
		return workload.Fatal(err)
	}
	t.all.Add(1)
	m := it.Begin(model.OpSaga)
	o, err := k.transact(ctx, it, body)
	units := 0
	if err == nil {
		units = 1
		t.set(seq, o)
		if k.run.log != nil {
			if err = k.run.log.add(k.s.Gid, o); err != nil {
				err = workload.Fatal(err)
			}
		}
	}
	if err = it.End(m, units, err); !it.Warmup {
		k.count(it, o, err)
	}
	return err
}

// transact runs the transaction in hand.
func (k *coordinatedTask) transact(ctx context.Context, it *workload.Iteration, body []byte) (outcome, error) {
	if k.s.Of() != model.KindSaga {
		return k.phased(ctx, it, body)
	}
	return k.d.submit(ctx, k.s.Gid, body)
}

// body is what the server is told of the transaction in hand: of a saga everything, of
// a message what follows its local transaction.
func (k *coordinatedTask) body() ([]byte, error) {
	s := &k.s
	sub := submission{Gid: s.Gid, TransType: s.Of().Name, WaitResult: true, Timeout: int64(s.Timeout / time.Second)}
	from := len(s.Steps)
	switch s.Of() {
	case model.KindSaga:
		from = 0
	case model.KindMsg:
		from, sub.Query = 1, k.d.participant(s)
	}
	for i := from; i < len(s.Steps); i++ {
		payload, err := k.d.instruction(s, i)
		if err != nil {
			return nil, err
		}
		step := map[string]string{model.OpAction: k.d.participant(s)}
		if from == 0 {
			step[model.OpCompensate] = k.d.participant(s)
		}
		sub.Steps = append(sub.Steps, step)
		sub.Payloads = append(sub.Payloads, payload)
	}
	return json.Marshal(sub)
}

// submit hands a saga in. Status 409 may mean that it was undone or that it is
// still running: only its state tells.
func (d *coordinated) submit(ctx context.Context, gid string, body []byte) (outcome, error) {
	status, _, err := d.conn.Call(ctx, http.MethodPost, "submit", nil, body)
	switch {
	case err != nil:
		return unknown, fmt.Errorf("submit: %w", err)
	case status == http.StatusOK:
		return ackedDone, nil
	case status != http.StatusConflict:
		return unknown, fmt.Errorf("submit: the server answered with status %d", status)
	}
	return d.outcome(ctx, gid)
}

// query asks what has become of a saga.
func (d *coordinated) query(ctx context.Context, gid string) (model.Stored, error) {
	status, body, err := d.conn.Call(ctx, http.MethodGet, "query", url.Values{"gid": {gid}}, nil)
	if err != nil {
		return model.Stored{}, fmt.Errorf("query: %w", err)
	}
	var q struct {
		Transaction *struct {
			Status string `json:"status"`
		} `json:"transaction"`
		Branches []struct {
			Status string `json:"status"`
			Data   []byte `json:"bin_data"`
		} `json:"branches"`
	}
	if err := json.Unmarshal(body, &q); err != nil || status != http.StatusOK {
		return model.Stored{}, fmt.Errorf("query: the server answered with status %d and what is no answer", status)
	}
	out := model.Stored{Gid: gid, Kind: d.kind(), Ledger: map[string]model.Entry{}}
	if q.Transaction != nil {
		out.Status, out.Inner = q.Transaction.Status, q.Transaction.Status
	}
	for _, b := range q.Branches {
		out.Rows = append(out.Rows, b.Status)
		if len(b.Data) == 0 {
			continue // not told
		}
		p, err := model.ParsePayload(gid, b.Data)
		if err != nil {
			return model.Stored{}, err
		}
		out.Fillings = append(out.Fillings, p.Filling)
	}
	return out, nil
}

// Read asks for each saga, and adds the ledger of this process.
func (d *coordinated) Read(ctx context.Context, _ int, gids []string) ([]model.Stored, error) {
	local, err := d.Memory.Read(ctx, 0, gids)
	if err != nil {
		return nil, err
	}
	for i := range local {
		got, err := d.query(ctx, gids[i])
		if err != nil {
			return nil, err
		}
		got.Ledger = local[i].Ledger
		local[i] = got
	}
	return local, nil
}

// settle waits until the server has finished what is undecided, as it does by
// itself after its retry interval.
func (d *coordinated) settle(ctx context.Context, r *Run) error {
	const most = 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	began := time.Now()
	for worker, t := range r.tallies {
		for seq := range t.seq {
			if t.get(seq) != unknown {
				continue
			}
			gid := string(model.AppendGid(nil, r.spec.Stamp, worker, seq))
			for {
				got, err := d.query(ctx, gid)
				if err != nil {
					return fmt.Errorf("unfinished sagas could not be waited for: %w", err)
				}
				if got.Status == "" {
					break // it never arrived
				}
				if model.Final(got.Status) {
					r.took(&r.atEnd, &model.Saga{Gid: gid, Status: got.Status})
					break
				}
				if err := store.Rest(ctx, 100*time.Millisecond); err != nil {
					return fmt.Errorf("the server has not finished %s within %s", gid, most)
				}
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.atEnd.Seconds = time.Since(began).Seconds()
	return nil
}
