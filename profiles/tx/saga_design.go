package tx

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

const sagaSpace = "saga"

// maxSagaPayload is the most that the payload of a branch may carry: the record of a
// saga has those of all its branches.
const maxSagaPayload = 16 << 20

// sagaSpec is what Design found out about a saga run. It is not changed
// afterwards.
type sagaSpec struct {
	namespace, driver string
	seed              int64
	allow             bool
	stamp             string // of ids of transactions, once the run has begun

	// kind is what is run.
	kind     *kind
	branches int
	// accounts is 0 when branches call nobody.
	accounts, balance, amount int64
	zipf                      float64
	shards                    int
	script                    string
	// pipelining says that clients share connections.
	pipelining bool

	failRate, ongoingRate, errorRate, duplicateRate float64
	// lostRate is the share of the submits that never arrive.
	lostRate float64
	failAt   int
	delay    time.Duration
	// unruly says that participants may answer late, badly or not at all.
	unruly bool

	timeout, retry, cron       time.Duration
	lockTimeout                time.Duration
	dataExpire, finishedExpire time.Duration
	check                      time.Duration
	// countCalls says that the store's counters are of this run alone.
	countCalls       bool
	ackLog, endpoint string
	start            workload.Settings
	count            int64
}

func designSaga(r *values.Reader, in workload.Inputs) (*workload.Plan, error) {
	if in.Driver == driverBench {
		return designBench(r, in)
	}
	s := readSaga(r, in)
	s.count = sagaCount(r, in)
	if v, ok := r.Values["keepAlive"]; ok && v.Origin > workload.OriginFile {
		r.Warn("keepAlive (%s) has no effect on this target: it is of dtm+bench://", v.From())
	}
	payload := workload.Filling("branch's payload")
	payload.Max = maxSagaPayload
	s.start.Payload = r.Payload(payload, 0, "payload")
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	p := &workload.Plan{
		Unit: "transactions", Knobs: []workload.Knob{workload.Threads(), workload.Rate("transactions"), payload},
		Documents: []string{formatAB},
		Binder:    s, Spaces: []store.Space{s.space()}, Bytes: s.count * s.bytes(),
		Phases: []workload.Phase{{Name: "saga", Duration: in.Duration, Tracks: []workload.Track{{
			Name: "saga", Ops: s.kind.ops, OpUnits: sagaUnits, Counted: 1, Start: s.start, Iterations: s.count, Total: s.count,
		}}}},
		Writes:  []string{s.writes()},
		Deletes: []string{"finished " + s.kind.noun + " " + brief(s.finishedExpire) + " after their end; with --cleanup everything that this run made"},
	}
	return p, nil
}

// readSaga reads the parameters of mode=saga, of which mode=baseline uses some.
func readSaga(r *values.Reader, in workload.Inputs) *sagaSpec {
	s := &sagaSpec{
		namespace: in.Namespace, driver: in.Driver, seed: in.Seed, allow: in.AllowExisting,
	}
	s.kind = kindOf(r.Choice("transType"))
	s.branches = int(r.Whole("branches"))
	on := r.OnOff("accounts")
	s.accounts, s.balance, s.amount = r.Whole("accountCount"), r.Whole("balance"), r.Whole("amount")
	s.zipf = r.Number("zipf")
	s.shards = int(r.Whole("prefixes"))
	s.script, s.pipelining = r.Choice("script"), r.OnOff("pipelining")
	s.failRate, s.failAt = r.Number("failRate"), int(r.Whole("failAt"))
	s.ongoingRate, s.errorRate, s.duplicateRate = r.Number("ongoingRate"), r.Number("errorRate"), r.Number("duplicateRate")
	s.lostRate = r.Number("lostSubmitRate")
	s.delay = r.Duration("delay")
	s.unruly = s.ongoingRate > 0 || s.errorRate > 0 || s.delay > 0
	s.timeout, s.retry, s.cron = r.Duration("timeout"), r.Duration("retryInterval"), r.Duration("cronInterval")
	s.lockTimeout = r.Duration("lockTimeout")
	s.dataExpire, s.finishedExpire = r.Duration("dataExpire"), r.Duration("finishedExpire")
	s.check, s.ackLog, s.endpoint = r.Duration("checkInterval"), r.Text("ackLog"), r.Text("endpoint")
	s.countCalls = r.OnOff("countCalls")
	s.start = r.Settings(10)
	s.judge(r, on)
	return s
}

