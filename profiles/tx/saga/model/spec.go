package model

import (
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// SpaceName is the name of the space of transactions.
const SpaceName = "saga"

// MaxBranches is how many branches two digits can number.
const MaxBranches = 99

// MaxPayload is the largest payload of a branch in bytes: the record of a saga contains
// those of all its branches.
const MaxPayload = 16 << 20

// Spec is what Design worked out about a saga run. It is not modified afterwards.
type Spec struct {
	Namespace, Driver string
	Seed              int64
	Allow             bool
	Stamp             string // of transaction ids, once the run has begun

	// Kind is what is run.
	Kind     *Kind
	Branches int
	// Accounts is 0 if branches call nobody.
	Accounts, Balance, Amount int64
	Zipf                      float64
	Shards                    int
	Script                    string
	// Pipelining means that clients share connections.
	Pipelining bool

	FailRate, OngoingRate, ErrorRate, DuplicateRate float64
	// LostRate is the fraction of submits that never arrive.
	LostRate float64
	FailAt   int
	Delay    time.Duration
	// Unruly means that participants may answer late, badly or not at all.
	Unruly bool

	Timeout, Retry, Cron       time.Duration
	LockTimeout                time.Duration
	DataExpire, FinishedExpire time.Duration
	Check                      time.Duration
	// CountCalls means that the store's counters are about this run alone.
	CountCalls bool
	// Linearizable means that the histories of some transactions are kept.
	Linearizable     bool
	AckLog, Endpoint string
	Start            workload.Settings
	Count            int64
}

// Space returns the space in which transactions are kept, unless there are tables.
func (s *Spec) Space() store.Space {
	return store.Space{Namespace: s.Namespace, Name: SpaceName, Shape: store.Keys, Grouped: true}
}

// Begin makes transaction ids those of the run.
func (s *Spec) Begin(runID string) { s.Stamp = Stamp(runID, s.Seed) }

// Formula returns the mean number of scripts of a transaction that is prepared first,
// from the parameters alone.
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
