package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
)

// has says whether a cause is among the reasons.
func has(v Verdict, c Cause) bool {
	return slices.ContainsFunc(v.Reasons, func(r Reason) bool { return r.Cause == c })
}

// times is a digest of many calls around a median, in nanoseconds.
func times(n, p50 int64) measure.Summary {
	return measure.Summary{
		Count: n, Mean: float64(p50) * 1.1, Min: p50 / 2, P50: p50, P90: 2 * p50, P95: 3 * p50, P99: 5 * p50,
		P999: 12 * p50, P9999: 30 * p50, Max: 50 * p50,
	}
}

// account is that of eight workers in a minute, whose figures are off by a share of their time.
func account(off float64) Account {
	return Account{Track: "profile", Seconds: 60, Worked: 480, Calls: 400, Pauses: 80 + 480*off}
}

// clean is a run of a minute against a server, with nothing wrong about it.
func clean() Record {
	const calls, us = 300_000, 1000
	return Record{
		Seconds: 60, Verified: Passed, Phases: []Phase{{"load", 60, calls}},
		Ops: []Op{{
			Name: "profile.put", Counts: true, Count: calls, Calls: calls,
			Response: times(calls, 200*us), Lateness: times(calls, 5*us), ServiceMean: 210 * us, ServiceP50: 190 * us,
		}},
		Observed: &Observed{
			Seconds: 60, Cores: 8, CPU: 1.5, Machine: 3, GCPauses: 0.0004, GCCPU: 0.2,
			SchedP50: 2 * us, SchedP99: 40 * us, WakeP50: 60 * us, WakeP90: 900 * us,
			ClockCost: 45, ClockTick: 30, PoolSize: 32, Ceilings: []PhaseCeiling{{"load", 400_000}},
		},
	}
}