func (s *sagaSpec) judge(r *values.Reader, accounts bool) {
	if !accounts {
		s.accounts = 0
	}
	if s.failAt > s.branches {
		r.Blame("failAt", "use 0 for any step", "failAt: step %d is more than the %d branches", s.failAt, s.branches)
	}
	if accounts && s.branches < 2 {
		r.Blame("branches", "use branches=2 or more, or accounts=off", "branches: one branch cannot move money from one account to another")
	}
	if accounts && s.accounts < int64(s.branches) {
		r.Blame("accountCount", "use more accounts", "accountCount: %d accounts are fewer than the %d that one saga needs", s.accounts, s.branches)
	}
	s.judgeKind(r)
	for name, d := range map[string]time.Duration{"retryInterval": s.retry, "dataExpire": s.dataExpire, "finishedExpire": s.finishedExpire, "cronInterval": s.cron} {
		if d <= 0 {
			r.Blame(name, "for example "+r.Param(name).Default, "%s: must be more than 0", name)
		}
	}
	if s.finishedExpire%time.Second != 0 || s.dataExpire%time.Second != 0 {
		r.Blame("finishedExpire", "use whole seconds", "finishedExpire, dataExpire: stores count expiry in whole seconds")
	}
}

// judgeKind refuses what a kind of transaction has not, and sets what it has of its
// own.
func (s *sagaSpec) judgeKind(r *values.Reader) {
	if s.kind == kindSaga {
		if s.lostRate > 0 {
			r.Blame("lostSubmitRate", "use transType=tcc, xa or msg, or lostSubmitRate=0", "lostSubmitRate: a saga is stored by its submit, so that a lost one leaves nothing")
		}
		return
	}
	if why := s.kind.lacks(s.driver); why != "" {
		hint := "use transType=tcc, which reserves instead; or mysql: or postgres:, which have transactions of two phases"
		if s.driver == "dtm" {
			hint = "use transType=saga, tcc or msg there, or mysql: or postgres:, which have transactions of two phases"
		}
		r.Blame("transType", hint, "transType=%s: %s", s.kind.name, why)
	}
	if s.timeout == 0 {
		s.timeout = patience
	}
	if s.kind == kindMsg && s.branches < 2 {
		r.Blame("branches", "use branches=2 or more", "branches: a message with one branch is a local transaction that tells nobody")
	}
	if s.kind == kindMsg && s.failAt > 1 {
		r.Blame("failAt", "use failAt=0", "failAt: of a message only the local transaction can be refused, not branch %d", s.failAt)
	}
}

// bytes is about what one saga leaves behind.
func (s *sagaSpec) bytes() int64 {
	n := int64(600 + (700+3*s.start.Payload)*s.branches) // two rows for each, as base64
	if s.accounts > 0 {
		n += 300
	}
	return n
}

// brief writes a duration without units of which there are none: 24h, 1h30m, 10s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (s *sagaSpec) writes() string {
	n := s.kind.noun + " without end"
	if s.count > 0 {
		n = strconv.FormatInt(s.count, 10) + " " + s.kind.noun
	}
	text := fmt.Sprintf("%s: %s of %d branches by %d clients, kept for %s", place.Name(s.space()), n, s.branches, s.start.Threads, brief(s.finishedExpire))
	if n := s.start.Payload; n > 0 {
		text += ", each payload with " + units.Size(int64(n)) + " beside"
	}
	if s.accounts > 0 {
		text += fmt.Sprintf(", and %d accounts", s.accounts)
	}
	return text
}
