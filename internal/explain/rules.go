package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// Limits above which a resource counts as having held the run back. docs/why.md lists
// them with the reasons.
const (
	paced       = 0.97 // of what was requested was done
	unpaced     = 1.1  // of what was requested was done: something has no pace
	scatter     = 2    // standard deviations by which chance may move what falls due
	inCalls     = 0.80 // of the time of the threads that is spent in calls
	quiet       = 0.20 // of the threads that wait for something in the store
	pacedLag    = 0.25 // seconds of work that may be due and not begun
	clientFull  = 0.85 // of the processors available to perfbench
	threadFull  = 0.85 // of the one processor that a main thread can use
	storeFull   = 0.85 // of the processors of the machine
	machineFull = 0.92 // of them
	held        = 0.20 // of the periods of a quota in which a process was held back
	waiting     = 0.50 // of the threads, or of the time of all calls
	halfIdle    = 0.60 // of a main thread that waits for its disk
	inDisk      = 0.30 // of the looks, or of the time, that the disk was waited for
	linkFull    = 0.80 // of the capacity of a network device
	ceilingFull = 0.80 // of what perfbench achieves against a store that does nothing
	grewLess    = 0.75 // of the growth of threads that throughput must follow
)

// found is what a rule found: nothing if limit is "".
type found struct {
	// limit and hint are those of a rundir.WhyPart.
	limit, hint string
	// uses are figures of this rule alone; full names that of headroom which was at its limit.
	uses []rundir.Use
	full string
	// evidence is what else shows it.
	evidence []string
}

// rule detects one resource at its limit.
type rule struct {
	resource string
	// server rules need a store outside this process. alone rules need a run without
	// workers: of workers, only their doubts are known.
	server, alone bool
	look          func(*stretch) found
}

// full reports whether what it finds does no more for more threads.
func (r *rule) full() bool { return r.server && r.resource != Threads }

// rules are in the order in which they are tried. What the run itself was told to do
// comes first; then waiting, which leaves processors idle; what the whole machine lacks
// comes last, since other programs may be the cause.
var rules = []rule{
	{Pacing, false, false, pacing},
	{Fault, false, false, ownFault},
	{Think, false, false, thinking},
	{Client, true, true, client},
	{Client, true, false, worker},
	{Locks, true, false, locks},
	{Thread, true, false, mainThread},
	{Sync, true, false, diskSync},
	{Pool, true, true, pool},
	{Store, true, false, storeCPU},
	{Machine, true, false, machine},
	{Network, true, true, network},
	{Threads, true, false, threads},
	{Threads, true, true, little},
}

func pacing(s *stretch) found {
	if s.asked <= 0 || s.free {
		return found{}
	}
	chance := scatter * math.Sqrt(s.asked/float64(s.alive())) // arrivals may come by chance
	if strings.HasPrefix(s.f.Run.Parameters["arrivals"], workload.Bursts) {
		chance = s.asked // and more or fewer bursts than usual
	}
	if s.done < paced*s.asked-chance || s.done > unpaced*s.asked+chance && s.silent == 0 || s.backlog > pacedLag*s.asked || s.fellBehind() || s.late() {
		return found{}
	}
	return found{limit: "the requested rate", uses: []rundir.Use{{What: "requested rate", Used: s.done, Of: s.asked, Unit: s.f.Run.Unit + "/s", Limit: true}}}
}

// fellBehind reports whether a backlog grew until the end of the period, or of the run, as the verdict has
// it: the rate was not kept then.
func (s *stretch) fellBehind() bool {
	o := s.f.Run.Observed
	return o != nil && o.Growth != nil && o.Growth.CaughtUpS == 0 && o.Growth.FromS >= s.from-1 && o.Growth.FromS < s.to
}