// TestFaultsAreNamed injects faults of the client's side into a clean run, each at
// the least strength that spoils its figures: all must be named, and nothing else.
func TestFaultsAreNamed(t *testing.T) {
	const us, ms = 1000, 1_000_000
	for _, c := range []struct {
		fault  string
		want   Cause
		state  string
		inject func(*Record)
	}{
		{"workers woken 50 µs late at the median", Lateness, Degraded, func(r *Record) { r.Ops[0].Lateness.P50 = 50 * us }},
		{"workers woken late in one segment", Lateness, Degraded, func(r *Record) {
			parted(r).Ops[0].Lateness.P50 = 50 * us
		}},
		{"a tail that is all lateness", Lateness, Degraded, func(r *Record) { r.Ops[0].Lateness.P99 = 900 * us }},
		{"a quick store, and nearly as slow a wake-up", Lateness, Degraded, func(r *Record) { r.Ops[0].Response.P50, r.Ops[0].Lateness.P50 = 60*us, 30*us }},
		{"rare wake-ups stolen", Lateness, Degraded, func(r *Record) { r.Ops[0].Response.P999, r.Ops[0].Lateness.P999 = 20*ms, 5*ms }},
		{"three hogs in closed loop", Crowded, Degraded, func(r *Record) { shared(r, 0.5, 0.3, 0.8, 0.6, 2) }},
		{"two hogs at nice −5", Crowded, Degraded, func(r *Record) { shared(r, 0.3, 0.15, 1.1, 0.5, 2) }},
		{"half of the processors in others' hands", Crowded, Degraded, func(r *Record) { shared(r, 0.6, 0.45, 0.35, 0.35, 2) }},
		{"others who take the store's processor alone", Crowded, Degraded, func(r *Record) { shared(r, 0.6, 0.4, 0, 0.6, 2) }},
		{"hogs beside a low rate", Crowded, Degraded, func(r *Record) {
			shared(r, 0.04, 0.02, 0.03, 0.02, 2)
			r.Ops[0].Calls, r.Ops[0].Response = 30_000, times(30_000, 200*us)
		}},
		{"a tail that waits for a processor in open loop", Crowded, Degraded, func(r *Record) {
			shared(r, 0.3, 0.2, 0.02, 0.03, 2)
			r.Ops[0].Response.P99, r.Ops[0].ServiceP99 = 125*ms, 1100*us
		}},
		{"a tail that others made in a few seconds", Crowded, Degraded, func(r *Record) {
			shared(r, 0.3, 0.2, 0.1, 0.05, 2)
			r.Ops[0].Response.P99, r.Ops[0].ServiceP99 = 125*ms, 1100*us
			r.Observed.Machine, r.Observed.OthersMost = 0.65, new(0.9)
		}},
		{"others who are told by the pressure of the machine alone", Crowded, Degraded, func(r *Record) {
			shared(r, 0.5, 0.3, 0, 0, 2)
			r.Observed.Processes[0].Queue, r.Observed.Processes[1].Queue, r.Observed.Pressure = nil, nil, 0.99
		}},
		{"a clock that runs 10 % fast", Laws, Invalid, func(r *Record) { r.Accounts = []Account{account(0), account(0.1)} }},
		{"calls that are lost", Laws, Invalid, func(r *Record) { r.Accounts = []Account{account(0), account(-0.06)} }},
		{"calls that the store never got", Laws, Degraded, func(r *Record) { r.Counted = []Counted{{Seconds: r.Seconds, Asked: 280_000, Made: 300_000}} }},
		{"calls of one segment that the store never got", Laws, Degraded, func(r *Record) {
			r.Counted = []Counted{{Seconds: r.Seconds, Asked: 300_000, Made: 300_000}, {Segment: " in the segment from 30 s", Seconds: 10, Asked: 40_000, Made: 50_000, Uncounted: 0.5}}
		}},
		{"three stops of 0.3 s", Suspended, Degraded, func(r *Record) { r.Observed.Pauses, r.Observed.PausedS = 3, 0.8 }},
		{"a stop of 0.3 s in a short run", Suspended, Degraded, func(r *Record) { r.Observed.Seconds, r.Observed.Pauses, r.Observed.PausedS = 5, 1, 0.3 }},
		{"many short pauses on a machine that keeps it waiting", Pauses, Degraded, func(r *Record) {
			r.Observed.Pauses, r.Observed.PausedS, r.Observed.Pressure = 20, 5, 0.3
		}},
		{"a rate beyond the store", Backlog, Degraded, func(r *Record) { r.Observed.Growth = Grown(ramp(60, 100), 5000, 0) }},
		{"a rate beyond the store in one segment", Backlog, Degraded, func(r *Record) {
			parted(r)
			r.Observed.Growth = Grown(ramp(20, 100), 5000, 10)
		}},
		{"operations that fail in one segment", Errors, Degraded, func(r *Record) { parted(r).Ops[0].Errors = 200 }},
		{"work that never began in one segment", Unstarted, Degraded, func(r *Record) { parted(r).Ops[0].Unstarted = 200 }},
		{"segments that are all too short for p99", Samples, Degraded, func(r *Record) {
			parted(r)
			for i := range r.Segments {
				op := &r.Segments[i].Ops[0]
				op.Calls, op.Response.Count = 900, 900
			}
		}},
		{"work that never began", Unstarted, Degraded, func(r *Record) { r.Ops[0].Unstarted = 400 }},
		{"a processor hog in perfbench", CPU, Degraded, func(r *Record) { r.Observed.CPU = 7.1 }},
		{"a processor hog in perfbench that also polls", CPU, Degraded, func(r *Record) { r.Observed.CPU, r.Observed.Polled = 7.9, 0.8 }},
		{"a quota that is used up", CPU, Degraded, func(r *Record) { r.Observed.Quota, r.Observed.Cores = 1.6, 1.6 }},
		{"a throttled control group", Throttled, Degraded, func(r *Record) {
			r.Observed.Quota, r.Observed.Periods, r.Observed.Throttled, r.Observed.ThrottledS = 4, 600, 30, 0.9
		}},
		{"few periods, long held", Throttled, Degraded, func(r *Record) {
			r.Observed.Quota, r.Observed.Periods, r.Observed.Throttled, r.Observed.ThrottledS = 4, 6000, 20, 1.2
		}},
		{"a hypervisor that gives time away", Stolen, Degraded, func(r *Record) { r.Observed.Stolen = 0.03 }},
		{"more threads than processors", Scheduler, Degraded, func(r *Record) { r.Observed.SchedP50 = 60 * us }},
		{"a hog beside perfbench", Scheduler, Degraded, func(r *Record) { r.Observed.SchedP99, r.Observed.Machine = 400*us, 8 }},
		{"timers that ring late", Scheduler, Degraded, func(r *Record) { r.Observed.WakeP90 = 8 * ms }},
		{"garbage that stops everything", GC, Degraded, func(r *Record) { r.Observed.GCPauses = 0.015 }},
		{"garbage that takes processors", GC, Degraded, func(r *Record) { r.Observed.GCCPU = 1.5 }},
		{"memory swapped out", Memory, Degraded, func(r *Record) { r.Observed.MajorFaults = 2000 }},
		{"a pool that is too small", Pool, Degraded, func(r *Record) { r.Observed.PoolWaits, r.Observed.PoolWaitNs = 40_000, 2_000*ms }},
		{"the harness at its ceiling", Ceiling, Degraded, func(r *Record) { r.Observed.Ceilings[0].PerS = 5_400 }},
		{"the harness at its ceiling in one phase of three", Ceiling, Degraded, func(r *Record) {
			r.Phases = []Phase{{"load", 50, 10_000}, {"valid", 8, 200_000}, {"sweep", 0.1, 90_000}}
			r.Observed.Ceilings = []PhaseCeiling{{"load", 400_000}, {"valid", 26_000}, {"sweep", 100_000}}
		}},
		{"a slow clock", Clock, Degraded, func(r *Record) { r.Observed.ClockCost = 25 * us }},
		{"a coarse clock", Clock, Degraded, func(r *Record) { r.Observed.ClockTick = 1 * ms }},
		{"a clock set forward", Clock, Degraded, func(r *Record) { r.Observed.Steps = []Step{{AtS: 7, ByS: 3600}} }},
		{"a clock set back", Clock, Degraded, func(r *Record) { r.Observed.Steps = []Step{{AtS: 7, ByS: -0.2}} }},
		{"a stop by ctrl+z", Suspended, Degraded, func(r *Record) { r.Observed.Suspensions = []Suspension{{AtS: 3, ForS: 5}} }},
		{"failing operations", Errors, Degraded, func(r *Record) { r.Ops[0].Errors = 400 }},
		{"hardly anything that works", Errors, Invalid, func(r *Record) { r.Ops[0].Errors = 400_000 }},
		{"a panic", Panic, Invalid, func(r *Record) { r.Ops[0].Errors, r.Panics, r.PanicAt = 1, 1, "task.go:7" }},
		{"lost data", Verification, Invalid, func(r *Record) { r.Verified = Failed }},
		{"no time to verify", Verification, Degraded, func(r *Record) { r.Verified = Hurried }},
		{"a store gone at the end", Verification, Degraded, func(r *Record) { r.Verified = Incomplete }},
		{"a fault that ends the run", Unfinished, Degraded, func(r *Record) { r.Fault = "the disk is full" }},
		{"an end before anything was called", Unmeasured, Invalid, func(r *Record) { r.Ops[0], r.Phases = Op{Name: "profile.put", Counts: true}, nil }},
		{"an end in the warm-up", Unmeasured, Invalid, func(r *Record) { r.Ops, r.Phases, r.Seconds, r.Early = nil, nil, 0, true }},
		{"too few calls for p99", Samples, Degraded, func(r *Record) { r.Ops[0].Calls, r.Ops[0].Response.Count, r.Observed = 999, 999, nil }},
		{"a warm-up without an end", Warmup, Degraded, func(r *Record) { r.Unsettled = time.Minute }},
	} {
		t.Run(c.fault, func(t *testing.T) {
			r := clean()
			c.inject(&r)
			v := Judge(r)
			require.Len(t, v.Reasons, 1, "%+v", v.Reasons)
			assert.Equal(t, c.want, v.Reasons[0].Cause)
			assert.Equal(t, c.state, v.State)
			assert.NotContains(t, v.Reasons[0].Text, "%!")
			what := v.Reasons[0].What
			assert.NotRegexp(t, `\d`, strings.TrimPrefix(what, firstRows(what, 72-len(c.want))), "beyond what the first page of results has of it on 80 columns")
		})
	}
}

// firstRows is what two rows of so many cells have of a text.
func firstRows(text string, room int) string {
	from := 0
	for range 2 {
		if len([]rune(text[from:])) <= room {
			return text
		}
		row := string([]rune(text[from:])[:room+1])
		from += strings.LastIndex(row, " ") + 1
	}
	return text[:from]
}

// Accounts that agree as well as histograms do, of tracks that hardly worked, or of calls that
// others make beside the workers, break no law; nor do requests that others make, that were
// made before the store was first asked, or that failed, as when it was started anew.
func TestLawsThatHold(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"accounts that agree":        func(r *Record) { r.Accounts = []Account{account(0.04), account(-0.04)} },
		"a track that hardly worked": func(r *Record) { r.Accounts = []Account{{Track: "p", Seconds: 60, Worked: 0.09}} },
		"long calls beside the workers": func(r *Record) {
			r.Accounts = []Account{{Track: "p", Seconds: 60, Worked: 60, Calls: 60_000, Pauses: -59_840}}
		},
		"others who ask the store, too": func(r *Record) { r.Counted = []Counted{{Seconds: r.Seconds, Asked: 900_000, Made: 300_000}} },
		"calls before it was first asked": func(r *Record) {
			r.Counted = []Counted{{Seconds: r.Seconds, Asked: 283_000, Made: 300_000, Uncounted: 0.5}}
		},
		"a store that was started anew": func(r *Record) {
			r.Counted, r.Ops[0].Errors = []Counted{{Seconds: r.Seconds, Asked: 100_000, Made: 300_000}}, 1
		},
	} {
		r := clean()
		change(&r)
		assert.Equal(t, Valid, Judge(r).State, "%s: %v", name, Judge(r).Reasons)
	}
}

