package tx

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
)

// dtmSagas has transactions coordinated by a dtm server. Accounts and barrier are
// in this process, behind the endpoints that the server calls; of a transaction it
// is asked what became of it.
type dtmSagas struct {
	*memorySagas
	conn   *dtm.Conn
	url    string // of the endpoints
	server *http.Server
	mu     sync.Mutex
	rnd    *rand.Rand
}

// instruction is a branch's payload: what to move, whether to refuse, and what is
// there for its size.
type instruction struct {
	transfer
	Refuse  bool   `json:"refuse,omitempty"`
	Filling string `json:"filling,omitempty"`
}

// onDTM connects a plan to a dtm server.
func (s *sagaSpec) onDTM(_ context.Context, c *dtm.Conn, p *workload.Bound) error {
	s.begin(p.RunID)
	if s.timeout%time.Second != 0 {
		return fault.Field("timeout", fault.Input(fmt.Errorf("timeout: %s: a dtm server counts in whole seconds", s.timeout), "for example --set timeout=3s"))
	}
	s.shards = 1
	d := &dtmSagas{memorySagas: memorySagasOf(c, s), conn: c, rnd: rand.New(rand.NewPCG(uint64(s.seed), 0))} //nolint:gosec // no secret
	r := newSagaRun(s, d.layer(), meter{})
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
	p.Phases[0].Tracks[0].NewTask = func(worker int) (workload.Task, error) { return &dtmTask{d: d, sagaTask: r.newTask(worker)}, nil }
	return nil
}

// layer is the transactions as a run sees them: the server has the records and their
// phases.
func (d *dtmSagas) layer() *sagaLayer {
	open := func() sagaStore {
		st := d.memorySagas.open()
		st.Phases, st.Audit = d, d
		return st
	}
	return &sagaLayer{open: open, price: everyOne}
}

