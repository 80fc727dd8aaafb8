package coherence

import (
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// timeout is how long a call may take unless the target says otherwise. It is the value
// used by the original's client.
const timeout = 5 * time.Second

// usualSessions is the number of sessions unless the target says otherwise. More than four
// gained nothing; one alone achieves half as much.
const usualSessions = 4

// maxValue is the length in bytes of the longest value: as base64 it must fit into a
// gRPC message, of which servers accept 4 MiB.
const maxValue = 3<<20 - 64<<10

// options are what a target says beyond hosts.
type options struct {
	connections int
	dial, read  time.Duration
}

func newOptions(t store.Target, threads int) (options, error) {
	if len(t.Hosts) == 0 {
		return options{}, refuse("no host", "for example coherence://localhost:1408")
	}
	if t.User != "" || t.Password != "" {
		return options{}, refuse("user and password have no meaning: its gRPC proxy asks for none",
			"a proxy knows its clients by their certificates: give cert=FILE and key=FILE")
	}
	if t.Path != "" {
		return options{}, refuse(fmt.Sprintf("/%s names nothing here", t.Path), "leave it out; --namespace stands before the names of caches")
	}
	var o options
	var err1 error
	o.connections, err1 = store.Connections(t)
	times, err2 := store.Timeouts(t)
	if err := errors.Join(err1, err2); err != nil {
		return o, fault.Code(err, fault.CodeInput)
	}
	if times.Write != 0 && times.Read != 0 && times.Write != times.Read {
		return o, refuse("read_timeout and write_timeout differ, and a call has one time-out only", "give one of them")
	}
	if o.connections == 0 {
		o.connections = max(1, min(usualSessions, threads))
	}
	o.dial, o.read = or(times.Dial), or(max(times.Read, times.Write))
	return o, nil
}

func or(d time.Duration) time.Duration {
	if d == 0 {
		return timeout
	}
	return d
}
