// Package remote lets several processes carry out one run together, over NATS with
// JetStream: a coordinator that has the server in itself or uses the user's, and workers
// that join it. It knows who is there, how far clocks are apart, and when all begin; it
// carries what they measured and what they are told. What a run is and does, it does not
// know.
//
//	runs      anybody → coordinators  which runs are there?
//	join      worker → coordinator    hello, answered by a place, the order, or a refusal
//	ready     worker → coordinator    that it could prepare what the order says, or why not
//	clock     coordinator → worker    what time is it?
//	start     coordinator → worker    begin at that moment of your clock
//	control   coordinator → worker    settings for a segment, a phase to begin, or the end
//	beat      worker → coordinator    I am here, twice a second
//	ended     worker → coordinator    I am through with that track
//	members   anybody → coordinator   who has joined?
//	parted    worker → coordinator    I know that no other run follows this one
//	watch     anybody → coordinator   how is the run? At its end it tells them by itself
//	figures   worker → coordinator    a finished second, by JetStream: numbered, kept, once
package remote

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// Protocol is the version of what coordinator and workers say to each other.
const Protocol = 4

// MaxMessage is the largest message in bytes that a coordinator takes.
const MaxMessage = 8 << 20

// DefaultListen is where a coordinator listens that is told nothing else: for workers of
// the same machine.
const DefaultListen = "127.0.0.1:4222"

// MaxWorkers is how many workers a run may have.
const MaxWorkers = workload.MaxProcesses

// subjectRuns is where every coordinator tells of its run; all other subjects begin with
// that, as several runs may share one NATS.
const subjectRuns = "perfbench.runs"

// subjects are those of one run, whose id they hold.
type subjects struct{ join, ready, beat, figures, worker, ended, members, watch, parted, stream string }

func subjectsOf(run string) subjects {
	run = strings.NewReplacer(".", "_", " ", "_", "*", "_", ">", "_", "/", "_", "\\", "_").Replace(run)
	of := func(what string) string { return "perfbench." + run + "." + what }
	return subjects{
		join: of("join"), ready: of("ready"), beat: of("beat"), figures: of("figures"), worker: of("worker"), ended: of("ended"),
		members: of("members"), watch: of("watch"), parted: of("parted"), stream: "PERFBENCH_" + run,
	}
}

// offer is what a coordinator tells of its run.
type offer struct {
	Run string `json:"run"`
	// Coordinator tells it from others, whose runs may have the same id.
	Coordinator string `json:"coordinator"`
	// Full says that it has all of its workers, Over that it has ended.
	Full bool `json:"full"`
	Over bool `json:"over,omitempty"`
	// Line is that of the runs which the run is one of, empty: it is the only one; More says
	// that others of them follow.
	Line string `json:"line,omitempty"`
	More bool   `json:"more,omitempty"`
	// Key is what the coordinator is known by.
	Key string `json:"key"`
	// Shared says that other coordinators may be at the same place.
	Shared bool `json:"shared,omitempty"`
}

// beatEvery is how often a worker says that it is there; silent is after how long without
// it is taken for stalled, or for gone when its connection is.
const (
	beatEvery = 500 * time.Millisecond
	silent    = 2 * time.Second
)

// DefaultPatience is how long a silent worker is waited for, dead or not: from its
// connection alone nobody can tell whether it will be back.
const DefaultPatience = 15 * time.Second

// DefaultAbsence is how long a worker goes on without a coordinator: a person has to notice
// that it died, and start another in its place.
const DefaultAbsence = 5 * time.Minute

