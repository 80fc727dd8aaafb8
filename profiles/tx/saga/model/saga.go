// Package model defines distributed transactions: their records, branch rows, kinds and
// gids, and what a store of them must be able to do.
package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
)

// States of a saga and of its branch rows.
const (
	Prepared  = "prepared"
	Submitted = "submitted"
	Aborting  = "aborting"
	Succeed   = "succeed"
	Failed    = "failed"
)

// Operations of branch rows.
const (
	BranchAction     = "action"
	BranchCompensate = "compensate"
)

// Final reports whether a transaction with this status is over.
func Final(status string) bool { return status == Succeed || status == Failed }

// Transfer is the payload of a branch: an amount put on an account, or taken off.
type Transfer struct {
	Account int64 `json:"account"`
	Amount  int64 `json:"amount"`
}

// Saga is a global transaction, of whatever kind, as its coordinator works on it. It
// belongs to one goroutine.
type Saga struct {
	// Kind is nil for a saga.
	Kind   *Kind
	Gid    string
	Shard  int
	Status string
	// Steps are the branches; Rows has two for each: compensate and action, or the
	// operations of the kind.
	Steps []Transfer
	Rows  []Row
	// Empty means that the branches call nobody.
	Empty bool
	// Size is the size in bytes of the filling in each branch's payload. In a
	// transaction that was loaded, rows have the filling that was found.
	Size   int
	Loaded bool

	Created, Updated, Ended, RolledBack time.Time
	Reason                              string
	Interval                            time.Duration // current step of the back-off
	Next                                time.Time
	Timeout                             time.Duration
	// Late means that Next has passed while it was worked on: somebody else may have taken it up.
	Late bool

	// Fate says what the participants will do; those of a recovered saga behave.
	Fate Fate
	// Straggler is the step, from 1, whose first call is still on its way; 0: none.
	Straggler int
	// first and last are moments with their texts, which most texts of moments share.
	first, last moment
	// Scratch holds a payload while it is written.
	Scratch []byte
}

// Fate is what the participants will do with one saga.
type Fate struct {
	// FailAt is the step whose action is refused, from 1; 0: none.
	FailAt int
}

// Instruction is a branch's payload: what to move, whether to refuse, and the filling.
type Instruction struct {
	Transfer
	Refuse  bool   `json:"refuse,omitempty"`
	Filling string `json:"filling,omitempty"`
}

// moment is a time with its text.
type moment struct {
	at   time.Time
	text []byte
}

func (m *moment) set(t time.Time) {
	m.at, m.text = t, t.AppendFormat(m.text[:0], time.RFC3339Nano)
}

// Row is one branch row.
type Row struct {
	Op, Status              string
	Created, Updated, Ended time.Time
	RolledBack              time.Time
	Step                    int
	// Filling is the filling in the payload of a stored row.
	Filling string
}

// Reset turns an old saga into a new one, reusing its memory.
func (s *Saga) Reset(gid string, shard, branches int, now time.Time) {
	s.Gid, s.Shard, s.Status = gid, shard, Submitted
	s.Created, s.Updated, s.Ended, s.RolledBack = now, now, time.Time{}, time.Time{}
	s.Kind, s.Reason, s.Fate, s.Straggler, s.Size, s.Loaded, s.Late = nil, "", Fate{}, 0, 0, false, false
	s.first.set(now)
	s.Steps, s.Rows = s.Steps[:0], s.Rows[:0]
	for i := range branches {
		s.Steps = append(s.Steps, Transfer{})
		s.Rows = append(s.Rows, Row{Op: BranchCompensate, Status: Prepared, Created: now, Updated: now, Step: i},
			Row{Op: BranchAction, Status: Prepared, Created: now, Updated: now, Step: i})
	}
}

// Compensation returns the position of the row that undoes a step.
func Compensation(step int) int { return 2 * step }

// Action returns the position of the row that does a step.
func Action(step int) int { return 2*step + 1 }