// parted makes a run one of two segments alike, of which the second is returned.
func parted(r *Record) *Segment {
	half := r.Ops[0]
	half.Calls, half.Count, half.Response.Count = half.Calls/2, half.Count/2, half.Calls/2
	r.Segments = []Segment{{To: 30, Ops: []Op{half}}, {From: 30, To: 60, Ops: []Op{half}}}
	return &r.Segments[1]
}

// A run whose segments are each fine is valid, as is one with a segment that is too short to
// say anything, or that a search made to find where the store ends.
func TestSegmentsThatAreFineMakeAValidRun(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"two alike": func(*Record) {},
		"a short one": func(r *Record) {
			op := &r.Segments[1].Ops[0]
			op.Calls, op.Response.Count, op.Errors = 200, 200, 1
		},
		"a search beyond the limit": func(r *Record) {
			s := &r.Segments[1]
			s.Sought, s.Ops[0].Errors, s.Ops[0].Unstarted = true, 200, 200
		},
	} {
		r := clean()
		parted(&r)
		change(&r)
		assert.Equal(t, Valid, Judge(r).State, "%s: %v", name, Judge(r).Reasons)
	}
}

// shared makes a run one of a client and a store that share as many processors with
// others who use all the rest: what each uses, and how long their threads wait.
func shared(r *Record, client, server, clientWaits, serverWaits, processors float64) {
	o := r.Observed
	o.Cores, o.CPU, o.Machine, o.GCCPU = processors, client, processors, 0
	o.Processes = []Process{{Role: "perfbench", CPU: &client, Queue: &clientWaits}, {Role: "redis", CPU: &server, Queue: &serverWaits}}
	op := &r.Ops[0]
	op.ServiceP99 = op.Response.P99
}

// What made a few seconds slow is told with the busiest of them, as the mean says little.
func TestATailIsToldWithTheBusiestSecond(t *testing.T) {
	r := clean()
	shared(&r, 0.3, 0.2, 0.1, 0.05, 2)
	r.Ops[0].Response.P99, r.Ops[0].ServiceP99 = 125_000_000, 1_100_000
	r.Observed.Machine, r.Observed.OthersMost = 0.65, new(0.893)
	v := Judge(r)
	require.Len(t, v.Reasons, 1)
	assert.True(t, strings.HasPrefix(v.Reasons[0].Text, "other processes used up to 0.89 processors of this machine, and p99 of "), v.Reasons[0].Text)
}

// What others use counts only where the run waits for it, and what the run's own threads
// make each other wait is how they do on such a machine.
func TestCompanyThatDoesNoHarmIsNotNamed(t *testing.T) {
	const us, ms = 1000, 1_000_000
	for name, change := range map[string]func(*Record){
		"client and store alone, and busy": func(r *Record) { shared(r, 1.1, 0.85, 0.9, 0.7, 2) },
		"others have processors of their own": func(r *Record) {
			shared(r, 0.7, 0.5, 0.02, 0.03, 8)
			r.Observed.Machine = 4
		},
		"a disk takes the time": func(r *Record) {
			shared(r, 0.05, 0.05, 0.05, 0.03, 2)
			r.Ops[0].Response, r.Ops[0].ServiceP99 = times(300_000, 5*ms), 25*ms
		},
		"the store pauses by itself": func(r *Record) {
			shared(r, 0.3, 0.2, 0.001, 0.002, 2)
			r.Observed.Machine = 0.8
			r.Ops[0].Response.P99, r.Ops[0].ServiceP99 = 125*ms, 1100*us
		},
		"others use a little all the time": func(r *Record) {
			shared(r, 0.3, 0.2, 0.1, 0.05, 2)
			r.Ops[0].Response.P99, r.Ops[0].ServiceP99 = 125*ms, 1100*us
			r.Observed.Machine, r.Observed.OthersMost = 0.65, new(0.3)
		},
		"a store on another machine": func(r *Record) {
			shared(r, 0.3, 0, 0.04, 0, 2)
			r.Observed.Machine, r.Observed.Processes[1] = 0.35, Process{Role: "redis", Elsewhere: true}
		},
		"a store that is here and cannot be watched": func(r *Record) {
			shared(r, 0.5, 0, 0.5, 0, 2)
			r.Observed.Processes[1] = Process{Role: "redis", Note: "no process that we can see listens there"}
		},
		"a store behind a proxy": func(r *Record) {
			shared(r, 0.9, 0.01, 0.7, 0.01, 2)
			r.Observed.Store = &Used{CPU: new(1.05 * r.Observed.Seconds)}
		},
		"nothing is known of processes": func(r *Record) { r.Observed.Machine = 8 },
	} {
		t.Run(name, func(t *testing.T) {
			r := clean()
			change(&r)
			assert.False(t, has(Judge(r), Crowded), "%+v", Judge(r).Reasons)
		})
	}
}

// Each worker's machine is judged, all workers on it together, and named by them.
func TestCompanyOfWorkersIsNamed(t *testing.T) {
	three := func() Record {
		r := clean()
		for n := range 3 {
			c := &Company{Machine: "a", Cores: 2, CPU: 0.5, Busy: 1.5, Queue: new(0.3), Under: 4}
			if n == 2 {
				c.Machine, c.Store, c.StoreQueue, c.Busy = "b", 0.4, 0.2, 0.95
			}
			r.Workers = append(r.Workers, Worker{Number: n + 1, Host: "h", Company: c})
		}
		r.Coordinator = 0.45
		return r
	}
	r := three()
	assert.Equal(t, Valid, Judge(r).State, "%v: one worker is no stranger to another, nor to the store or the coordinator", Judge(r).Reasons)
	for c, want := range map[*Company]string{
		r.Workers[2].Company: "of the machine of worker 3, so mean response times or throughput are some ",
		r.Workers[0].Company: "of the machine of workers 1 and 2, so",
	} {
		was := *c
		c.Busy = 2.2
		v := Judge(r)
		require.Len(t, v.Reasons, 1, want)
		assert.Equal(t, Crowded, v.Reasons[0].Cause)
		assert.Contains(t, v.Reasons[0].Text, want)
		*c = was
	}
	r.Workers[2].Company.Busy, r.Workers[2].Company.Queue, r.Workers[2].Company.Pressure = 2.2, nil, 0.9
	assert.True(t, has(Judge(r), Crowded), "by the pressure of the machine")
	r.Workers[2].Company = nil
	assert.Equal(t, Valid, Judge(r).State, "nothing is known of it")
}

