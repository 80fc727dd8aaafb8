package explain

import (
	"fmt"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// room says whether there is room for more where something that the run was told to do set the pace, such
// as a rate that was met: only if nothing was at its limit. "" if that is not known.
func (s *stretch) room() string {
	full := ""
	if _, is := s.full(); is {
		full = "the processors of " + s.machine()
	}
	for _, r := range rules {
		if !r.full() || s.f.Run.Store.InProcess || r.alone && len(s.f.Run.Workers) > 0 {
			continue
		}
		if f := r.look(s); f.limit != "" {
			full = f.limit
			break
		}
	}
	switch {
	case full != "":
		return "there is little room for more, with " + full + " at the limit"
	case len(s.headroom()) == 0:
		return ""
	}
	return "no resource was at its limit"
}

// callTime returns the time of all threads of a closed loop in seconds, and how much of it they
// spent in calls; 0 if that is not known.
func (s *stretch) callTime() (all, inside float64) {
	if s.asked > 0 || s.threads <= 0 || s.length() <= 0 || len(s.ops) == 0 {
		return 0, 0
	}
	for _, o := range s.ops {
		if s.f.Run.Whole(o) {
			inside += float64(o.Calls) * o.Service.Mean / 1e9
		}
	}
	return s.length() * s.threads, inside
}

// littles returns how many calls a second the threads made, and how long each of them took
// on average in nanoseconds; false unless it was a closed loop in which the threads spent
// their time in calls.
func (s *stretch) littles() (perS, mean float64, ok bool) {
	all, inside := s.callTime()
	calls := 0.0
	for _, o := range s.ops {
		if s.f.Run.Whole(o) {
			calls += float64(o.Calls)
		}
	}
	if all <= 0 || calls == 0 || inside/all < inCalls || inside/all > 2-inCalls {
		return 0, 0, false
	}
	return calls / s.length(), inside * 1e9 / calls, true
}

// law states Little's law of the period; empty if it does not apply.
func (s *stretch) law() string {
	perS, mean, ok := s.littles()
	if !ok {
		return ""
	}
	who := units.Number(s.threads) + " threads that each wait"
	if s.threads == 1 {
		who = "1 thread that waits"
	}
	return fmt.Sprintf("%s %s make %s calls/s", who, duration(mean), units.Number(perS))
}

// little applies Little's law to a closed loop whose threads all wait for replies while
// nothing, store included, is at its limit.
func little(s *stretch) found {
	law := s.law()
	if law == "" || !s.spare() || s.waits() {
		return found{}
	}
	return found{limit: tooFewThreads, hint: law + "; for more it takes more threads, or a nearer store"}
}

// spare reports whether store, perfbench and this machine are known to have had processors
// to spare.
func (s *stretch) spare() bool {
	busy, known := s.busy()
	n := s.processors()
	o := s.f.Run.Observed
	used, told := s.worked()
	if !known || n == 0 || o == nil || !told || busy+s.stolen()*n >= machineFull*n || o.Cores > 0 && used >= clientFull*s.left(o.Cores) {
		return false
	}
	if v, _, ok := s.most(rundir.OfStore, "main_thread_cpu_cores"); ok {
		queue, _, _ := s.most(rundir.OfProcess, "main_thread_run_queue_cores")
		return v+queue < threadFull
	}
	if v, ok := s.mean(rundir.OfProcess, "cpu_cores"); ok {
		return v < storeFull*n
	}
	v, ok := s.mean(rundir.OfStore, "cpu_cores")
	return ok && v < storeFull
}

// waits reports whether a good part of the threads waited for something in the store or
// in the pool, which more threads would only make worse.
func (s *stretch) waits() bool {
	for _, w := range []struct {
		source, name string
		each         float64
	}{
		{rundir.OfStore, "lock_waiters", 1}, {rundir.OfStore, "lock_wait_ms_per_s", 1000}, {rundir.OfStore, "log_sync_waiters", 1},
		{rundir.OfStore, "committing_threads", 1}, {rundir.OfClient, "pool_wait_ms_per_s", 1000},
	} {
		if v, ok := s.mean(w.source, w.name); ok && v/w.each > quiet*s.threads {
			return true
		}
	}
	if on, _, ok := s.most(rundir.OfStore, "aof_syncs_each_write"); ok && on >= 1 {
		return true
	}
	if v, ok := s.mean(rundir.OfStore, "waits_for_commit_log_per_s"); ok && v > quiet*s.done {
		return true
	}
	if v, _, ok := s.most(rundir.OfProcess, "throttled_share"); ok && v > held/4 {
		return true
	}
	o := s.f.Run.Observed
	return o != nil && o.PoolSize > 0 && float64(o.PoolSize) < s.threads
}