func (s *Saga) appendTime(b []byte, name string, t time.Time) []byte {
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

// Decide sets the outcome of a row, and when it came to that.
func (r *Row) Decide(status string, now time.Time) {
	r.Status, r.Updated, r.Ended, r.RolledBack = status, now, time.Time{}, time.Time{}
	if status == Succeed {
		r.Ended = now
	} else {
		r.RolledBack = now
	}
}

// Participant stands in records in place of the URL of a participant.
const Participant = "perfbench:account"

// AppendRecord appends the record as JSON; only the first one has steps and payloads.
func (s *Saga) AppendRecord(b []byte, first bool) []byte {
	b = append(append(append(b, `{"id":0,"gid":"`...), s.Gid...), `","trans_type":"`...)
	b = append(append(append(b, s.Of().Name...), `","status":"`...), s.Status...)
	b = append(s.AppendQuery(append(b, `","query_prepared":"`...)), `","protocol":"http"`...)
	if first {
		b = s.appendSteps(b)
	}
	b = s.appendTime(b, "create_time", s.Created)
	b = s.appendTime(b, "update_time", s.Updated)
	b = s.appendTime(b, "finish_time", s.Ended)
	b = s.appendTime(b, "rollback_time", s.RolledBack)
	b = append(b, `,"options":"{\"concurrent\":false,\"wait_result\":true,\"timeout_to_fail\":`...)
	b = strconv.AppendInt(b, int64(s.Timeout/time.Second), 10)
	b = append(b, `}","custom_data":"","next_cron_interval":`...)
	b = strconv.AppendInt(b, int64(s.Interval/time.Millisecond), 10)
	b = s.appendTime(b, "next_cron_time", s.Next)
	b = append(b, `,"timeout_ms":`...)
	b = strconv.AppendInt(b, s.Timeout.Milliseconds(), 10)
	if s.Reason != "" {
		b = append(b, `,"rollback_reason":`...)
		b = strconv.AppendQuoteToASCII(b, s.Reason)
	}
	return append(b, '}')
}

// appendSteps appends what is to be done, as far as the coordinator is told with a new
// transaction: for a saga everything, for a message what follows its local transaction,
// for the others nothing.
func (s *Saga) appendSteps(b []byte) []byte {
	k := s.Of()
	from := len(s.Steps)
	switch k {
	case KindSaga:
		from = 0
	case KindMsg:
		from = 1
	}
	url := Participant
	if s.Empty {
		url = ""
	}
	b = append(b, `,"steps":[`...)
	for i := from; i < len(s.Steps); i++ {
		if i > from {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"action":"`...), url...), '"')
		if k == KindSaga {
			b = append(append(append(b, `,"compensate":"`...), url...), '"')
		}
		b = append(b, '}')
	}
	b = append(b, `],"payloads":[`...)
	for i := from; i < len(s.Steps); i++ {
		if i > from {
			b = append(b, ',')
		}
		b = s.AppendPayload(append(b, '"'), i, `\"`)
		b = append(b, '"')
	}
	return append(b, ']')
}

// AppendQuery appends where to ask whether a message's local transaction was carried
// out: at the account concerned.
func (s *Saga) AppendQuery(b []byte) []byte {
	if s.Kind != KindMsg || s.Empty {
		return b
	}
	return strconv.AppendInt(append(b, Participant+":"...), s.Steps[0].Account, 10)
}

// ParseQuery parses the output of AppendQuery.
func ParseQuery(text string) Transfer {
	a, _ := strconv.ParseInt(strings.TrimPrefix(text, Participant+":"), 10, 64) // 0 if nobody is asked
	return Transfer{Account: a}
}

// AppendPayload appends what a step is to do as JSON; quote is the form of its quotes.
func (s *Saga) AppendPayload(b []byte, step int, quote string) []byte {
	b = append(b, '{')
	if !s.Empty {
		b = append(append(append(b, quote...), "account"...), quote...)
		b = strconv.AppendInt(append(b, ':'), s.Steps[step].Account, 10)
		b = append(append(append(append(b, ','), quote...), "amount"...), quote...)
		b = strconv.AppendInt(append(b, ':'), s.Steps[step].Amount, 10)
	}
	empty := len(b)
	if !s.Empty {
		b = append(b, ',')
	}
	b = append(append(append(append(b, quote...), "filling"...), quote...), ':')
	b = append(b, quote...)
	from := len(b)
	if b = s.AppendFilling(b, step); len(b) == from {
		return append(b[:empty], '}') // nothing, as in the original
	}
	return append(append(b, quote...), '}')
}

// AppendFilling appends the filling in the payload of a step.
func (s *Saga) AppendFilling(b []byte, step int) []byte {
	if !s.Loaded && s.Size == 0 {
		return b
	}
	if !s.Loaded {
		return datagen.Append(b, datagen.Of(s.Gid, step), s.Size)
	}
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Step == step && r.Filling != "" {
			return append(b, r.Filling...)
		}
	}
	return b
}

// AppendBranch appends a branch's two digits.
func AppendBranch(b []byte, step int) []byte {
	if step+1 < 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(step+1), 10)
}