// Microseconds are no reason to doubt a run, however large a part of a call they are in a
// store that does nothing.
func TestMicrosecondsOfLatenessAreNothing(t *testing.T) {
	const us = 1000
	r := clean()
	r.InProcess = true
	r.Ops[0].Response, r.Ops[0].Lateness = times(300_000, 8*us), times(300_000, 8*us)
	assert.Equal(t, Valid, Judge(r).State, "8 µs of 8 µs")
	r = clean()
	r.Ops[0].Lateness = times(300_000, 40*us)
	assert.Equal(t, Valid, Judge(r).State, "a fifth of each percentile, and nowhere much")
}

// What a few moments of a machine decide is said, and is no reason below 5 ms; what makes
// half of a p99 is one.
func TestALateTailIsARemark(t *testing.T) {
	const us, ms = 1000, 1_000_000
	r := clean()
	assert.Empty(t, lateTail(&r))
	r.Ops[0].Response.P999, r.Ops[0].Lateness.P999 = 6*ms, 4*ms
	assert.Equal(t, Valid, Judge(r).State)
	assert.Contains(t, lateTail(&r), "p99.9 of "+r.Ops[0].Name+" is 6 ms, of which 4 ms (67 %) are lateness")
	r.InProcess = true
	assert.Empty(t, lateTail(&r), "of a store that is no server")
	r.InProcess = false
	r.Ops[0].Lateness.P999 = 5 * ms
	assert.True(t, has(Judge(r), Lateness), "5 ms of it")
	assert.Empty(t, lateTail(&r), "a reason is not also a remark")
	r.Ops[0].Lateness.P999, r.Ops[0].Response.P99, r.Ops[0].Lateness.P99 = 0, 900*us, 500*us
	assert.True(t, has(Judge(r), Lateness), "half of p99")
}

// A processor that perfbench only polls with is not its bottleneck.
func TestPollingIsNoWork(t *testing.T) {
	r := clean()
	r.Observed.CPU, r.Observed.Polled = 7.1, 1
	assert.Equal(t, Valid, Judge(r).State, "%v", Judge(r).Reasons)
}

func TestOneShortPauseOfALongRunIsNothing(t *testing.T) {
	r := clean()
	r.Observed.Pauses, r.Observed.PausedS = 1, 0.3
	assert.Equal(t, Valid, Judge(r).State)
	r.Observed.Suspensions = []Suspension{{AtS: 3, ForS: 5}}
	v := Judge(r)
	require.Len(t, v.Reasons, 1)
	assert.Contains(t, v.Reasons[0].Text, "suspended 2 times, for 5.3 s in all, first at 00:03 of the run, and its clock stood still for 5 s of that")
	r.Observed.Pauses, r.Observed.PausedS, r.Observed.Suspensions[0].Untimed = 0, 0, 2
	assert.Contains(t, Judge(r).Reasons[0].Text, "suspended for 5 s, from 00:03 of the run, and its clock stood still meanwhile; 2 operations under way then were counted")
}

// An outage lasts as long as it did by the run's clock, and what perfbench itself did not run for in it, or
// was suspended for beside it, is said.
func TestAnOutageTellsWhenPerfbenchStoodStill(t *testing.T) {
	long, short := Outage{From: 8.16, To: 13.8}, Outage{From: 30, To: 31}
	o := &Observed{PausesAt: []Pause{{AtS: 2, ForS: 0.5}, {AtS: 7.9, ForS: 0.3}, {AtS: 10.2, ForS: 1.1}, {AtS: 13.7, ForS: 0.4}, {AtS: 30.2, ForS: 0.25}}}
	assert.Equal(t, "nothing was done from 00:08.2 to 00:13.8 of the run (5.64 s of 60 s)", Dead([]Outage{long}, nil, 60))
	assert.Equal(t, "nothing was done from 00:08.2 to 00:13.8 of the run (5.64 s of 60 s; perfbench itself did not run for 1.24 s of that)", Dead([]Outage{long}, o, 60))
	assert.Equal(t, "nothing was done from 00:08.2 to 00:13.8 of the run and 1 more time (6.64 s of 60 s; perfbench itself did not run for 1.49 s of that)", Dead([]Outage{long, short}, o, 60))
	o = &Observed{Suspensions: []Suspension{{AtS: 8.1, ForS: 7}, {AtS: 8.17, ForS: 3}, {AtS: 20, ForS: 9}}}
	assert.Equal(t, "nothing was done from 00:08.2 to 00:13.8 of the run (5.64 s of 60 s; perhaps for up to 3 s more, in which perfbench was suspended)", Dead([]Outage{long}, o, 60))
	assert.Equal(t, "nothing was done from 00:30 to 00:31 of the run (1 s of 60 s)", Dead([]Outage{short}, o, 60))
	assert.EqualValues(t, 19, o.Suspended())
}

// A time for most of which perfbench itself did not run is not the store's: it has no part in failed calls, nor in a
// backlog.
func TestAnOutageOfOurOwnIsNotTheStores(t *testing.T) {
	own, theirs := Outage{From: 5, To: 6.2}, Outage{From: 8, To: 10}
	r := clean()
	r.Observed.PausesAt = []Pause{{AtS: 4.9, ForS: 1.1}, {AtS: 9, ForS: 0.5}}
	assert.InDeltaSlice(t, []float64{0, 1.5}, []float64{r.Observed.Silent(own), r.Observed.Silent(theirs)}, 1e-9)
	assert.InDelta(t, 1.2, (*Observed)(nil).Silent(own), 1e-9, "where nothing is known of pauses")
	assert.Equal(t, "nothing was done from 00:05 to 00:06.2 of the run (1.2 s of 60 s): perfbench itself did not run", Dead([]Outage{own}, r.Observed, 60))
	r.Ops[0].Errors = 4
	r.Outages = []Outage{own}
	_, text := said(errors(&r))
	assert.Empty(t, text, "too few calls for the store to be doubted")
	r.Outages = []Outage{own, theirs}
	_, text = said(errors(&r))
	assert.Contains(t, text, "nothing was done from 00:08 to 00:10 of the run (2 s of ")
	r.Observed.Growth = &Growth{FromS: 5, ToS: 20, From: 0.9, To: 156, Rate: 2500}
	r.Outages = []Outage{own}
	_, text = said(backlog(&r))
	assert.NotContains(t, text, "after nothing was done")
	assert.False(t, outOfService(&r))
}