// behinds lists, in order, when the run was behind its rate for as long as its verdict tells.
func behinds(f *rundir.Folder) (out []*verdict.Behind) {
	if o := f.Run.Observed; o != nil {
		for _, b := range []*verdict.Behind{o.CaughtUp, o.GivenUp} {
			if b != nil {
				out = append(out, b)
			}
		}
	}
	slices.SortFunc(out, func(a, b *verdict.Behind) int { return cmp.Compare(a.FromS, b.FromS) })
	return out
}

// late reports whether the run was behind its rate for most of the period.
func (s *stretch) late() bool {
	return slices.ContainsFunc(behinds(s.f), func(b *verdict.Behind) bool {
		return min(b.ToS, s.to)-max(b.FromS, s.from) > (s.to-s.from)/2
	})
}

// lateEdges lists when in the period the run got behind its rate, and when that was over.
func (s *stretch) lateEdges() (out []float64) {
	for _, b := range behinds(s.f) {
		for _, at := range []float64{b.FromS, b.ToS} {
			if at > s.from && at < s.to {
				out = append(out, at)
			}
		}
	}
	return out
}

// searchPace is said where a search asked for the rate: what was at its limit differs from level to
// level, and the search has judged each.
const (
	searchLimit = "the search, level by level"
	searchPace  = "A search set the rate, level by level: " + searchHint + "."
	searchHint  = "its result says how each level went, and what was the limit"
)

// sought reports whether a search turned the knobs before the period was over.
func (s *stretch) sought() bool {
	return slices.ContainsFunc(s.f.Run.Changes, func(c rundir.Change) bool { return c.By == measure.BySearch && c.At < s.to })
}

// thinking is true of a closed loop whose threads pause of their own accord most of the time.
func thinking(s *stretch) found {
	seconds, inside := s.callTime()
	for _, o := range s.ops {
		if s.f.Run.Whole(o) && !slices.Contains(s.f.Run.Pauses, o.Track) {
			return found{}
		}
	}
	if seconds <= 0 || inside > (1-waiting)*seconds {
		return found{}
	}
	return found{limit: "the think time", hint: "for more it takes more threads", uses: []rundir.Use{{What: "in pauses", Used: s.threads * (1 - inside/seconds), Of: s.threads, Unit: rundir.UsedThreads, Limit: true}}}
}

// couldMore is said of what is perfbench's own limit.
const couldMore = "the store could have done more"

func worker(s *stretch) found {
	if n, used, of := s.busiest(); of > 0 && used >= clientFull*of {
		return found{limit: "the processors of worker " + n, hint: couldMore, full: nameOfWorker(n)}
	}
	return found{}
}

func client(s *stretch) found {
	o := s.f.Run.Observed
	if o == nil {
		return found{}
	}
	used, known := s.worked()
	if share, ok := s.mean(rundir.OfClient, "throttled_share"); ok && share >= held {
		return found{limit: "perfbench's quota of processors", hint: couldMore, full: ofPerfbench, evidence: []string{
			fmt.Sprintf("the quota of %s held perfbench back in %s of its periods", processors(o.Cores), percent(share)),
		}}
	}
	queue, _ := s.mean(rundir.OfClient, "run_queue_cores")
	own := found{limit: "perfbench's processors", hint: couldMore, full: ofPerfbench}
	if known && o.Cores > 0 && used >= clientFull*s.left(o.Cores) {
		return own
	}
	if known && o.Cores > 0 && used+queue >= o.Cores && used >= queue && used >= 0.5*o.Cores && s.othersIdle() {
		own.evidence = []string{fmt.Sprintf("on average %s of its threads waited for a processor", rundir.Decimals(queue))}
		return own
	}
	for _, c := range o.Ceilings {
		for _, p := range s.f.Run.Phases {
			if share := s.ofCeiling(c.PerS); p.Name == c.Phase && len(s.f.Run.Phases) == 1 && share >= ceilingFull {
				return found{limit: "perfbench itself", hint: couldMore, uses: []rundir.Use{
					{What: "ceiling without a store", Used: share * c.PerS, Of: c.PerS, Unit: "calls/s", Limit: true},
				}}
			}
		}
	}
	return found{}
}