// setup serves the endpoints and makes the accounts.
func (d *dtmSagas) setup(ctx context.Context, r *sagaRun, progress func(done, total int64)) error {
	sp := d.spec
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", sp.endpoint)
	if err != nil {
		return fault.Field("endpoint", fault.Input(fmt.Errorf("endpoint: %w", err), "for example --set endpoint=127.0.0.1:0"))
	}
	d.url = "http://" + l.Addr().String() + "/"
	d.server = &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = d.server.Serve(l) }() // ends with Close
	if sp.ackLog != "" {
		// What it holds is not checked: those accounts went with their process.
		if r.log, _, err = openAckLog(sp.ackLog); err != nil {
			return err
		}
	}
	r.base = map[int64]int64{}
	if sp.accounts > 0 {
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
func (d *dtmSagas) chance(p float64) bool {
	if p <= 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rnd.Float64() < p
}

// serve answers a branch call as a participant does.
func (d *dtmSagas) serve(w http.ResponseWriter, req *http.Request) {
	say := func(status int, word string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"dtm_result":"`+word+`"}`) // the caller may be gone
	}
	q, sp := req.URL.Query(), d.spec
	gid, op := q.Get("gid"), q.Get("op")
	var step int
	var in instruction
	_, err := fmt.Sscanf(q.Get("branch_id"), "%d", &step)
	if err == nil && op != opMsg { // which only asks
		err = json.NewDecoder(io.LimitReader(req.Body, maxSagaPayload+1<<16)).Decode(&in)
	}
	k := kindOf(q.Get("trans_type"))
	if err != nil || !k.called(step, op) {
		say(http.StatusBadRequest, "ERROR")
		return
	}
	if store.Rest(req.Context(), sp.delay) != nil {
		return
	}
	if d.chance(sp.ongoingRate) {
		say(http.StatusTooEarly, "ONGOING")
		return
	}
	lost := d.chance(sp.errorRate)
	if in.Refuse && op == opAction {
		say(http.StatusConflict, "FAILURE")
		return
	}
	got, err := d.carry(req.Context(), gid, op, k, step, in)
	switch {
	case err != nil || lost:
		say(http.StatusInternalServerError, "ERROR")
	case got == replyRefused:
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

// dtmTask is one client of the server. It belongs to its worker.
type dtmTask struct {
	*sagaTask
	d *dtmSagas
}

// Do submits one saga and waits for its outcome.
func (k *dtmTask) Do(ctx context.Context, it *workload.Iteration) error {
	t := k.c.tally
	seq := t.seq
	t.seq++
	k.prepare(it, seq)
	body, err := k.body()
	if err != nil {
		return workload.Fatal(err)
	}
	t.all.Add(1)
	m := it.Begin(opSaga)
	o, err := k.transact(ctx, it, body)
	units := 0
	if err == nil {
		units = 1
		t.set(seq, o)
		if k.run.log != nil {
			if err = k.run.log.add(k.s.gid, o); err != nil {
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
func (k *dtmTask) transact(ctx context.Context, it *workload.Iteration, body []byte) (outcome, error) {
	if k.s.of() != kindSaga {
		return k.phased(ctx, it, body)
	}
	return k.d.submit(ctx, k.s.gid, body)
}

// body is what the server is told of the transaction in hand: of a saga everything, of
// a message what follows its local transaction.
func (k *dtmTask) body() ([]byte, error) {
	s := &k.s
	sub := submission{Gid: s.gid, TransType: s.of().name, WaitResult: true, Timeout: int64(s.timeout / time.Second)}
	from := len(s.steps)
	switch s.of() {
	case kindSaga:
		from = 0
	case kindMsg:
		from, sub.Query = 1, k.d.participant(s)
	}
	for i := from; i < len(s.steps); i++ {
		payload, err := k.d.instruction(s, i)
		if err != nil {
			return nil, err
		}
		step := map[string]string{opAction: k.d.participant(s)}
		if from == 0 {
			step[opCompensate] = k.d.participant(s)
		}
		sub.Steps = append(sub.Steps, step)
		sub.Payloads = append(sub.Payloads, payload)
	}
	return json.Marshal(sub)
}

// submit hands a saga in. Status 409 may mean that it was undone or that it is
// still running: only its state tells.
func (d *dtmSagas) submit(ctx context.Context, gid string, body []byte) (outcome, error) {
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
func (d *dtmSagas) query(ctx context.Context, gid string) (stored, error) {
	status, body, err := d.conn.Call(ctx, http.MethodGet, "query", url.Values{"gid": {gid}}, nil)
	if err != nil {
		return stored{}, fmt.Errorf("query: %w", err)
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
		return stored{}, fmt.Errorf("query: the server answered with status %d and what is no answer", status)
	}
	out := stored{gid: gid, kind: d.kind(), ledger: map[string]entry{}}
	if q.Transaction != nil {
		out.status, out.inner = q.Transaction.Status, q.Transaction.Status
	}
	for _, b := range q.Branches {
		out.rows = append(out.rows, b.Status)
		if len(b.Data) == 0 {
			continue // not told
		}
		p, err := parsePayload(gid, b.Data)
		if err != nil {
			return stored{}, err
		}
		out.fillings = append(out.fillings, p.Filling)
	}
	return out, nil
}

// Read asks for each saga, and adds the ledger of this process.
func (d *dtmSagas) Read(ctx context.Context, _ int, gids []string) ([]stored, error) {
	local, err := d.memorySagas.Read(ctx, 0, gids)
	if err != nil {
		return nil, err
	}
	for i := range local {
		got, err := d.query(ctx, gids[i])
		if err != nil {
			return nil, err
		}
		got.ledger = local[i].ledger
		local[i] = got
	}
	return local, nil
}

// settle waits until the server has finished what is undecided, as it does by
// itself after its retry interval.
func (d *dtmSagas) settle(ctx context.Context, r *sagaRun) error {
	const most = 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	began := time.Now()
	for worker, t := range r.tallies {
		for seq := range t.seq {
			if t.get(seq) != unknown {
				continue
			}
			gid := string(appendGid(nil, r.spec.stamp, worker, seq))
			for {
				got, err := d.query(ctx, gid)
				if err != nil {
					return fmt.Errorf("unfinished sagas could not be waited for: %w", err)
				}
				if got.status == "" {
					break // it never arrived
				}
				if final(got.status) {
					r.took(&r.atEnd, &saga{gid: gid, status: got.status})
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
