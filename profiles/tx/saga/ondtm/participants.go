package ondtm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Listen starts serving the participants at the run's endpoint. The error names it,
// with the code of bad input.
func (d *DTM) Listen(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.Spec.Endpoint)
	if err != nil {
		return fault.Field("endpoint", fault.Input(fmt.Errorf("endpoint: %w", err), "for example --set endpoint=127.0.0.1:0"))
	}
	d.url = "http://" + l.Addr().String() + "/"
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second}
	fault.Go(func() { _ = d.server.Serve(l) }) // ends with Close
	return nil
}

// Close stops serving; nobody may call any more.
func (d *DTM) Close() error { return d.server.Close() }

// chance reports whether something with a probability happens.
func (d *DTM) chance(p float64) bool {
	if p <= 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rnd.Float64() < p
}

// ServeHTTP answers a branch call as a participant does.
func (d *DTM) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	say := func(status int, word string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"dtm_result":"`+word+`"}`) // the caller may have gone
	}
	q, sp := req.URL.Query(), d.Spec
	gid, op := q.Get("gid"), q.Get("op")
	var step int
	var in model.Instruction
	_, err := fmt.Sscanf(q.Get("branch_id"), "%d", &step)
	if err == nil && op != model.BranchMsg { // BranchMsg is only a question
		err = json.NewDecoder(io.LimitReader(req.Body, model.MaxPayload+1<<16)).Decode(&in)
	}
	k := model.KindOf(q.Get("trans_type"))
	if err != nil || !called(k, step, op) {
		say(http.StatusBadRequest, "ERROR")
		return
	}
	if store.Pause(req.Context(), sp.Delay) != nil {
		return
	}
	if d.chance(sp.OngoingRate) {
		say(http.StatusTooEarly, "ONGOING")
		return
	}
	lost := d.chance(sp.ErrorRate)
	if in.Refuse && op == model.BranchAction {
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

// participant returns the URL at which the server calls a transaction's branches.
func (d *DTM) participant(s *model.Saga) string {
	if s.Empty {
		return ""
	}
	return d.url
}

// instruction returns the payload of a step, which its branches carry out when they are
// called.
func (d *DTM) instruction(s *model.Saga, step int) (string, error) {
	if s.Empty {
		return string(s.AppendPayload(nil, step, `"`)), nil
	}
	text, err := json.Marshal(model.Instruction{Transfer: s.Steps[step], Refuse: s.Of() == model.KindSaga && s.Fate.FailAt == step+1, Filling: string(s.AppendFilling(nil, step))})
	return string(text), err
}

// carry carries out a branch that the server calls, or answers its question about a
// local transaction.
func (d *DTM) carry(ctx context.Context, gid, op string, k *model.Kind, branch int, in model.Instruction) (model.Reply, error) {
	step := branch - 1
	if k == model.KindMsg {
		step = branch
	}
	s := &model.Saga{Gid: gid, Kind: k, Steps: make([]model.Transfer, step+1), Rows: make([]model.Row, 2*step+2)}
	s.Steps[step] = in.Transfer
	if k != model.KindSaga {
		if op == model.BranchMsg {
			op = model.BranchQuery
		}
		return d.Carry(ctx, s, step, op)
	}
	pos := model.Action(step)
	if op == model.BranchCompensate {
		pos = model.Compensation(step)
	}
	s.Rows[pos] = model.Row{Op: op, Step: step}
	return d.Move(ctx, s, pos)
}

// called reports whether the server may call a kind's branch for an operation.
func called(k *model.Kind, branch int, op string) bool {
	if k == model.KindMsg && op == model.BranchMsg {
		return branch == 0
	}
	return branch > 0 && (op == k.Forward || op == k.Backward && op != "")
}
