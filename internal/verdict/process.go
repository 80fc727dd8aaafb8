package verdict

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
)

// Process is what was observed of one process of this machine during measurement.
// Unknown values are absent; Note says why.
type Process struct {
	// Role is "perfbench", or the driver of the store that the process serves.
	Role string `json:"role"`
	PID  int    `json:"pid,omitempty"`
	// Name is what the process calls itself.
	Name string `json:"name,omitempty"`
	Note string `json:"note,omitempty"`
	// Elsewhere means that it runs on another machine.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// CPU is the average number of processors in use, CPUMost that in the busiest
	// second.
	CPU     *float64 `json:"cpu_cores,omitempty"`
	CPUMost *float64 `json:"cpu_cores_most,omitempty"`
	// Queue is how many of its threads waited for a processor, on average.
	Queue *float64 `json:"run_queue_cores,omitempty"`
	// RSSMost is the most resident memory, in bytes.
	RSSMost *int64 `json:"rss_bytes_most,omitempty"`
	// NetIn and NetOut are in bytes per second.
	NetIn  *float64 `json:"net_in_per_s,omitempty"`
	NetOut *float64 `json:"net_out_per_s,omitempty"`
}

// Noted is something that took a server a long time, as logged by the server itself.
type Noted struct {
	// AtS is the second of measurement in which it was logged.
	AtS int `json:"at_s"`
	// Node is the address of the server; empty if the store has only one.
	Node string `json:"node,omitempty"`
	// Event is what took long if it was not a command, in the words of the server;
	// otherwise Command is the name of the command.
	Event   string `json:"event,omitempty"`
	Command string `json:"command,omitempty"`
	// Key is the pattern of the command's first key, if it is a key of the run.
	Key   string  `json:"key,omitempty"`
	ForMs float64 `json:"for_ms"`
}

// Restart is a server of the store whose process was another one than before: it was started again.
type Restart struct {
	// AtS is about when, in seconds of measurement.
	AtS float64 `json:"at_s"`
	// Node is the address of the server; empty if the store has only one.
	Node string `json:"node,omitempty"`
	// Kept is how many records it had then; absent if nobody knows.
	Kept *int64 `json:"kept,omitempty"`
}

// Note says what happened, without when.
func (r Restart) Note() string { return r.words("") }

func (r Restart) words(when string) string {
	text := strings.TrimSpace("the server "+r.Node) + " was started again" + when
	switch {
	case r.Kept == nil:
	case *r.Kept == 0:
		text += " and came back empty"
	default:
		text += " and came back with " + units.Many(*r.Kept, "record")
	}
	return text
}

// after reports whether it was after the end of a run, as while that was verified.
func (r Restart) after(run Record) bool { return !run.Going && run.Seconds > 0 && r.AtS >= run.Seconds }

// BriefNote is a Note in fewer words, "server restarted, came back empty"; "" for any other text.
func BriefNote(note string) string {
	server, then, ok := strings.Cut(note, " was started again")
	if !ok || !strings.HasPrefix(server, "the server") {
		return ""
	}
	return strings.TrimPrefix(server, "the ") + " restarted" + strings.Replace(then, " and ", ", ", 1)
}

// nearRestart is how many seconds from when nothing was done a restart is noticed at most that is the reason for it.
const nearRestart = 5

// restartIn returns the first restart of a server in outages of a run; nil if there was none.
func (r *Record) restartIn(outages []Outage) *Restart {
	for i := range r.Restarts {
		x := &r.Restarts[i]
		if !x.after(*r) && slices.ContainsFunc(outages, func(o Outage) bool { return x.AtS > o.From-nearRestart && x.AtS < o.To+nearRestart }) {
			return x
		}
	}
	return nil
}

// mostRestarts is how many restarts are told one by one.
const mostRestarts = 3

// Restarted says when servers were started again, and of what the verification speaks then; "" if
// none was. It is the first of Remarks.
func Restarted(r Record) string {
	var all []string
	for _, x := range r.Restarts[:min(len(r.Restarts), mostRestarts)] {
		when := " at about " + plot.At(x.AtS)
		if x.after(r) {
			when = " after the end of the run"
		}
		all = append(all, x.words(when))
	}
	if len(all) == 0 {
		return ""
	}
	text := strings.Join(all, "; ")
	if more := len(r.Restarts) - len(all); more > 0 {
		text += "; and " + units.Plural(int64(more), "more time")
	}
	switch last := r.Restarts[len(r.Restarts)-1]; {
	case r.Verified != Passed || last.Kept == nil:
	case last.after(r):
		text += ", so the verification speaks only of what it came back with"
	case *last.Kept == 0:
		text += ", so the verification speaks only of what was written since"
	default:
		text += ", so the verification speaks only of what it came back with and of what was written since"
	}
	return units.Capital(text) + "."
}

// Used is what the store's server says it used during measurement. What it does not
// report is absent.
type Used struct {
	// CPU is in seconds of processor time.
	CPU *float64 `json:"cpu_s,omitempty"`
	// Calls is how many calls of applications it counted, Kind what they are:
	// "scripts", "statements".
	Calls *int64 `json:"calls,omitempty"`
	Kind  string `json:"calls_kind,omitempty"`
	// Asked is how many requests of any kind it counted, those of others included. Made is how
	// many the run must have made by its figures: one for each call that worked, of the operations
	// that count.
	Asked *int64 `json:"requests,omitempty"`
	Made  *int64 `json:"requests_made,omitempty"`
	// Received and Sent are in bytes.
	Received *int64 `json:"received_bytes,omitempty"`
	Sent     *int64 `json:"sent_bytes,omitempty"`
	// Memory is the size of the data at the end, in bytes.
	Memory *int64 `json:"memory_bytes,omitempty"`
}