// A backlog that our own pauses may have caused is not laid to the store; a larger one is, and so is
// one that grew at another time.
func TestABacklogOfOurOwnPausesIsNotTheStores(t *testing.T) {
	told := func(meanwhile, inAll float64) string {
		r := clean()
		r.Observed.PausedS, r.Observed.Growth = inAll, &Growth{ToS: r.Seconds, From: 0.9, To: 156, Rate: 2500, PausedS: meanwhile}
		_, text := said(backlog(&r))
		return text
	}
	assert.Contains(t, told(0.365, 0.365), "which perfbench itself may have caused: it did not run for 365 ms, in which 912 fell due")
	assert.NotContains(t, told(0.365, 0.365), "does not keep up")
	for _, paused := range [][2]float64{{0, 0}, {0.01, 0.01}, {0, 1.2}} {
		assert.Contains(t, told(paused[0], paused[1]), "the run does not keep up with 2.5k units per second")
	}
}

// ramp is a backlog that grows by as much each second.
func ramp(seconds int, by int64) []int64 {
	out := make([]int64, seconds)
	for i := range out {
		out[i] = int64(i) * by
	}
	return out
}

// TestCleanRunsAreValid judges fifty runs that differ in length, load, threads'
// share and speed of the store, all within what a sound client does.
func TestCleanRunsAreValid(t *testing.T) {
	alarms := 0
	for i := range 50 {
		r := clean()
		o := r.Observed
		f := 1 + float64(i%10)/5 // up to 2.8 times slower
		r.Seconds, o.Seconds = 2+float64(i), 2+float64(i)
		op := &r.Ops[0]
		op.Calls = 1200 + int64(i)*20_000
		op.Count = op.Calls
		op.Response = times(op.Calls, int64(200_000*f))
		op.Lateness = times(op.Calls, int64(200_000*f*0.08*float64(i%5)/4))
		op.Errors = op.Calls / 2000 * int64(i%2) // up to half a tenth of a percent
		op.Unstarted = int64(i % 11)
		o.CPU = 8 * 0.8 * float64(i%7) / 6
		o.SchedP99 = int64(100_000 * f * float64(i%4) / 3)
		o.GCPauses = 0.008 * float64(i%3) / 2
		r.Phases[0].Seconds, r.Phases[0].Calls = r.Seconds, op.Calls
		o.Ceilings[0].PerS = float64(op.Calls) / r.Seconds / 0.75
		o.Growth = Grown(steady(int(r.Seconds), int64(i)), 5000, 0)
		if v := Judge(r); v.State != Valid {
			alarms++
			t.Log(i, v.Reasons)
		}
	}
	assert.LessOrEqual(t, alarms, 2, "false alarms in fifty clean runs")
}

// steady is a backlog that comes and goes.
func steady(seconds int, phase int64) []int64 {
	out := make([]int64, seconds)
	for i := range out {
		out[i] = (int64(i) + phase) % 5 * 30
	}
	return out
}

func TestABacklogGrowsOnlyToTheEnd(t *testing.T) {
	stall := append(ramp(10, 500), make([]int64, 10)...) // the store stopped and caught up
	assert.Nil(t, Grown(stall, 1000, 0))
	assert.Nil(t, Grown(ramp(2, 500), 1000, 0), "too short to tell")
	assert.Nil(t, Grown(ramp(10, 500), 0, 0), "closed loop")
	g := Grown(ramp(9, 500), 1000, 20)
	require.NotNil(t, g)
	assert.InDelta(t, 2000, g.From, 1)
	assert.InDelta(t, 3500, g.To, 1)
	assert.InDelta(t, 29, g.ToS, 0, "it began at 20 s")
	assert.Equal(t, []float64{4000, 4000, 29}, []float64{g.End, g.Most, g.MostS})
}

// A backlog of the last third that was worked off before the end is past, though the mean of the
// third is high; one that is being worked off is no run that does not keep up.
func TestABacklogThatWasWorkedOffIsPast(t *testing.T) {
	course := append(make([]int64, 58), 2500, 5000, 7500, 10_000, 12_500, 11_000, 9000, 7000, 5000, 3000, 1000)
	told := func(course []int64) (what, aside string) {
		r := clean()
		r.Seconds, r.Observed.Seconds = float64(len(course)), float64(len(course))
		r.Observed.Growth = Grown(course, 2500, 0)
		r.Observed.CaughtUp, r.Observed.GivenUp = Worked(waiting2500(course))
		_, text := said(backlog(&r))
		return text, strings.Join(Remarks(r), " ")
	}
	what, aside := told(append(slices.Clone(course), make([]int64, 10)...))
	assert.Empty(t, what)
	assert.Equal(t, "The run was behind its rate from 00:58 of the run, by 12.5k units at most, and had caught up by 01:10.", aside)
	what, aside = told(course[:len(course)-1])
	assert.Contains(t, what, "the run was behind its rate at the end (3k due and not sent, 12.5k at most, at 01:03 of the run), and was catching up")
	assert.NotContains(t, what, "does not keep up")
	assert.Empty(t, aside)
	what, _ = told(course[:64])
	assert.Contains(t, what, "the backlog grew to the end (11k due and not sent, ")
	what, aside = told(append(make([]int64, 58), 100, 100, 90, 0, 0))
	assert.Empty(t, what+aside, "less than falls due in a second")
}

// A run has caught up when it is not behind for some seconds, or to the end, or until settings change; not when
// that is so for a second of a backlog of which calls were never sent.
func TestASecondWithoutABacklogIsNotCaughtUp(t *testing.T) {
	course := waiting2500([]int64{0, 2000, 4000, 100, 1000, 1600, 1400, 0})
	course[7].GivenUp = 1500
	caughtUp, gaveUp := Worked(course)
	assert.Nil(t, caughtUp)
	assert.Equal(t, &Behind{FromS: 1, ToS: 8, Most: 4000, Units: 1500}, gaveUp)
	assert.Zero(t, CaughtUpAfter(course, &Growth{ToS: 3, Rate: 2500}))
	course[4].Units, course[5].Units = 100, 100 // three in a row
	caughtUp, _ = Worked(course)
	assert.Equal(t, &Behind{FromS: 1, ToS: 4, Most: 4000}, caughtUp)
	assert.InDelta(t, 4, CaughtUpAfter(course, &Growth{ToS: 3, Rate: 2500}), 0)
	caughtUp, gaveUp = Worked(course[:4])
	assert.Equal(t, &Behind{FromS: 1, ToS: 4, Most: 4000}, caughtUp, "to the end")
	assert.Nil(t, gaveUp)
	course[4].Units, course[4].Rate = 5000, 9000
	caughtUp, _ = Worked(course[:6])
	assert.Equal(t, &Behind{FromS: 1, ToS: 4, Most: 4000}, caughtUp, "another rate")
}

