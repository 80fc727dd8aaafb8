// Package ondtm has transactions coordinated by a dtm server. Accounts and barrier are
// in this process, behind an endpoint that the server calls; the server is asked about
// the outcome of transactions.
package ondtm

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onmemory"
)

// DTM is the transactions of a run on a dtm server. It is safe for use by several
// goroutines, between Listen and Close.
type DTM struct {
	*onmemory.Memory
	conn   *dtm.Conn
	url    string // of the endpoint
	server *http.Server
	mu     sync.Mutex
	rnd    *rand.Rand
}

// New returns the transactions of sp on a server.
func New(c *dtm.Conn, sp *model.Spec) *DTM {
	return &DTM{Memory: onmemory.New(c, sp), conn: c, rnd: rand.New(rand.NewPCG(uint64(sp.Seed), 0))} //nolint:gosec // no secret
}

// Layer returns the transactions as a run sees them: the server has the records and
// their phases.
func (d *DTM) Layer() *model.Adapter {
	open := func() model.Store {
		st := d.Memory.Open()
		st.Phases, st.Audit = d, d
		return st
	}
	return &model.Adapter{Open: open, Price: model.EveryOne}
}

// Submission is the content of a submit: the transaction and, in Steps and Payloads,
// the URLs and payloads of its branches.
type Submission struct {
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

// Body returns what the server is told about a transaction: for a saga everything, for
// a message what follows its local transaction.
func (d *DTM) Body(s *model.Saga) ([]byte, error) {
	sub := Submission{Gid: s.Gid, TransType: s.Of().Name, WaitResult: true, Timeout: int64(s.Timeout / time.Second)}
	from := len(s.Steps)
	switch s.Of() {
	case model.KindSaga:
		from = 0
	case model.KindMsg:
		from, sub.Query = 1, d.participant(s)
	}
	for i := from; i < len(s.Steps); i++ {
		payload, err := d.instruction(s, i)
		if err != nil {
			return nil, err
		}
		step := map[string]string{model.BranchAction: d.participant(s)}
		if from == 0 {
			step[model.BranchCompensate] = d.participant(s)
		}
		sub.Steps = append(sub.Steps, step)
		sub.Payloads = append(sub.Payloads, payload)
	}
	return json.Marshal(sub)
}

// Post makes a request that the server must answer with 200.
func (d *DTM) Post(ctx context.Context, path string, body []byte) error {
	status, _, err := d.conn.Call(ctx, http.MethodPost, path, nil, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the server answered with status %d", status)
	}
	return err
}

// Submit submits a saga. Status 409 may mean that it was undone or that it is still
// running, so its state is queried. If it is not known to be final, an error is
// returned.
func (d *DTM) Submit(ctx context.Context, gid string, body []byte) (done bool, err error) {
	status, _, err := d.conn.Call(ctx, http.MethodPost, "submit", nil, body)
	switch {
	case err != nil:
		return false, fmt.Errorf("submit: %w", err)
	case status == http.StatusOK:
		return true, nil
	case status != http.StatusConflict:
		return false, fmt.Errorf("submit: the server answered with status %d", status)
	}
	return d.Outcome(ctx, gid)
}

// Outcome queries the outcome of a transaction whose reply does not tell; if it is not
// final, the error is coordinator.ErrUndecided.
func (d *DTM) Outcome(ctx context.Context, gid string) (done bool, err error) {
	got, err := d.Query(ctx, gid)
	switch {
	case err != nil:
		return false, err
	case got.Status == model.Failed:
		return false, nil
	case got.Status == model.Succeed:
		return true, nil
	}
	return false, coordinator.ErrUndecided
}

// Query queries the state of a saga.
func (d *DTM) Query(ctx context.Context, gid string) (model.Stored, error) {
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
		return model.Stored{}, fmt.Errorf("query: the server answered with status %d and no answer that can be read", status)
	}
	out := model.Stored{Gid: gid, Kind: d.kind(), Ledger: map[string]model.Entry{}}
	if q.Transaction != nil {
		out.Status, out.Inner = q.Transaction.Status, q.Transaction.Status
	}
	for _, b := range q.Branches {
		out.Rows = append(out.Rows, b.Status)
		if len(b.Data) == 0 {
			continue // not reported
		}
		p, err := model.ParsePayload(gid, b.Data)
		if err != nil {
			return model.Stored{}, err
		}
		out.Fillings = append(out.Fillings, p.Filling)
	}
	return out, nil
}

// Read queries each saga, and adds the ledger of this process.
func (d *DTM) Read(ctx context.Context, _ int, gids []string) ([]model.Stored, error) {
	local, err := d.Memory.Read(ctx, 0, gids)
	if err != nil {
		return nil, err
	}
	for i := range local {
		got, err := d.Query(ctx, gids[i])
		if err != nil {
			return nil, err
		}
		got.Ledger = local[i].Ledger
		local[i] = got
	}
	return local, nil
}

// Register registers a branch with the server.
func (d *DTM) Register(ctx context.Context, s *model.Saga, step int) error {
	payload, err := d.instruction(s, step)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{
		"gid": s.Gid, "trans_type": s.Of().Name, "branch_id": string(model.AppendBranch(nil, step)), "data": payload,
		model.BranchConfirm: d.participant(s), model.BranchCancel: d.participant(s),
	})
	if err != nil {
		return err
	}
	return d.Post(ctx, "registerBranch", body)
}

// kind returns the kind of the run's transactions.
func (d *DTM) kind() *model.Kind {
	if d.Spec.Kind == nil {
		return model.KindSaga
	}
	return d.Spec.Kind
}
