package tx

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/filling"
)

// States of a saga and of its branch rows.
const (
	prepared  = "prepared"
	submitted = "submitted"
	aborting  = "aborting"
	succeed   = "succeed"
	failed    = "failed"
)

// Operations of branch rows.
const (
	opAction     = "action"
	opCompensate = "compensate"
)

func final(status string) bool { return status == succeed || status == failed }

// transfer is the payload of a branch: an amount put on an account, or taken off.
type transfer struct {
	Account int64 `json:"account"`
	Amount  int64 `json:"amount"`
}

// saga is a global transaction as its coordinator has it in hand, of whatever kind.
// It belongs to one goroutine.
type saga struct {
	// kind is nil for a saga.
	kind   *kind
	gid    string
	shard  int
	status string
	// steps are the branches; rows has two for each: compensate and action, or what
	// the kind has.
	steps []transfer
	rows  []row
	// empty says that the branches call nobody.
	empty bool
	// size is the bytes that the payload of each branch carries beside. Of a
	// transaction that was loaded rows have what was found.
	size   int
	loaded bool

	created, updated, ended, rolledBack time.Time
	reason                              string
	interval                            time.Duration // current step of the back-off
	next                                time.Time
	timeout                             time.Duration

	// fate says what the participants will do; those of a recovered saga do well.
	fate fate
	// straggler says which step's first call is still on its way, from 1; 0: none.
	straggler int
	// first and last are texts of moments, which most of the texts share.
	first, last moment
	// scratch holds a payload while it is written.
	scratch []byte
}

// moment is a time with its text.
type moment struct {
	at   time.Time
	text []byte
}

func (m *moment) set(t time.Time) {
	m.at, m.text = t, t.AppendFormat(m.text[:0], time.RFC3339Nano)
}

// row is one branch row.
type row struct {
	op, status              string
	created, updated, ended time.Time
	rolledBack              time.Time
	step                    int
	// filling is what the payload of a stored row carries for its size.
	filling string
}

// reset makes a new saga of what an old one has left.
func (s *saga) reset(gid string, shard, branches int, now time.Time) {
	s.gid, s.shard, s.status = gid, shard, submitted
	s.created, s.updated, s.ended, s.rolledBack = now, now, time.Time{}, time.Time{}
	s.kind, s.reason, s.fate, s.straggler, s.size, s.loaded = nil, "", fate{}, 0, 0, false
	s.first.set(now)
	s.steps, s.rows = s.steps[:0], s.rows[:0]
	for i := range branches {
		s.steps = append(s.steps, transfer{})
		s.rows = append(s.rows, row{op: opCompensate, status: prepared, created: now, updated: now, step: i},
			row{op: opAction, status: prepared, created: now, updated: now, step: i})
	}
}

// compensation and action are the positions of a step's rows.
func compensation(step int) int { return 2 * step }
func action(step int) int       { return 2*step + 1 }