// A backlog of less than a second is told if it grew for some seconds.
func TestASmallBacklogThatGrewForLongIsTold(t *testing.T) {
	caughtUp, _ := Worked(waiting2500([]int64{0, 200, 400, 600, 800, 1000, 1200, 0, 0, 0}))
	assert.Equal(t, &Behind{FromS: 1, ToS: 8, Most: 1200}, caughtUp)
	caughtUp, _ = Worked(waiting2500([]int64{0, 200, 400, 600, 800, 1000, 0, 0, 0}))
	assert.Nil(t, caughtUp)
	r := clean()
	r.Observed.CaughtUp = &Behind{FromS: 1, ToS: 8, Most: 1200}
	r.Came = []Came{{}}
	assert.Equal(t, "worked off", backlogged(&r))
	r.Observed.GivenUp = &Behind{FromS: 20, ToS: 60, Most: 5000, Units: 5000}
	assert.Empty(t, backlogged(&r), "that is not right")
}

// Bursts that were caught up are no backlog that grows, nor is one that a change cut off, however much
// more there was of them in the last third.
func TestBurstsAreNoBacklogThatGrows(t *testing.T) {
	bursts := []int64{0, 0, 0, 385, 0, 2000, 0, 255, 1475, 0, 7235, 4915}
	assert.Nil(t, Grown(bursts, 30_000, 33))
	assert.Nil(t, Grown(append(make([]int64, 20), 9000, 8500, 8000, 7500, 7000), 1000, 0), "it came at once")
	g := Grown(append(bursts[:10:10], 2000, 4000, 6000), 30_000, 33)
	require.NotNil(t, g, "it rose for three seconds")
	assert.Equal(t, []float64{6000, 6000, 46}, []float64{g.End, g.Most, g.MostS})
}

// Where others had the processors that the run waited for while the backlog grew, they are the cause, if they
// had enough of them.
func TestABacklogOfACrowdedMachineIsNotTheStores(t *testing.T) {
	for others, want := range map[float64]bool{0.05: false, 0.3: false, 1.4: true} {
		r := clean()
		r.Observed.Machine = 2
		r.Observed.Growth = &Growth{FromS: 20, ToS: 40, From: 1000, To: 16_000, End: 20_000, Most: 20_000, MostS: 40, Rate: 5000, Taken: &Taken{Used: 0.6, Others: others, Waited: 0.9}}
		what, text := said(backlog(&r))
		assert.Equal(t, want, crowdedOut(&r), "%v", others)
		assert.Equal(t, !want, strings.Contains(what+text, "the run does not keep up"))
		assert.Equal(t, want, strings.HasPrefix(text, "other processes used 1.4 processors of this machine while the backlog grew until 00:40 of the run ("), text)
	}
}

// waiting2500 is a course of so many units at the end of each second, of which 2500 fall due in each.
func waiting2500(course []int64) []Waiting {
	list := make([]Waiting, len(course))
	for i, n := range course {
		list[i] = Waiting{Units: n, Rate: 2500, AtS: float64(i + 1)}
	}
	return list
}

// What was given up was not caught up with, at a change or at the end; a reason for doubt says so
// itself.
func TestABacklogThatWasGivenUpIsNotWorkedOff(t *testing.T) {
	r := clean()
	course := waiting2500(make([]int64, 60))
	told := func() string {
		r.Observed.CaughtUp, r.Observed.GivenUp = Worked(course)
		return strings.Join(Remarks(r), " ")
	}
	course[20].Units, course[21].Units, course[22].GivenUp, course[22].Until, course[22].AtS = 4000, 6000, 5000, "rate", 22.4
	assert.Equal(t, "The run was behind its rate from 00:20 of the run, by 6k units at most, until the rate was changed at 00:22.4 of the run; 5k units were never sent.", told())
	course[22].Units = 9000 // behind again at once, and until the end
	for i := 23; i < 59; i++ {
		course[i].Units = 9000
	}
	course[59].GivenUp = 9500
	assert.Equal(t, "The run was behind its rate from 00:22 of the run until the end; 9.5k units were never sent.", told())
	r.Unit = "entries"
	assert.Contains(t, told(), "9.5k entries were never sent.")
	r.Unit = ""
	g := &Growth{FromS: 30, ToS: 60, From: 5000, To: 9000, End: 9500, Most: 9500, MostS: 60, Rate: 2500}
	g.EndAt(course[59])
	r.Observed.Growth = g
	assert.Empty(t, told())
	_, text := said(backlog(&r))
	assert.Contains(t, text, "the backlog grew until the end, from 5k to 9.5k units, which were never sent: the run does not keep up")
	assert.Zero(t, CaughtUpAfter(append(course, make([]Waiting, 5)...), g))
	course[59].GivenUp = 100 // in the queues of a run that keeps up
	assert.Contains(t, told(), "The run was behind its rate from 00:22 of the run, by 9k units at most, and had caught up by 01:00.")
}

// In a closed loop a store that is away gets few calls, however long it is away.
func TestAnOutageCountsByItsTime(t *testing.T) {
	r := clean()
	r.Ops[0].Errors = 4
	require.False(t, has(Judge(r), Errors), "a share of the calls that matters to no percentile")
	r.Outages = []Outage{{From: 5, To: 5 + 0.002*r.Seconds}}
	v := Judge(r)
	require.True(t, has(v, Errors))
	assert.Equal(t, Degraded, v.State)
	assert.Contains(t, v.Reasons[0].Text, "nothing was done from 00:05 to ")
	assert.Contains(t, v.Reasons[0].Text, ": see the errors for why")
	r.Restarts = []Restart{{AtS: 20, Kept: new(int64(0))}}
	assert.Contains(t, Judge(r).Reasons[0].Text, ": see the errors for why", "it was much later")
	r.Restarts[0].AtS = 7
	v = Judge(r)
	assert.Contains(t, v.Reasons[0].Text, ", when the server was started again and came back empty, and 4 calls failed, ")
	assert.Empty(t, v.Doubts[0].Cure, "that is why, not what to do")
	r.Outages[0].To = 5 + 0.0005*r.Seconds
	assert.False(t, has(Judge(r), Errors))
	r.Outages[0].To, r.Ops[0].Errors = 10, 0
	assert.False(t, has(Judge(r), Errors), "the store answered all the same")
}

// A backlog that an outage made is not laid to a run that does not keep up.
func TestABacklogOfAnOutageNamesIt(t *testing.T) {
	r := clean()
	r.Observed.Growth = &Growth{FromS: 22, ToS: 30, From: 0.9, To: 9000, End: 9000, Most: 12_500, MostS: 28, Rate: 2500}
	r.Outages = []Outage{{From: 1, To: 2}, {From: 23, To: 28}}
	_, text := said(backlog(&r))
	assert.Contains(t, text, " after nothing was done from 00:23 to 00:28 of the run: ")
	assert.NotContains(t, text, "does not keep up")
	r.Observed.Growth.CaughtUpS = 41
	_, text = said(backlog(&r))
	assert.Empty(t, text, "it was worked off")
	r.Outages = r.Outages[:1]
	_, text = said(backlog(&r))
	assert.Contains(t, text, "does not keep up")
}

