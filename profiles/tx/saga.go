package tx

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
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

// saga is a global transaction as its coordinator has it in hand. It belongs to
// one goroutine.
type saga struct {
	gid    string
	shard  int
	status string
	// steps are the branches; rows has two for each: compensate and action.
	steps []transfer
	rows  []row
	// empty says that the branches call nobody.
	empty bool

	created, updated, ended, rolledBack time.Time
	reason                              string
	interval                            time.Duration // current step of the back-off
	next                                time.Time
	timeout                             time.Duration

	// fate says what the participants will do; those of a recovered saga do well.
	fate fate
	// lost is what the store undid for the sake of others since it was last recorded.
	lost lost
	// caller is for a store that is called through scripts.
	caller caller
	// first and last are texts of moments, which most of the texts share.
	first, last moment
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
}

// reset makes a new saga of what an old one has left.
func (s *saga) reset(gid string, shard, branches int, now time.Time) {
	s.gid, s.shard, s.status = gid, shard, submitted
	s.created, s.updated, s.ended, s.rolledBack = now, now, time.Time{}, time.Time{}
	s.reason, s.fate = "", fate{}
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
	b = append(append(append(b, `{"id":0,"gid":"`...), s.gid...), `","trans_type":"saga","status":"`...)
	b = append(append(b, s.status...), `","query_prepared":"","protocol":"http"`...)
	if first {
		b = append(b, `,"steps":[`...)
		for i := range s.steps {
			if i > 0 {
				b = append(b, ',')
			}
			if s.empty {
				b = append(b, `{"action":"","compensate":""}`...)
			} else {
				b = append(b, `{"action":"`+participant+`","compensate":"`+participant+`"}`...)
			}
		}
		b = append(b, `],"payloads":[`...)
		for i := range s.steps {
			if i > 0 {
				b = append(b, ',')
			}
			b = s.appendPayload(append(b, '"'), i, `\"`)
			b = append(b, '"')
		}
		b = append(b, ']')
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

// appendPayload appends what a step is to do as JSON; quote is how its quotes are
// written.
func (s *saga) appendPayload(b []byte, step int, quote string) []byte {
	if s.empty {
		return append(b, "{}"...)
	}
	b = append(append(append(append(b, '{'), quote...), "account"...), quote...)
	b = strconv.AppendInt(append(b, ':'), s.steps[step].Account, 10)
	b = append(append(append(append(b, ','), quote...), "amount"...), quote...)
	b = strconv.AppendInt(append(b, ':'), s.steps[step].Amount, 10)
	return append(b, '}')
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
	if s.empty {
		b = append(b, "e30="...) // {}
	} else {
		var payload [64]byte
		b = base64.StdEncoding.AppendEncode(b, s.appendPayload(payload[:0], r.step, `"`))
	}
	b = append(b, `","branch_id":"`...)
	b = appendBranch(b, r.step)
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
	Status     string    `json:"status"`
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

// parseSaga makes a saga of a record and its rows as they are stored.
func parseSaga(shard int, record string, rows []string) (*saga, error) {
	var g recordJSON
	if err := json.Unmarshal([]byte(record), &g); err != nil {
		return nil, fmt.Errorf("record of a transaction: %w", err)
	}
	s := &saga{
		gid: g.Gid, shard: shard, status: g.Status, created: g.Created, updated: g.Updated, ended: g.Ended, rolledBack: g.RolledBack,
		reason: g.Reason, interval: time.Duration(g.IntervalMS) * time.Millisecond, next: g.Next, timeout: time.Duration(g.TimeoutMS) * time.Millisecond,
	}
	for i, text := range rows {
		var r rowJSON
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("branch row %d of %s: %w", i, g.Gid, err)
		}
		s.empty = s.empty || r.URL == ""
		if i%2 == 0 {
			var t transfer
			if err := json.Unmarshal(r.Data, &t); err != nil {
				return nil, fmt.Errorf("payload of branch %s of %s: %w", r.Branch, g.Gid, err)
			}
			s.steps = append(s.steps, t)
		}
		s.rows = append(s.rows, row{op: r.Op, status: r.Status, created: r.Created, updated: r.Updated, ended: r.Ended, rolledBack: r.Rolled, step: i / 2})
	}
	return s, nil
}