func (s *saga) appendTime(b []byte, name string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":"`...)
	if t.Equal(s.first.at) {
		return append(append(b, s.first.text...), '"')
	}
	if t != s.last.at {
		s.last.set(t)
	}
	return append(append(b, s.last.text...), '"')
}

const participant = "perfbench:account"

// appendRecord appends the record as JSON; steps and payloads are in the first
// one only.
func (s *saga) appendRecord(b []byte, first bool) []byte {
	b = append(append(append(b, `{"id":0,"gid":"`...), s.gid...), `","trans_type":"`...)
	b = append(append(append(b, s.of().name...), `","status":"`...), s.status...)
	b = append(s.appendQuery(append(b, `","query_prepared":"`...)), `","protocol":"http"`...)
	if first {
		b = s.appendSteps(b)
	}
	b = s.appendTime(b, "create_time", s.created)
	b = s.appendTime(b, "update_time", s.updated)
	b = s.appendTime(b, "finish_time", s.ended)
	b = s.appendTime(b, "rollback_time", s.rolledBack)
	b = append(b, `,"options":"{\"concurrent\":false,\"wait_result\":true,\"timeout_to_fail\":`...)
	b = strconv.AppendInt(b, int64(s.timeout/time.Second), 10)
	b = append(b, `}","custom_data":"","next_cron_interval":`...)
	b = strconv.AppendInt(b, int64(s.interval/time.Millisecond), 10)
	b = s.appendTime(b, "next_cron_time", s.next)
	b = append(b, `,"timeout_ms":`...)
	b = strconv.AppendInt(b, s.timeout.Milliseconds(), 10)
	if s.reason != "" {
		b = append(b, `,"rollback_reason":`...)
		b = strconv.AppendQuoteToASCII(b, s.reason)
	}
	return append(b, '}')
}

// appendSteps appends what is to be done, as far as the coordinator is told with a
// new transaction: of a saga everything, of a message what follows its local
// transaction, of the others nothing.
func (s *saga) appendSteps(b []byte) []byte {
	k := s.of()
	from := len(s.steps)
	switch k {
	case kindSaga:
		from = 0
	case kindMsg:
		from = 1
	}
	url := participant
	if s.empty {
		url = ""
	}
	b = append(b, `,"steps":[`...)
	for i := from; i < len(s.steps); i++ {
		if i > from {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"action":"`...), url...), '"')
		if k == kindSaga {
			b = append(append(append(b, `,"compensate":"`...), url...), '"')
		}
		b = append(b, '}')
	}
	b = append(b, `],"payloads":[`...)
	for i := from; i < len(s.steps); i++ {
		if i > from {
			b = append(b, ',')
		}
		b = s.appendPayload(append(b, '"'), i, `\"`)
		b = append(b, '"')
	}
	return append(b, ']')
}

// appendQuery appends where to ask whether a message's local transaction was
// carried out: at the account that it is about.
func (s *saga) appendQuery(b []byte) []byte {
	if s.kind != kindMsg || s.empty {
		return b
	}
	return strconv.AppendInt(append(b, participant+":"...), s.steps[0].Account, 10)
}

// parseQuery reads what appendQuery wrote.
func parseQuery(text string) transfer {
	a, _ := strconv.ParseInt(strings.TrimPrefix(text, participant+":"), 10, 64) // 0 where nobody is asked
	return transfer{Account: a}
}

// appendPayload appends what a step is to do as JSON; quote is how its quotes are
// written.
func (s *saga) appendPayload(b []byte, step int, quote string) []byte {
	b = append(b, '{')
	if !s.empty {
		b = append(append(append(b, quote...), "account"...), quote...)
		b = strconv.AppendInt(append(b, ':'), s.steps[step].Account, 10)
		b = append(append(append(append(b, ','), quote...), "amount"...), quote...)
		b = strconv.AppendInt(append(b, ':'), s.steps[step].Amount, 10)
	}
	empty := len(b)
	if !s.empty {
		b = append(b, ',')
	}
	b = append(append(append(append(b, quote...), "filling"...), quote...), ':')
	b = append(b, quote...)
	from := len(b)
	if b = s.appendFilling(b, step); len(b) == from {
		return append(b[:empty], '}') // nothing, as the original
	}
	return append(append(b, quote...), '}')
}

// appendFilling appends what the payload of a step carries for its size.
func (s *saga) appendFilling(b []byte, step int) []byte {
	if !s.loaded && s.size == 0 {
		return b
	}
	if !s.loaded {
		return filling.Append(b, filling.Of(s.gid, step), s.size)
	}
	for i := range s.rows {
		if r := &s.rows[i]; r.step == step && r.filling != "" {
			return append(b, r.filling...)
		}
	}
	return b
}

// appendBranch appends a branch's two digits.
func appendBranch(b []byte, step int) []byte {
	if step+1 < 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(step+1), 10)
}

// appendRow appends a branch row as JSON.
func (s *saga) appendRow(b []byte, pos int) []byte {
	r := &s.rows[pos]
	b = append(append(append(b, `{"gid":"`...), s.gid...), `","url":"`...)
	if !s.empty {
		b = append(b, participant...)
	}
	b = append(b, `","bin_data":"`...)
	s.scratch = s.appendPayload(s.scratch[:0], r.step, `"`)
	b = base64.StdEncoding.AppendEncode(b, s.scratch)
	b = append(b, `","branch_id":"`...)
	b = appendBranch(b, s.branch(r.step))
	b = append(append(append(b, `","op":"`...), r.op...), `","status":"`...)
	b = append(append(b, r.status...), '"')
	b = s.appendTime(b, "create_time", r.created)
	b = s.appendTime(b, "update_time", r.updated)
	b = s.appendTime(b, "finish_time", r.ended)
	b = s.appendTime(b, "rollback_time", r.rolledBack)
	return append(b, '}')
}

// recordJSON and rowJSON are what is read back.
type recordJSON struct {
	Gid        string    `json:"gid"`
	Kind       string    `json:"trans_type"`
	Status     string    `json:"status"`
	Query      string    `json:"query_prepared"`
	Created    time.Time `json:"create_time"`
	Updated    time.Time `json:"update_time"`
	Ended      time.Time `json:"finish_time"`
	RolledBack time.Time `json:"rollback_time"`
	Next       time.Time `json:"next_cron_time"`
	IntervalMS int64     `json:"next_cron_interval"`
	TimeoutMS  int64     `json:"timeout_ms"`
	Reason     string    `json:"rollback_reason"`
}

type rowJSON struct {
	Gid     string    `json:"gid"`
	URL     string    `json:"url"`
	Data    []byte    `json:"bin_data"`
	Branch  string    `json:"branch_id"`
	Op      string    `json:"op"`
	Status  string    `json:"status"`
	Created time.Time `json:"create_time"`
	Updated time.Time `json:"update_time"`
	Ended   time.Time `json:"finish_time"`
	Rolled  time.Time `json:"rollback_time"`
}

// parsePayload reads the payload of a branch of a transaction as it is stored.
func parsePayload(gid string, data []byte) (p instruction, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("payload of %s: %w", gid, err)
	}
	return p, nil
}

// parseSaga makes a saga of a record and its rows as they are stored.
func parseSaga(shard int, record string, rows []string) (*saga, error) {
	var g recordJSON
	if err := json.Unmarshal([]byte(record), &g); err != nil {
		return nil, fmt.Errorf("record of a transaction: %w", err)
	}
	s := &saga{
		loaded: true, kind: kindOf(g.Kind), gid: g.Gid, shard: shard, status: g.Status, created: g.Created, updated: g.Updated, ended: g.Ended, rolledBack: g.RolledBack,
		reason: g.Reason, interval: time.Duration(g.IntervalMS) * time.Millisecond, next: g.Next, timeout: time.Duration(g.TimeoutMS) * time.Millisecond,
	}
	if s.kind == kindMsg {
		s.steps = append(s.steps, parseQuery(g.Query))
	}
	for i, text := range rows {
		var r rowJSON
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("branch row %d of %s: %w", i, g.Gid, err)
		}
		s.empty = s.empty || r.URL == ""
		step, first := s.kind.place(i)
		p, err := parsePayload(g.Gid, r.Data)
		if err != nil {
			return nil, err
		}
		if first {
			s.steps = append(s.steps, p.transfer)
		}
		s.rows = append(s.rows, row{
			op: r.Op, status: r.Status, created: r.Created, updated: r.Updated, ended: r.Ended, rolledBack: r.Rolled, step: step, filling: p.Filling,
		})
	}
	return s, nil
}