// Pauses and other parts that worked make work that failed no better.
func TestWorkThatFailedIsNotHiddenByItsParts(t *testing.T) {
	r := clean()
	r.Ops[0].Calls, r.Ops[0].Count, r.Ops[0].Errors = 400, 400, 2000
	for _, name := range []string{"profile.sleep5", "profile.sleep20", "profile.get"} {
		r.Ops = append(r.Ops, Op{Name: name, Count: 2400, Calls: 2400, Response: times(2400, 200_000), ServiceMean: 200_000, ServiceP50: 200_000})
	}
	v := Judge(r)
	require.True(t, has(v, Errors))
	assert.Equal(t, Invalid, v.State)
	assert.Contains(t, v.Reasons[0].Text, "2\u2009000 calls failed, 83 % of those that count")
	assert.Equal(t, v.Reasons[0].Text, v.Void())
}

// A run that is invalid for another reason is not void because of some calls that failed.
func TestOnlyWhatIsInvalidIsVoid(t *testing.T) {
	r := clean()
	r.Ops[0].Errors = r.Ops[0].Calls / 4
	r.Workers = []Worker{{Number: 1, Host: "a", Unusable: "it has a negative backlog"}}
	v := Judge(r)
	require.True(t, has(v, Errors))
	require.True(t, has(v, Workers))
	assert.Equal(t, Invalid, v.State)
	assert.Empty(t, v.Void())
	r.Ops[0].Errors = r.Ops[0].Calls * 4
	assert.Contains(t, Judge(r).Void(), " failed, 80 % of all")
}

func TestAStoreInProcessIsNotHeldAgainstTheHarness(t *testing.T) {
	r := clean()
	r.InProcess = true
	r.Observed.CPU, r.Observed.GCCPU, r.Observed.SchedP50, r.Observed.Ceilings[0].PerS = 8, 3, 900_000, 5000
	assert.Equal(t, Valid, Judge(r).State)
	r.Ops[0].Lateness.P50 = 50_000
	assert.True(t, has(Judge(r), Lateness), "lateness is ours whatever the store")
}

func TestARunThatGoesOnIsNotJudgedByItsEnd(t *testing.T) {
	r := clean()
	r.Going = true
	r.Ops[0].Calls, r.Ops[0].Unstarted, r.Verified = 10, 5000, Incomplete
	r.Ops[0].Response.Count = 10
	r.Observed = nil
	assert.Equal(t, Valid, Judge(r).State, fmt.Sprint(Judge(r).Reasons))
}

func TestOneTickOfAShortRunIsNotStolenTime(t *testing.T) {
	r := clean()
	r.Observed.Seconds, r.Observed.Stolen = 0.05, 0.1 // a hundredth of a second on one of two processors
	assert.False(t, has(Judge(r), Stolen))
	r.Observed.Seconds = 1
	assert.True(t, has(Judge(r), Stolen))
}

// Calls that went out in other spans than they were due in are a reason; if it was because all
// threads were busy, it is said.
func TestCallsThatDoNotComeAsAsked(t *testing.T) {
	r := clean()
	r.Came = []Came{{Track: "puts", Span: 0.01, Asked: 1, Begun: 1.1, Moved: 0.05, Late: 0.02}}
	assert.Equal(t, Valid, Judge(r).State)
	assert.Empty(t, Remarks(r))
	r.Came = append(r.Came, Came{Track: "gets", Segment: " in the segment from 5 s", Span: 0.02, Asked: 1, Begun: 0.2, Moved: 0.3, Late: 0.02})
	assert.Equal(t, Valid, Judge(r).State)
	require.Len(t, Remarks(r), 1)
	assert.Contains(t, Remarks(r)[0], "28 % or more of the calls of gets in the segment from 5 s waited for a free thread: more threads send them on time.")
	r.Came[1].Waited = 0.68
	assert.Contains(t, Remarks(r)[0], "Half of the calls of gets in the segment from 5 s waited 680 ms or longer for a free thread: more threads send them on time.")
	r.Came[1].Limit = "the store's main thread"
	assert.Contains(t, Remarks(r)[0], "waited 680 ms or longer for a free thread: more threads would not help, as the store's main thread held the run back.")
	r.Came[1].Late = 0.25
	v := Judge(r)
	assert.True(t, has(v, Arrivals))
	assert.Contains(t, v.Reasons[0].Text, "perfbench sent 25 % of the calls of gets in the segment from 5 s too late, not in the 20 ms in which they were due")
	assert.Empty(t, Remarks(r))
}

// Of several workers, the one is named that did not send its calls as asked, even if the others'
// make up for it.
func TestAWorkerThatDoesNotSendAsAskedIsNamed(t *testing.T) {
	r := clean()
	r.Came = []Came{{Track: "puts", Span: 0.01, Asked: 1, Begun: 1.4, Moved: 0.06, Late: 0.06}}
	fine := []Came{{Track: "puts", Span: 0.02, Asked: 1, Begun: 1, Moved: 0.02, Late: 0.02}}
	r.Workers = []Worker{{Number: 1, Host: "a", Came: fine}, {Number: 2, Host: "b", Came: fine}, {Number: 3, Host: "c", Came: fine}}
	assert.Equal(t, Valid, Judge(r).State)
	r.Workers[1].Came = []Came{fine[0], {Track: "gets", Segment: " in the segment from 5 s", Span: 0.02, Asked: 1, Begun: 6, Moved: 0.2, Late: 0.18}}
	v := Judge(r)
	require.True(t, has(v, Arrivals))
	assert.Equal(t, Degraded, v.State)
	assert.Equal(t, "worker 2 (b) sent 18 % of the calls of gets in the segment from 5 s too late, not in the 20 ms in which they were due; leave its machine to perfbench, or lower the rate", v.Reasons[0].Text)
	r.Came[0].Late = 0.12
	assert.Len(t, Judge(r).Reasons, 1, "the sum says nothing more")
	r.Workers[1].Came = nil // it told of too few calls
	v = Judge(r)
	require.True(t, has(v, Arrivals))
	assert.Contains(t, v.Reasons[0].Text, "perfbench sent 12 % of the calls of puts too late")
}

// Where nothing was done while calls failed, the reason begins with that.
func TestErrorsBeginWithWhenNothingWasDone(t *testing.T) {
	r := clean()
	r.Ops[0].Errors = 85811
	r.Outages = []Outage{{From: 2, To: 3.5}, {From: 10, To: 24}}
	v := Judge(r)
	require.True(t, has(v, Errors))
	assert.Regexp(t, `^nothing was done from 00:10 to 00:24 of the run and 1 more time \(15\.5 s of .*\), and 85 811 calls failed, `, v.Reasons[0].Text)
	r.Outages = r.Outages[1:]
	assert.Regexp(t, `^nothing was done from 00:10 to 00:24 of the run \(14 s of .*\), and 85 811 calls failed, `, Judge(r).Reasons[0].Text)
}

