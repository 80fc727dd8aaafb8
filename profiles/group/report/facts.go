// Package report is what is told of a group run: its facts, and PadoGrid's result text
// made of them.
package report

import "time"

// Facts is the profile's record in run.json: what the document needs beyond what
// every run has. docs/group.md describes it.
type Facts struct {
	Schema int `json:"schema"`
	// Zone is the abbreviation of the local time zone in which the document writes
	// its times.
	Zone       string       `json:"zone"`
	Flavour    string       `json:"flavour"`
	Database   bool         `json:"database,omitempty"`
	TestCount  int64        `json:"test_count"`
	IntervalMS int64        `json:"test_interval_ms"`
	Groups     []TrackFacts `json:"groups"`
	Topics     []TopicFacts `json:"topics,omitempty"`
	// Loaded is how many entries were written before the run, for it to read.
	Loaded int64      `json:"entries_loaded,omitempty"`
	Near   *NearFacts `json:"near_cache,omitempty"`
}

// TrackFacts is what became of one group. Counts and times are of the measured part.
type TrackFacts struct {
	Group string `json:"group"`
	// Track is the group's name in the figures: that of a group listed twice differs.
	Track      string `json:"track"`
	Step       int    `json:"step"`
	Concurrent string `json:"concurrent_groups"`
	Comment    string `json:"comment"`
	Operations string `json:"operations"`
	// Total to Threads are as configured.
	Total     int64 `json:"total_invocation_count"`
	PerThread int64 `json:"invocations_per_thread"`
	Threads   int   `json:"thread_count"`
	// Started and Stopped are the start of the first invocation and the end of the
	// last one, or of the pause after it; absent before there were any.
	Started *time.Time `json:"started,omitempty"`
	Stopped *time.Time `json:"stopped,omitempty"`
	// Acknowledged and Failed are invocations; those that failed ended at the
	// operation that did.
	Acknowledged int64 `json:"invocations"`
	Failed       int64 `json:"invocations_failed"`
	// Resumed are those of each run that were left out because an earlier run had
	// carried them out: resume=on.
	Resumed int64 `json:"invocations_resumed,omitempty"`
	// ThreadMS is the time of each thread's loops over all runs, thread 1 first.
	ThreadMS       []int64   `json:"thread_ms"`
	ThreadsChanged bool      `json:"threads_changed,omitempty"`
	Ops            []OpFacts `json:"operations_done"`
}

// OpFacts is what became of one operation of a group.
type OpFacts struct {
	Op        string `json:"op"`
	Structure string `json:"structure"`
	Name      string `json:"name"`
	TestCase  string `json:"test_case"`
	// Object is the definition, or the table of Northwind, whose objects it works with.
	Object string `json:"object,omitempty"`
	// Calls are operations, Failed those of them that failed; Entries were written or
	// found, Misses asked for and not there.
	Calls   int64 `json:"calls"`
	Failed  int64 `json:"failed"`
	Entries int64 `json:"entries"`
	Misses  int64 `json:"misses"`
}

// TopicFacts is what became of the messages of one topic, warm-up included.
type TopicFacts struct {
	Topic       string `json:"topic"`
	Kind        string `json:"kind"`
	Subscribers int    `json:"subscribers"`
	// Published are messages that the store took. Owed are the deliveries that follow:
	// each message once for each receiver that listened when it was sent. Lost are
	// those that did not arrive until three seconds after the end.
	Published int64 `json:"published"`
	Owed      int64 `json:"deliveries_owed"`
	Delivered int64 `json:"delivered"`
	Lost      int64 `json:"lost"`
	// Untimed arrived while their receiver was too busy to record when; Strange were
	// not ours.
	Untimed int64 `json:"untimed,omitempty"`
	Strange int64 `json:"strange,omitempty"`
}

// NearFacts is what client-side caching did.
type NearFacts struct {
	Hits          int64 `json:"hits"`
	Misses        int64 `json:"misses"`
	Invalidations int64 `json:"invalidations"`
	// HitRate is hits of all reads. HitNS and MissNS are the mean times of an entry
	// that came from memory and from the server, Improvement is how many times as long
	// the reads would have taken without. All are of Coherence, whose client does not
	// tell of invalidations.
	HitRate     float64 `json:"hit_rate,omitempty"`
	HitNS       int64   `json:"hit_ns,omitempty"`
	MissNS      int64   `json:"miss_ns,omitempty"`
	Improvement float64 `json:"improvement,omitempty"`
}
