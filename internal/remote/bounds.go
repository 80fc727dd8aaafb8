package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// What anybody may send: of each message so many bytes, and of each field what a worker or a
// watcher can have meant. What is beyond that is not taken, and never kept.
const (
	mostHello  = 4 << 10
	mostReady  = 16 << 10
	mostWord   = 1 << 10 // short messages: ended, parted, the question of a watcher, answers
	mostText   = 4 << 10 // why something went wrong
	mostName   = 256     // a host, a version, an id
	mostDoubts = 64
	// mostContacts is the most connections that a client opens in a second.
	mostContacts = 1 << 40
	mostTracks   = 1 << 16
	mostCPUs     = 1 << 20
	// mostConnections is how many may be connected with the coordinator's own NATS.
	mostConnections = MaxWorkers + mostWatchers + 100
	// mostOffers is how many runs are told of that are at one place.
	mostOffers = 1000
	// mostWatchers is how many may watch a run at a time.
	mostWatchers = 500
	// mostParted is how many say that they know of no other run.
	mostParted = 4 * MaxWorkers
	// mostApart is how far the coordinator's clocks and those of a worker may run apart while
	// the run goes, as where a machine was suspended.
	mostApart = time.Minute
	// mostSkew is how far from the moment agreed on a worker may say that it began.
	mostSkew = 24 * time.Hour
)

// decoded reads a message of at most that many bytes.
func decoded(data []byte, most int, into any) error {
	if len(data) > most {
		return fmt.Errorf("it has %d bytes, and %d are the most", len(data), most)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return errors.New("it cannot be read")
	}
	return nil
}

// named says whether a text can be a name: printable, without spaces that are not plain, and
// not too long.
func named(text string) bool {
	return len(text) <= mostName && workload.PlainText(text, mostName) == text
}

// check says what is wrong with what a worker says of itself.
func (h *Hello) check() error {
	switch {
	case !isID(h.ID):
		return errors.New("its id is none")
	case !named(h.Host):
		return errors.New("the name of its machine is none")
	case !named(h.Version):
		return errors.New("its version is none")
	case len(h.Machine) > mostText || len(h.Born) > mostText:
		return errors.New("what it says of its process is too long")
	case h.CPUs < 0 || h.CPUs > mostCPUs:
		return fmt.Errorf("it says that it has %d processors", h.CPUs)
	case h.PID < 0:
		return fmt.Errorf("it says that it is process %d", h.PID)
	case h.ZoneS < -86400 || h.ZoneS > 86400:
		return fmt.Errorf("it says that it is %d s ahead of UTC", h.ZoneS)
	case h.Now <= 0 || h.Now > math.MaxInt64/2:
		return errors.New("it says a time that no clock shows")
	}
	return nil
}

// isID says whether a text can be the id of a worker: what newID makes.
func isID(text string) bool {
	if text == "" || len(text) > 64 {
		return false
	}
	for _, r := range text {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return true
}

// sane reports whether a machine can be so: no figure is negative or without end.
func sane(c *verdict.Company) bool {
	list := []float64{c.Cores, c.CPU, c.Store, c.Busy, c.StoreQueue, c.Pressure, c.Under}
	if c.Queue != nil {
		list = append(list, *c.Queue)
	}
	return !slices.ContainsFunc(list, func(v float64) bool { return !(v >= 0 && v <= mostCPUs) }) // not a number is neither
}

// check says what is wrong with a report, in a run that began then (zero: it has not) and has
// that many tracks, and puts what it says in words into plain ones.
func (r *Report) check(began time.Time, tracks int) error {
	switch {
	case r.N <= 0:
		return fmt.Errorf("it is number %d of its messages", r.N)
	case r.Began < 0 || r.Began > math.MaxInt64/2:
		return errors.New("it says that it began when no clock can have shown")
	case r.Began != 0 && !began.IsZero() && time.Duration(r.Began-began.UnixNano()).Abs() > mostSkew:
		return errors.New("it says that it began on another day")
	case !(r.Cores >= 0 && r.Cores <= mostCPUs): // not a number is neither
		return fmt.Errorf("it used %v processors", r.Cores)
	case r.Connections < 0 || r.Redirects < 0 || max(r.Connections, r.Redirects) > mostContacts:
		return fmt.Errorf("it opened %d connections in a second, and was sent to another server %d times", r.Connections, r.Redirects)
	case r.Company != nil && !sane(r.Company):
		return errors.New("what it saw of its machine cannot be")
	case len(r.Doubts) > mostDoubts:
		return fmt.Errorf("it has %d reasons to doubt its figures", len(r.Doubts))
	}
	r.Err = workload.PlainText(r.Err, mostText)
	if c := r.Company; c != nil {
		c.Machine = workload.PlainText(c.Machine, mostName)
	}
	for i := range r.Doubts {
		r.Doubts[i] = workload.PlainText(r.Doubts[i], mostText)
	}
	p := r.Part
	if p == nil {
		return nil
	}
	ahead := mostApart
	if began.IsZero() { // this process does not know when
		ahead = mostSkew
	}
	if most := (workload.Elapsed(began) + ahead) / time.Second; p.T > int(most) {
		return fmt.Errorf("it has figures of second %d, which is to come", p.T)
	}
	if len(p.Gauges) > tracks || len(p.Spans) > tracks {
		return errors.New("it has figures of tracks that this run does not have")
	}
	for _, g := range p.Gauges {
		if g.Backlog < 0 {
			return errors.New("it has a negative backlog")
		}
	}
	for i := range p.Messages {
		m := &p.Messages[i]
		m.Text = workload.PlainText(m.Text, mostText)
	}
	return nil
}

// isInbox says whether a subject is one that answers go to, and none on which anything is
// commanded.
func isInbox(subject string) bool {
	return strings.HasPrefix(subject, inboxes) && !strings.ContainsAny(subject, "*> \t\r\n")
}

// inboxes is how subjects begin that answers go to.
const inboxes = "_INBOX."
