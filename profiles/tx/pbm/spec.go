// Package pbm is PadoGrid's transaction test: a pharmacy benefit manager's look-ups of
// eligibility and profiles, and a transaction that atomically reads a client group's
// members and writes their summary.
package pbm

import (
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Mode is the name of the mode.
const Mode = "pbm"

// Values of the parameters of mode=pbm.
const (
	caseGet    = "get"
	caseGetAll = "getall"
	caseTx     = "tx"

	loadAuto  = "auto"
	loadOnly  = "only"
	loadNever = "never"

	layoutAuto  = "auto"
	layoutMap   = "map"
	layoutGroup = "group"

	atomicScript   = "script"
	atomicFunction = "function"
	atomicWatch    = "watch"
	atomicNone     = "none"
)

// Operations of the pbm tracks; the first is that of the test case.
const (
	opWork workload.Op = iota
	opConflict
	opLook
)

// Spec is what Design worked out about a pbm run. The binding decides on the layout;
// nothing else is modified afterwards.
type Spec struct {
	namespace, runID, driver string
	seed                     int64
	allow, compat            bool

	maps      []mapPlan
	prefix    string
	members   int64
	testCount int64
	interval  time.Duration
	wrap      bool
	layout    string
	load      string
	atomic    string
	attempts  int
	zipf      float64
	// linearizable means that the histories of some summaries are kept.
	linearizable bool
	// base is the date from which eligibility keys count, in Unix milliseconds.
	base int64
	// The sizes of what is loaded: eligibility entries per thread, their threads, and
	// profiles.
	eligPer     int64
	eligThreads int
	eligPayload int
	// sized are the maps whose values somebody has asked to have that size, by a flag.
	sized []string
	// flat are the sizes of the maps whose keys are group numbers alone.
	flat map[string]flatMap
	// hadSummaries means that there were summaries before this run.
	hadSummaries bool
	// left are the keys of an eligibility map that ingestion left, if each map is one
	// structure; nil: those of this plan.
	left []padogrid.Share
}

// mapPlan is one map of the plan.
type mapPlan struct {
	name string
	elig bool
	// op is what is done, word the test case as printed in the document.
	op, word string
	// total is the number of operations per run as configured, per that of each thread.
	total, per int64
	batch      int
	start      workload.Settings
	// from and to give this process's range of shares, if others have the rest; both 0:
	// all of them.
	from, to int
}

// flatMap is what is loaded into a map whose keys are group numbers.
type flatMap struct {
	entries int64
	payload int
}

// readsSummary reports whether the plan does look-ups in the map summary.
func (s *Spec) readsSummary() bool {
	return slices.ContainsFunc(s.maps, func(m mapPlan) bool { return m.name == padogrid.Summaries })
}

func (s *Spec) tx() bool { return s.transacts() != nil }

// transacts returns the map on which transactions work, nil if there are none.
func (s *Spec) transacts() *mapPlan {
	for i := range s.maps {
		if s.maps[i].op == caseTx {
			return &s.maps[i]
		}
	}
	return nil
}

// start returns the initial settings of the transactions.
func (s *Spec) start() workload.Settings { return s.transacts().start }

// grouped reports whether there is a structure for each group.
func (s *Spec) grouped() bool { return s.layout == layoutGroup }

func (s *Spec) space(name string) store.Space {
	return store.Space{Namespace: s.namespace, Name: name, Shape: store.Map, Grouped: s.grouped() || name == padogrid.Summaries && !s.readsSummary()}
}

// share returns the eligibility keys of a thread of the load.
func (s *Spec) share(thread int) padogrid.Share {
	return padogrid.EligibilityShare(thread, s.eligPer, s.members, 0, s.base)
}

// entries returns how many eligibility entries are loaded, groups at most how many
// groups these form.
func (s *Spec) entries() int64 {
	return s.share(0).Entries * int64(s.eligThreads)
}

func (s *Spec) groups() int64 {
	last := s.share(s.eligThreads - 1)
	return last.FirstGroup + last.Entries/s.members
}

func (s *Spec) runs() int64 {
	if s.wrap {
		return padogrid.Forever
	}
	return s.testCount
}

// units returns how many operations one call covers under some settings.
func (m *mapPlan) units(set *workload.Settings) int {
	if m.op != caseGetAll {
		return 1
	}
	return int(max(min(int64(set.Batch), m.per), 1))
}