// ofCeiling returns the rate of the whole run's calls as a fraction of what perfbench
// achieves against a store that does nothing.
func (s *stretch) ofCeiling(perS float64) float64 {
	calls := int64(0)
	for _, o := range s.f.Run.Operations {
		if s.f.Run.Counts(o) {
			calls += o.Calls
		}
	}
	if perS <= 0 || s.f.Run.MeasuredS <= 0 {
		return 0
	}
	return float64(calls) / s.f.Run.MeasuredS / perS
}

// othersIdle reports whether the store on this machine left processors to perfbench.
func (s *stretch) othersIdle() bool {
	store, ok := s.mean(rundir.OfProcess, "cpu_cores")
	used, _ := s.worked()
	return !ok || store < used/2
}

func locks(s *stretch) found {
	if s.threads <= 0 {
		return found{}
	}
	waited := func(n float64, note string) found {
		return found{limit: "locks", hint: "calls waited for rows or tables that others had locked", uses: []rundir.Use{
			{What: "waiting for a lock", Used: n, Of: s.threads, Unit: rundir.UsedThreads, Note: note, Limit: true},
		}}
	}
	if ms, ok := s.mean(rundir.OfStore, "lock_wait_ms_per_s"); ok && ms >= waiting*1000*s.threads {
		return waited(ms/1000, "by the times that the store counted")
	}
	if n, ok := s.mean(rundir.OfStore, "lock_waiters"); ok && n >= waiting*s.threads {
		return waited(n, "when the store was asked")
	}
	return found{}
}

func mainThread(s *stretch) found {
	used, _, ok := s.most(rundir.OfStore, "main_thread_cpu_cores")
	if !ok {
		return found{}
	}
	f := found{limit: "the store's main thread", full: Thread, evidence: s.slowest()}
	if used >= threadFull {
		return f
	}
	if queue, _, ok := s.most(rundir.OfProcess, "main_thread_run_queue_cores"); ok && used+queue >= 0.95 && used >= 0.6 {
		f.evidence = append([]string{"the main thread waited for a processor in " + percent(queue) + " of the time"}, f.evidence...)
		return f
	}
	return found{}
}

// slowest describes the command that took the store longest, among those in its log.
func (s *stretch) slowest() []string {
	k, ok := s.longest(func(n verdict.Noted) bool { return n.Command != "" })
	if !ok {
		return nil
	}
	return []string{"of the commands that it logged as slow, " + k.describe()}
}

func pool(s *stretch) found {
	o := s.f.Run.Observed
	if o == nil || o.PoolSize == 0 || s.threads <= 0 {
		return found{}
	}
	share := 0.0
	if ms, ok := s.mean(rundir.OfClient, "pool_wait_ms_per_s"); ok {
		share = ms / 1000 / s.threads
	} else if o.Seconds > 0 {
		share = float64(o.PoolWaitNs) / 1e9 / o.Seconds / s.threads
	}
	if share < waiting || float64(o.PoolSize) >= s.threads {
		return found{}
	}
	return found{limit: "the pool of connections", hint: "raise connections= in the target, or use fewer threads", uses: []rundir.Use{{
		What: "waiting for a connection", Used: min(share, 1) * s.threads, Of: s.threads, Unit: rundir.UsedThreads, Note: "with " + units.Plural(o.PoolSize, "connection"), Limit: true,
	}}}
}

func storeCPU(s *stretch) found {
	f := found{limit: "the store's processors", full: ofStore}
	if share, _, ok := s.most(rundir.OfProcess, "throttled_share"); ok && share >= held {
		f.evidence = []string{"its quota held the store back in " + percent(share) + " of its periods"}
		return f
	}
	used, ok := s.mean(rundir.OfProcess, "cpu_cores")
	if n := s.processors(); ok && n > 0 && used >= storeFull*n {
		return f
	}
	return found{}
}

// full reports whether the processors of this machine were at their limit, and how many
// of them were busy.
func (s *stretch) full() (busy float64, full bool) {
	n := s.processors()
	busy, ok := s.busy()
	return busy, ok && n > 0 && busy+s.stolen()*n >= machineFull*n
}