// AppendRow appends a branch row as JSON.
func (s *Saga) AppendRow(b []byte, pos int) []byte {
	r := &s.Rows[pos]
	b = append(append(append(b, `{"gid":"`...), s.Gid...), `","url":"`...)
	if !s.Empty {
		b = append(b, Participant...)
	}
	b = append(b, `","bin_data":"`...)
	s.Scratch = s.AppendPayload(s.Scratch[:0], r.Step, `"`)
	b = base64.StdEncoding.AppendEncode(b, s.Scratch)
	b = append(b, `","branch_id":"`...)
	b = AppendBranch(b, s.Branch(r.Step))
	b = append(append(append(b, `","op":"`...), r.Op...), `","status":"`...)
	b = append(append(b, r.Status...), '"')
	b = s.appendTime(b, "create_time", r.Created)
	b = s.appendTime(b, "update_time", r.Updated)
	b = s.appendTime(b, "finish_time", r.Ended)
	b = s.appendTime(b, "rollback_time", r.RolledBack)
	return append(b, '}')
}

// RecordJSON and rowJSON are the forms that are read back.
type RecordJSON struct {
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

// ParsePayload parses the stored payload of a transaction's branch.
func ParsePayload(gid string, data []byte) (p Instruction, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("payload of %s: %w", gid, err)
	}
	return p, nil
}

// ParseSaga parses a stored record and its rows.
func ParseSaga(shard int, record string, rows []string) (*Saga, error) {
	var g RecordJSON
	if err := json.Unmarshal([]byte(record), &g); err != nil {
		return nil, fmt.Errorf("record of a transaction: %w", err)
	}
	s := &Saga{
		Loaded: true, Kind: KindOf(g.Kind), Gid: g.Gid, Shard: shard, Status: g.Status, Created: g.Created, Updated: g.Updated, Ended: g.Ended, RolledBack: g.RolledBack,
		Reason: g.Reason, Interval: time.Duration(g.IntervalMS) * time.Millisecond, Next: g.Next, Timeout: time.Duration(g.TimeoutMS) * time.Millisecond,
	}
	if s.Kind == KindMsg {
		s.Steps = append(s.Steps, ParseQuery(g.Query))
	}
	for i, text := range rows {
		var r rowJSON
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("branch row %d of %s: %w", i, g.Gid, err)
		}
		s.Empty = s.Empty || r.URL == ""
		step, first := s.Kind.Place(i)
		p, err := ParsePayload(g.Gid, r.Data)
		if err != nil {
			return nil, err
		}
		if first {
			s.Steps = append(s.Steps, p.Transfer)
		}
		s.Rows = append(s.Rows, Row{
			Op: r.Op, Status: r.Status, Created: r.Created, Updated: r.Updated, Ended: r.Ended, RolledBack: r.Rolled, Step: step, Filling: p.Filling,
		})
	}
	return s, nil
}

// Field returns the name of a branch call in a ledger.
func Field(step int, op string) string {
	var b [24]byte
	return string(append(AppendBranch(b[:0], step), op...))
}