// Hello is what a worker says of itself.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	// ID tells connections of one worker from those of others.
	ID   string `json:"id"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Machine and Born tell its process from others with that number; empty: it does not know.
	Machine string `json:"machine,omitempty"`
	Born    string `json:"born,omitempty"`
	CPUs    int    `json:"cpus"`
	// ZoneS is how many seconds its local time is ahead of UTC.
	ZoneS int `json:"zone_s"`
	// Now is what its clock says, in Unix ns.
	Now int64 `json:"now"`
}

// Slot is a coordinator's answer to a worker that asks to join: which part of the run is its own, or
// why it gets none.
type Slot struct {
	// Refused says in a sentence why the worker cannot take part; empty: it can. Full says
	// that it is because others were here first.
	Refused string `json:"refused,omitempty"`
	Full    bool   `json:"full,omitempty"`
	// Index is the number of the worker, from 0, Of how many there are.
	Index int `json:"index"`
	Of    int `json:"of"`
	// Run is the id of the run, Order what it is.
	Run   string `json:"run"`
	Order []byte `json:"order"`
	// Coordinator tells it from others, whose runs may have the same id, and Key is what it
	// signs with.
	Coordinator string `json:"coordinator"`
	Key         string `json:"key"`
	// Line is that of the runs which the run is one of, empty: it is the only one; More says
	// that others of them follow.
	Line string `json:"line,omitempty"`
	More bool   `json:"more,omitempty"`
}

type ready struct {
	Err string `json:"err,omitempty"`
}

type start struct {
	// At is a moment of the worker's clock, in Unix ns.
	At int64 `json:"at"`
}

// Command is what a coordinator tells a worker while the run goes.
type Command struct {
	// Settings are those of the worker's tracks from now on, in the segment of that number.
	Settings []workload.Settings `json:"settings,omitempty"`
	Segment  int                 `json:"segment"`
	// Told is when they were first told, by the clock of the coordinator in Unix ns.
	Told int64 `json:"told,omitempty"`
	// Phase may begin: all that it waits for has ended at all workers.
	Phase string `json:"phase,omitempty"`
	// Stop is why the run ends, when it does.
	Stop string `json:"stop,omitempty"`
	// Handoff is a part of another to take on, Release that nobody needs the worker any more
	// that has stayed for such.
	Handoff *Handoff `json:"handoff,omitempty"`
	Release bool     `json:"release,omitempty"`
}

// ended says that a worker is through with a track, and when, since measurement began.
type ended struct {
	Track int           `json:"track"`
	At    time.Duration `json:"at_ns"`
}

// applied is the answer to a Command: when it came into force, by the worker's clock.
type applied struct {
	At int64 `json:"at"`
}

// Report is one message of figures.
type Report struct {
	// N counts the worker's messages from 1.
	N int64
	// Began is when the worker's run did, by its clock in Unix ns.
	Began int64
	// Part is a finished second; nil in the last message.
	Part *measure.Increment
	// Cores is how many processors the worker used since its last report.
	Cores float64
	// Connections is how many connections the worker's client opened since the last report, Redirects
	// how often a server sent it to another.
	Connections, Redirects int64
	// Ledger is what the profile tells of its work since the last message.
	Ledger []byte
	// Idle says that the worker is through with its part, and stays until all are.
	Idle bool
	// Over says that it is the last message, Err why the run ended if it failed.
	Over bool
	Err  string
	// Doubts are the reasons for which the worker's own figures are not valid.
	Doubts []string
	// Company is what the worker saw of its machine; nil if it could not tell.
	Company *verdict.Company
}

// Check says what is wrong with where a coordinator is to listen. Beyond this machine it
// wants a token and TLS.
func Check(listen string, token, tls bool) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "" {
		return fault.Field("listen", fault.Input(fmt.Errorf("listen: %q is not HOST:PORT", listen), "write it like 127.0.0.1:4222, or :4222 for workers of this machine"))
	}
	if Loopback(host) {
		return nil
	}
	const fix = "add --token-file FILE and --tls-self-signed (or --tls-cert and --tls-key), or listen on 127.0.0.1 for workers of this machine"
	switch {
	case !token && !tls:
		err = errors.New("without a token and TLS anybody could join, and read what is sent")
	case !token:
		err = errors.New("without a token anybody could join")
	case !tls:
		err = errors.New("without TLS anybody on the way could read what is sent, the token included")
	default:
		return nil
	}
	return fault.Field("listen", fault.Input(fmt.Errorf("listen: %s can be reached from other machines: %w", listen, err), fix))
}

// Loopback says whether a host is this machine as seen from itself alone. No host is, too.
func Loopback(host string) bool {
	if host == "" || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
