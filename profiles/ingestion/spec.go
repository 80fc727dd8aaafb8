package ingestion

import (
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Values of parameters.
const (
	casePut     = "put"
	casePutAll  = "putall"
	caseGetAll  = "getall"
	layoutMap   = "map"
	layoutGroup = "group"
)

// spec is what Design worked out, for the binding. It is not modified afterwards.
type spec struct {
	maps      []mapSpec
	namespace string
	driver    string
	prefix    string
	members   int64
	testCount int64
	interval  time.Duration
	grouped   bool
	compat    bool
	allow     bool
	wrap      bool
	seed      int64
	// base is the date from which eligibility keys count, in Unix milliseconds.
	base int64
}

// runs returns how often each share is written: endlessly if it wraps.
func (s *spec) runs() int64 {
	if s.wrap {
		return padogrid.Forever
	}
	return s.testCount
}

func (s *spec) layout() string {
	if s.grouped {
		return layoutGroup
	}
	return layoutMap
}

// mapSpec is one map of the plan.
type mapSpec struct {
	name string
	elig bool
	// putAll means that batches are written; word is the test case as printed in the
	// document.
	putAll bool
	word   string
	// total is the number of entries per run as configured, per that of each thread;
	// batch is also as configured, and may be larger than a share.
	total, per int64
	batch      int
	start      workload.Settings
	shares     []padogrid.Share
	// from and to give this process's range of shares, if others have the rest; both 0:
	// all of them.
	from, to int
}

func (m *mapSpec) space(s *spec) store.Space {
	return store.Space{Namespace: s.namespace, Name: m.name, Shape: store.Map, Grouped: s.grouped}
}

// entries returns the number of distinct keys of the map.
func (m *mapSpec) entries() int64 {
	var n int64
	for _, s := range m.shares {
		n += s.Entries
	}
	return n
}

// largest returns the number of entries of the largest share.
func (m *mapSpec) largest() int64 {
	var n int64
	for _, s := range m.shares {
		n = max(n, s.Entries)
	}
	return n
}

// units returns how many entries one call covers under some settings: whole groups in
// the eligibility map, and never more than a share.
func (m *mapSpec) units(set *workload.Settings) int {
	if !m.putAll {
		return 1
	}
	n := int64(max(set.Batch, 1))
	if size := m.shares[0].Size; size > 1 {
		n = (n + size - 1) / size * size
	}
	return int(max(min(n, m.largest()), 1))
}

// divide gives each thread the same share as the original.
func (m *mapSpec) divide(s *spec) {
	threads := m.start.Threads
	m.per = m.total / int64(threads)
	m.shares = make([]padogrid.Share, threads)
	batch := int64(0)
	if m.putAll {
		batch = int64(m.batch)
	}
	for t := range m.shares {
		if m.elig {
			m.shares[t] = padogrid.EligibilityShare(t, m.per, s.members, batch, s.base)
		} else {
			m.shares[t] = padogrid.ProfileShare(t, m.per)
		}
	}
}

// divideExactly distributes all of total, as --count requires: whole groups to each
// thread, with the remainder going to the first threads, and the very last group cut
// short.
func (m *mapSpec) divideExactly(s *spec) {
	threads := m.start.Threads
	m.per = m.total / int64(threads)
	size := int64(1)
	if m.elig {
		size = s.members
	}
	groups := (m.total + size - 1) / size
	m.shares = make([]padogrid.Share, threads)
	var first int64
	for t := range m.shares {
		n := int64(workload.Split(int(groups), threads, t)) * size
		n = min(n, m.total-first)
		m.shares[t] = padogrid.Share{First: first, FirstGroup: first / size, Entries: n, Size: size, Base: s.base}
		first += n
	}
}
