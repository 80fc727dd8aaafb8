package tx

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/perfbench/perfbench/internal/workload"
)

// post asks the server for something that it answers with 200.
func (d *dtmSagas) post(ctx context.Context, path string, body []byte) error {
	status, _, err := d.conn.Call(ctx, http.MethodPost, path, nil, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the server answered with status %d", status)
	}
	return err
}

// Register registers a branch with the server.
func (d *dtmSagas) Register(ctx context.Context, s *saga, step int) error {
	payload, err := d.instruction(s, step)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{
		"gid": s.gid, "trans_type": s.of().name, "branch_id": string(appendBranch(nil, step)), "data": payload,
		opConfirm: d.participant(s), opCancel: d.participant(s),
	})
	if err != nil {
		return err
	}
	return d.post(ctx, "registerBranch", body)
}

// participant is where the server finds who carries out a transaction's branches.
func (d *dtmSagas) participant(s *saga) string {
	if s.empty {
		return ""
	}
	return d.url
}

// instruction is the payload of a step, which its branches carry out when they are
// called.
func (d *dtmSagas) instruction(s *saga, step int) (string, error) {
	if s.empty {
		return string(s.appendPayload(nil, step, `"`)), nil
	}
	text, err := json.Marshal(instruction{s.steps[step], s.of() == kindSaga && s.fate.failAt == step+1, string(s.appendFilling(nil, step))})
	return string(text), err
}

// phased runs a transaction that is prepared first: the application's part is
// perfbench's, the rest is the server's.
func (k *dtmTask) phased(ctx context.Context, it *workload.Iteration, body []byte) (outcome, error) {
	s, c := &k.s, &k.c
	s.straggler = 0
	if err := c.timed(it, opSave, func() error { return k.d.post(ctx, "prepare", body) }); err != nil {
		return unknown, fmt.Errorf("prepare: %w", err)
	}
	good, err := c.firstPhase(ctx, it, s)
	if err != nil {
		return unknown, err
	}
	if good && c.spec.lostRate > 0 && c.rnd.Float64() < c.spec.lostRate {
		c.tally.lostSubmits.Add(1)
		return unknown, errLost
	}
	if good {
		var o outcome
		err := c.timed(it, opSubmit, func() (err error) {
			o, err = k.d.submit(ctx, s.gid, body)
			return err
		})
		return o, err
	}
	late := s.straggler
	err = c.timed(it, opAbort, func() error { return k.d.post(ctx, "abort", body) })
	if err != nil {
		return unknown, fmt.Errorf("abort: %w", err)
	}
	got, err := k.d.outcome(ctx, s.gid)
	if err == nil {
		err = c.late(ctx, s, late)
	}
	return got, err
}

// outcome asks what has become of a transaction that a reply does not tell of.
func (d *dtmSagas) outcome(ctx context.Context, gid string) (outcome, error) {
	got, err := d.query(ctx, gid)
	switch {
	case err != nil:
		return unknown, err
	case got.status == failed:
		return ackedUndone, nil
	case got.status == succeed:
		return ackedDone, nil
	}
	return unknown, errUndecided
}

// carry carries out a branch that the server calls, or tells it of a local
// transaction.
func (d *dtmSagas) carry(ctx context.Context, gid, op string, k *kind, branch int, in instruction) (reply, error) {
	step := branch - 1
	if k == kindMsg {
		step = branch
	}
	s := &saga{gid: gid, kind: k, steps: make([]transfer, step+1), rows: make([]row, 2*step+2)}
	s.steps[step] = in.transfer
	if k != kindSaga {
		if op == opMsg {
			op = opQuery
		}
		return d.Carry(ctx, s, step, op)
	}
	pos := action(step)
	if op == opCompensate {
		pos = compensation(step)
	}
	s.rows[pos] = row{op: op, step: step}
	return d.Move(ctx, s, pos)
}

// called says whether the server may call a kind's branch for an operation.
func (k *kind) called(branch int, op string) bool {
	if k == kindMsg && op == opMsg {
		return branch == 0
	}
	return branch > 0 && (op == k.forward || op == k.backward && op != "")
}

// kind is what the run's transactions are.
func (d *dtmSagas) kind() *kind {
	if d.memorySagas == nil || d.spec.kind == nil {
		return kindSaga
	}
	return d.spec.kind
}