// Where more threads do no more, no advice asks for them.
func TestAdviceAboutThreadsKnowsWhatHeldTheRunBack(t *testing.T) {
	cures := func(limit string) (out []string) {
		r := clean()
		r.Ops[0].Unstarted = r.Ops[0].Count
		r.Limit, r.GrowthLimit = limit, limit
		out = append(out, unstarted(&r).cure)
		r.Observed.Growth = &Growth{FromS: 22, ToS: 30, From: 0.9, To: 1560, Rate: 2500}
		return append(out, backlog(&r).cure)
	}
	assert.Equal(t, []string{"; lower --rate, or raise --threads", "; lower --rate, or raise --threads if the store has room"}, cures(""))
	assert.Equal(t, []string{"; lower the rate", "; lower the rate"}, cures("the store's main thread"))

	r := clean()
	r.Segments = []Segment{{From: 0, To: 10, Limit: "locks"}, {From: 10, To: 20, Ops: []Op{r.Ops[0]}}}
	r.Segments[1].Ops[0].Unstarted = r.Ops[0].Count
	assert.Contains(t, unstarted(&r).cure, "raise --threads", "that of the segment in which calls were not sent")
	r.Segments[1].Limit = "locks"
	assert.Equal(t, "; lower the rate", unstarted(&r).cure)
}

// A backlog that a fault of the run itself began is not laid to a run that does not keep up; one that
// grew long after, or before, is.
func TestABacklogOfAFaultNamesIt(t *testing.T) {
	told := func(from, to float64) string {
		r := clean()
		r.Observed.Growth = &Growth{FromS: 22, ToS: 30, From: 0.9, To: 1560, Rate: 2500}
		r.Broken = []Broken{{Name: "kill:primary", From: from, To: to}}
		_, text := said(backlog(&r))
		return text
	}
	for _, f := range [][2]float64{{15, 18}, {20, 30}, {25, 26}} {
		assert.Contains(t, told(f[0], f[1]), "after the fault kill:primary from "+plot.Clock(f[0])+" to ")
		assert.NotContains(t, told(f[0], f[1]), "raise --threads")
	}
	for _, f := range [][2]float64{{1, 2}, {30, 32}} {
		assert.Contains(t, told(f[0], f[1]), "the run does not keep up with 2.5k units per second")
	}
}

// What fails later, as the storing of an event that was published, fails beside a whole that went on:
// its share counts where it is the larger one.
func TestPartsThatFailWhileTheirWholeGoesOnAreTold(t *testing.T) {
	r := clean()
	r.Ops = []Op{{Name: "events.publish", Counts: true, Count: 4000, Calls: 2}, {Name: "events.durable", Within: true, Errors: 1}, {Name: "drain.durable", Errors: 1}}
	v := Judge(r)
	assert.Equal(t, Invalid, v.State)
	assert.Contains(t, v.Reasons[0].Text, "1 call failed, 100 % of those that are parts of operations")
	r.Ops = []Op{{Name: "saga.saga", Counts: true, Count: 900, Calls: 900, Errors: 100}, {Name: "saga.call", Within: true, Calls: 5000, Errors: 106}}
	assert.Contains(t, Judge(r).Reasons[0].Text, "100 calls failed, 10 % of all")
}

// A server that was started again is told, and of what a verification that passed speaks then.
func TestServersThatWereStartedAgainAreTold(t *testing.T) {
	t.Parallel()
	r := clean()
	r.Verified = Passed
	r.Restarts = []Restart{{AtS: 12}}
	assert.Equal(t, []string{"The server was started again at about 00:12 of the run."}, Remarks(r))
	r.Restarts[0].Kept = new(int64(0))
	assert.Equal(t, []string{"The server was started again at about 00:12 of the run and came back empty, so the verification speaks only of what was written since."}, Remarks(r))
	assert.Equal(t, "the server was started again and came back empty", r.Restarts[0].Note())
	assert.Equal(t, "server restarted, came back empty", BriefNote(r.Restarts[0].Note()))
	assert.Empty(t, BriefNote("the cache was started again"))
	assert.Equal(t, Valid, Judge(r).State)
	r.Restarts[0].Kept = new(int64(1200))
	assert.Equal(t, []string{"The server was started again at about 00:12 of the run and came back with 1\u2009200 records, so the verification speaks only of what it came back with and of what was written since."}, Remarks(r))
	late := r
	late.Restarts = []Restart{{AtS: r.Seconds + 5, Kept: new(int64(1200))}}
	assert.Equal(t, []string{"The server was started again after the end of the run and came back with 1\u2009200 records, so the verification speaks only of what it came back with."}, Remarks(late))
	r.Verified = Failed
	assert.Equal(t, []string{"The server was started again at about 00:12 of the run and came back with 1\u2009200 records."}, Remarks(r), "it says itself what is missing")
	r.Restarts = []Restart{{AtS: 12, Node: "a:1"}, {AtS: 14, Node: "b:1"}, {AtS: 16, Node: "a:1"}, {AtS: 18, Node: "a:1"}, {AtS: 20, Node: "a:1"}}
	assert.Equal(t, []string{"The server a:1 was started again at about 00:12 of the run; the server b:1 was started again at about 00:14 of the run; the server a:1 was started again at about 00:16 of the run; and 2 more times."}, Remarks(r))
}

// What timed out has a time, and what failed in another way has none.
func TestWhetherPercentilesHaveFailedCalls(t *testing.T) {
	for want, timedOut := range map[string]int64{
		"500 calls failed, 50 % of all, and failed calls are in no percentile":           0,
		"500 calls failed, 50 % of all, and percentiles include them, as they timed out": 500,
		"500 calls failed, 50 % of all, and of these, percentiles include only timeouts": 100,
	} {
		r := clean()
		r.Ops = r.Ops[:1]
		r.Ops[0].Calls, r.Ops[0].Errors, r.Ops[0].TimedOut = 500+timedOut, 500, timedOut
		v := Judge(r)
		require.True(t, has(v, Errors))
		assert.Equal(t, want, v.Reasons[0].What)
	}
}

// Which operations have too few calls is known as soon as their phase is over.
func TestAnOperationThatIsOverHasItsSamples(t *testing.T) {
	r := clean()
	r.Going = true
	r.Ops[0].Calls, r.Ops[0].Response.Count = 382, 382
	require.False(t, has(Judge(r), Samples), "more are to come")
	r.Ops[0].Over = true
	v := Judge(r)
	require.True(t, has(v, Samples))
	assert.Contains(t, v.Reasons[0].Text, " 382, and it needs 1000")
}
