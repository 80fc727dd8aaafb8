// Package report defines the facts of a group run, and PadoGrid's result text, which is
// made from them.
package report

import (
	"time"

	"github.com/perfbench/perfbench/profiles/group/model"
)

// Facts is the profile's record in run.json: what the document needs beyond what every
// run has. See docs/group.md.
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
	Loaded int64            `json:"entries_loaded,omitempty"`
	Near   *model.NearFacts `json:"near_cache,omitempty"`
}

// TrackFacts is the outcome of one group. Counts and times are of the measured part.
type TrackFacts struct {
	Group string `json:"group"`
	// Track is the name of the group's track, which differs from the group's if that is
	// listed twice.
	Track      string `json:"track"`
	Step       int    `json:"step"`
	Concurrent string `json:"concurrent_groups"`
	Comment    string `json:"comment"`
	Operations string `json:"operations"`
	// Total to Threads are as configured.
	Total     int64 `json:"total_invocation_count"`
	PerThread int64 `json:"invocations_per_thread"`
	Threads   int   `json:"thread_count"`
	// Started and Stopped are the start of the first invocation, and the end of the
	// last one or of the pause after it; absent before there were any.
	Started *time.Time `json:"started,omitempty"`
	Stopped *time.Time `json:"stopped,omitempty"`
	// Acknowledged and Failed count invocations; a failed one ended with the operation
	// that failed.
	Acknowledged int64 `json:"invocations"`
	Failed       int64 `json:"invocations_failed"`
	// Resumed counts the invocations, per run, that were left out because an earlier
	// run had carried them out: resume=on.
	Resumed int64 `json:"invocations_resumed,omitempty"`
	// ThreadMS is the time of each thread's loops over all runs, in milliseconds,
	// thread 1 first.
	ThreadMS       []int64   `json:"thread_ms"`
	ThreadsChanged bool      `json:"threads_changed,omitempty"`
	Ops            []OpFacts `json:"operations_done"`
}

// OpFacts is the outcome of one operation of a group.
type OpFacts struct {
	Op        string `json:"op"`
	Structure string `json:"structure"`
	Name      string `json:"name"`
	TestCase  string `json:"test_case"`
	// Object is the definition, or the Northwind table, whose objects it works with.
	Object string `json:"object,omitempty"`
	// Calls counts operations, Failed those that failed; Entries were written or found,
	// Misses requested but not found.
	Calls   int64 `json:"calls"`
	Failed  int64 `json:"failed"`
	Entries int64 `json:"entries"`
	Misses  int64 `json:"misses"`
}

// TopicFacts is the fate of the messages of one topic, warm-up included.
type TopicFacts struct {
	Topic       string `json:"topic"`
	Kind        string `json:"kind"`
	Subscribers int    `json:"subscribers"`
	// Published counts messages that the store accepted. Owed counts the resulting
	// deliveries: each message once for each receiver that was listening when it was
	// sent. Lost counts those that had not arrived three seconds after the end.
	Published int64 `json:"published"`
	Owed      int64 `json:"deliveries_owed"`
	Delivered int64 `json:"delivered"`
	Lost      int64 `json:"lost"`
	// Untimed counts messages that arrived while their receiver was too busy to record
	// when; Strange counts messages that were not ours.
	Untimed int64 `json:"untimed,omitempty"`
	Strange int64 `json:"strange,omitempty"`
}
