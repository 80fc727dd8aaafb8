package saga

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// post asks the server for something that it answers with 200.
func (d *coordinated) post(ctx context.Context, path string, body []byte) error {
	status, _, err := d.conn.Call(ctx, http.MethodPost, path, nil, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the server answered with status %d", status)
	}
	return err
}

// Register registers a branch with the server.
func (d *coordinated) Register(ctx context.Context, s *model.Saga, step int) error {
	payload, err := d.instruction(s, step)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{
		"gid": s.Gid, "trans_type": s.Of().Name, "branch_id": string(model.AppendBranch(nil, step)), "data": payload,
		model.OpConfirm: d.participant(s), model.OpCancel: d.participant(s),
	})
	if err != nil {
		return err
	}
	return d.post(ctx, "registerBranch", body)
}

// participant is where the server finds who carries out a transaction's branches.
func (d *coordinated) participant(s *model.Saga) string {
	if s.Empty {
		return ""
	}
	return d.url
}

// instruction is the payload of a step, which its branches carry out when they are
// called.
func (d *coordinated) instruction(s *model.Saga, step int) (string, error) {
	if s.Empty {
		return string(s.AppendPayload(nil, step, `"`)), nil
	}
	text, err := json.Marshal(model.Instruction{Transfer: s.Steps[step], Refuse: s.Of() == model.KindSaga && s.Fate.FailAt == step+1, Filling: string(s.AppendFilling(nil, step))})
	return string(text), err
}

// phased runs a transaction that is prepared first: the application's part is
// perfbench's, the rest is the server's.
func (k *coordinatedTask) phased(ctx context.Context, it *workload.Iteration, body []byte) (outcome, error) {
	s, c := &k.s, &k.c
	s.Straggler = 0
	if err := c.Timed(it, model.OpSave, func() error { return k.d.post(ctx, "prepare", body) }); err != nil {
		return unknown, fmt.Errorf("prepare: %w", err)
	}
	good, err := c.FirstPhase(ctx, it, s)
	if err != nil {
		return unknown, err
	}
	if good && c.Spec.LostRate > 0 && c.Rand.Float64() < c.Spec.LostRate {
		c.Counts.LostSubmits.Add(1)
		return unknown, coordinator.ErrLost
	}
	if good {
		var o outcome
		err := c.Timed(it, model.OpSubmit, func() (err error) {
			o, err = k.d.submit(ctx, s.Gid, body)
			return err
		})
		return o, err
	}
	late := s.Straggler
	err = c.Timed(it, model.OpAbort, func() error { return k.d.post(ctx, "abort", body) })
	if err != nil {
		return unknown, fmt.Errorf("abort: %w", err)
	}
	got, err := k.d.outcome(ctx, s.Gid)
	if err == nil {
		err = c.Late(ctx, s, late)
	}
	return got, err
}

// outcome asks what has become of a transaction that a reply does not tell of.
func (d *coordinated) outcome(ctx context.Context, gid string) (outcome, error) {
	got, err := d.query(ctx, gid)
	switch {
	case err != nil:
		return unknown, err
	case got.Status == model.Failed:
		return ackedUndone, nil
	case got.Status == model.Succeed:
		return ackedDone, nil
	}
	return unknown, coordinator.ErrUndecided
}

// carry carries out a branch that the server calls, or tells it of a local
// transaction.
func (d *coordinated) carry(ctx context.Context, gid, op string, k *model.Kind, branch int, in model.Instruction) (model.Reply, error) {
	step := branch - 1
	if k == model.KindMsg {
		step = branch
	}
	s := &model.Saga{Gid: gid, Kind: k, Steps: make([]model.Transfer, step+1), Rows: make([]model.Row, 2*step+2)}
	s.Steps[step] = in.Transfer
	if k != model.KindSaga {
		if op == model.OpMsg {
			op = model.OpQuery
		}
		return d.Carry(ctx, s, step, op)
	}
	pos := model.Action(step)
	if op == model.OpCompensate {
		pos = model.Compensation(step)
	}
	s.Rows[pos] = model.Row{Op: op, Step: step}
	return d.Move(ctx, s, pos)
}

// called says whether the server may call a kind's branch for an operation.
func called(k *model.Kind, branch int, op string) bool {
	if k == model.KindMsg && op == model.OpMsg {
		return branch == 0
	}
	return branch > 0 && (op == k.Forward || op == k.Backward && op != "")
}

// kind is what the run's transactions are.
func (d *coordinated) kind() *model.Kind {
	if d.Memory == nil || d.Spec.Kind == nil {
		return model.KindSaga
	}
	return d.Spec.Kind
}