// stolen returns the fraction of the machine's time that a hypervisor gave to others.
func (s *stretch) stolen() float64 {
	if o := s.f.Run.Observed; o != nil {
		return min(o.Stolen, 1)
	}
	return 0
}

// left returns how many of perfbench's processors a hypervisor left to it.
func (s *stretch) left(cores float64) float64 {
	if o := s.f.Run.Observed; o != nil && o.Quota == 0 {
		return cores * (1 - s.stolen())
	}
	return cores
}

// inside reports whether the store is a library in perfbench.
func (s *stretch) inside() bool { return s.f.Run.Store.Topology == "in process" }

func machine(s *stretch) found {
	busy, full := s.full()
	if !full {
		return found{}
	}
	f := found{limit: "the processors of " + s.machine(), full: s.machine()}
	used, _ := s.worked()
	store, local := s.mean(rundir.OfProcess, "cpu_cores")
	if len(s.f.Run.Workers) > 0 {
		if !local {
			return found{} // nothing is known about who else is on it
		}
		f.hint = "the store shares them; give it its own machine or processors"
		return f
	}
	others := busy - used - store
	if told, ok := verdict.Others(s.f.Run.Observed); ok && s.whole() { // as the verdict has it
		others = told
	}
	switch {
	case !local && !s.inside() && others > used:
		return found{} // nothing is known about the store
	case others > busy/2:
		f.hint = "other processes used most of them"
		f.uses = []rundir.Use{{What: "other processes", Used: others, Of: s.processors(), Unit: rundir.UsedProcessors}}
	case local:
		f.hint = "perfbench and the store share them; give each its own machine or processors"
	}
	return f
}

func network(s *stretch) found {
	link, ok := s.mean(rundir.OfMachine, "link_bytes_per_s")
	if _, here := s.mean(rundir.OfProcess, "cpu_cores"); !ok || link <= 0 || here {
		return found{}
	}
	in, a := s.mean(rundir.OfClient, "net_in_bytes_per_s")
	out, b := s.mean(rundir.OfClient, "net_out_bytes_per_s")
	allIn, _ := s.mean(rundir.OfMachine, "link_in_bytes_per_s")
	allOut, _ := s.mean(rundir.OfMachine, "link_out_bytes_per_s")
	if !a || !b || max(in, out, allIn, allOut) < linkFull*link {
		return found{}
	}
	f := found{limit: "the network", evidence: []string{fmt.Sprintf("perfbench received %s and sent %s a second", units.Size(int64(in)), units.Size(int64(out)))}}
	f.uses = []rundir.Use{{What: "network", Used: max(in, out, allIn, allOut), Of: link, Unit: rundir.UsedBytes, Note: "in one direction", Limit: true}}
	if max(in, out) < max(allIn, allOut)/2 {
		f.hint = "most of its traffic was not this run's"
	}
	return f
}

// threads needs an experiment: with more threads, throughput rose in proportion.
func threads(s *stretch) found {
	b := s.before
	if b == nil || s.asked > 0 || b.asked > 0 || b.done <= 0 || b.threads <= 0 || s.threads < 1.5*b.threads || !sameBut(b.end, s.settings) {
		return found{}
	}
	more, grew := s.threads/b.threads, s.done/b.done
	if grew-1 < grewLess*(more-1) {
		return found{}
	}
	return found{limit: tooFewThreads, hint: fmt.Sprintf("each waits for its reply before it calls again, and %s times as many threads did %s times as much", rundir.Decimals(more), rundir.Decimals(grew))}
}

const tooFewThreads = "the number of threads"

// sameBut reports whether only threads differ.
func sameBut(a, b map[string]float64) bool {
	for k, v := range a {
		if w, ok := b[k]; (!ok || w != v) && k != "threads" && !strings.HasSuffix(k, ".threads") {
			return false
		}
	}
	return true
}
