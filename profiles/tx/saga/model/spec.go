package model

import (
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// SpaceName is the name of the place of transactions.
const SpaceName = "saga"

// MaxBranches is how many two digits can tell apart.
const MaxBranches = 99

// MaxPayload is the most bytes that the payload of a branch may carry: the record of a
// saga has those of all its branches.
const MaxPayload = 16 << 20

// Spec is what Design found out about a saga run. It is not changed
// afterwards.
type Spec struct {
	Namespace, Driver string
	Seed              int64
	Allow             bool
	Stamp             string // of ids of transactions, once the run has begun

	// Kind is what is run.
	Kind     *Kind
	Branches int
	// Accounts is 0 when branches call nobody.
	Accounts, Balance, Amount int64
	Zipf                      float64
	Shards                    int
	Script                    string
	// Pipelining says that clients share connections.
	Pipelining bool

	FailRate, OngoingRate, ErrorRate, DuplicateRate float64
	// LostRate is the share of the submits that never arrive.
	LostRate float64
	FailAt   int
	Delay    time.Duration
	// Unruly says that participants may answer late, badly or not at all.
	Unruly bool

	Timeout, Retry, Cron       time.Duration
	LockTimeout                time.Duration
	DataExpire, FinishedExpire time.Duration
	Check                      time.Duration
	// CountCalls says that the store's counters are of this run alone.
	CountCalls       bool
	AckLog, Endpoint string
	Start            workload.Settings
	Count            int64
}

// Space is where transactions are kept, but for tables.
func (s *Spec) Space() store.Space {
	return store.Space{Namespace: s.Namespace, Name: SpaceName, Shape: store.Keys, Grouped: true}
}

// Begin gives ids of transactions the run's.
func (s *Spec) Begin(runID string) { s.Stamp = Stamp(runID, s.Seed) }

// Formula is the mean number of scripts of a transaction that is prepared first, by
// the parameters alone.
func (s *Spec) Formula() float64 {
	n, p := float64(s.Branches), s.FailRate
	on := 0.0
	if s.Accounts > 0 {
		on = 1
	}
	if s.Kind == KindMsg {
		return (1-p)*(4+n-1+on*n) + 2*p
	}
	step := (n + 1) / 2
	if s.FailAt > 0 {
		step = float64(s.FailAt)
	}
	return (1-p)*(4+2*n+on*2*n) + p*(3+2*step+on*(2*step-1))
}
