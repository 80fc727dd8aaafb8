package remote

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
)

// kept is a message as the stream brings it.
type kept struct {
	jetstream.Msg

	subject string
	data    []byte
}

func (k kept) Subject() string { return k.subject }
func (k kept) Data() []byte    { return k.data }

// alone is a coordinator without a NATS, one of whose workers has joined, in a run of one
// operation that has just begun.
func alone(t testing.TB) *Coordinator {
	now := func() int64 { return 0 }
	col := measure.NewCollector(measure.Config{Tracks: []string{"work"}, Ops: []measure.Operation{{Track: "work", Op: "put"}}, OpTrack: []int{0}, Source: at(now)})
	go col.Run()
	t.Cleanup(func() { col.Close() })
	key, err := NewKey()
	require.NoError(t, err)
	c := newCoordinator(Options{
		Run: "run", Workers: 2, Version: "1", Tracks: 1, Key: key, Show: func() []byte { return nil },
		Received: func(_ int, r *Report) error {
			if r.Part == nil {
				return nil
			}
			if r.Part.Segments() > 1 {
				return errors.New("figures of a segment that the run does not have")
			}
			return col.Merge(*r.Part)
		},
	})
	c.Commands.life, c.Commands.end = context.WithCancel(t.Context())
	t.Cleanup(c.Commands.end)
	c.line.hold() // who watches is told that, and asks nothing of a NATS
	c.Roster.at = time.Now()
	c.Roster.add(newMember(Hello{ID: "one", Host: "there"}))
	return c
}

// at is a source of measurements whose clock says that.
type at func() int64

func (a at) Now() int64               { return a() }
func (a at) Gauges([]measure.Gauge)   {}
func (a at) Control() measure.Control { return measure.Control{} }

// said has a coordinator take a message of that kind from its worker, as NATS brings it.
func (c *Coordinator) said(kind int, data []byte) {
	handlers := []func(*nats.Msg){c.join, c.ready, c.liveness.beat, c.intake.ended, c.line.part, c.watched, c.offer}
	subjects := []string{c.Connection.on.join, c.Connection.on.ready, c.Connection.on.beat, c.Connection.on.ended, c.Connection.on.parted, c.Connection.on.watch, subjectRuns, c.Connection.on.figures}
	subject := subjects[kind%len(subjects)] + c.sender(kind%len(subjects))
	if kind%len(subjects) < len(handlers) {
		handlers[kind%len(subjects)](&nats.Msg{Subject: subject, Data: data})
		return
	}
	c.intake.figures(kept{subject: subject, data: data})
}

// squeezed are values as reports hold them.
func squeezed(t testing.TB, all ...any) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	require.NoError(t, err)
	enc := gob.NewEncoder(w)
	for _, v := range all {
		require.NoError(t, enc.Encode(v))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// hostile are reports that nobody measures, by what is wrong with them.
func hostile(t testing.TB) map[string][]byte {
	part := func(p measure.Increment) []byte { return (&Report{N: 1, Part: &p}).pack().Bytes() }
	return map[string][]byte{
		"nothing":                         {},
		"another language":                []byte("{}"),
		"a second that never comes":       part(measure.Increment{T: math.MaxInt64 - 1}),
		"a second that is to come":        part(measure.Increment{T: 1000}),
		"before any warm-up":              part(measure.Increment{T: math.MinInt64}),
		"segments that there are none":    part(measure.Increment{Rows: []measure.IncrementRow{{Segment: 65535}}}),
		"an operation that there is none": part(measure.Increment{Rows: []measure.IncrementRow{{Op: 7}}}),
		"negative failures":               part(measure.Increment{Classes: []measure.IncrementClass{{Count: -1}}}),
		"a negative backlog":              part(measure.Increment{Gauges: []measure.Gauge{{Backlog: -1}}}),
		"tracks that there are none":      part(measure.Increment{Gauges: make([]measure.Gauge, 2)}),
		"no number":                       (&Report{}).pack().Bytes(),
		"processors without end":          (&Report{N: 1, Cores: math.Inf(1)}).pack().Bytes(),
		"connections that were unmade":    (&Report{N: 1, Connections: -1}).pack().Bytes(),
		"processors that are none":        (&Report{N: 1, Cores: math.NaN()}).pack().Bytes(),
		"began on another day":            (&Report{N: 1, Began: 1}).pack().Bytes(),
		"a machine that cannot be":        (&Report{N: 1, Company: &verdict.Company{Busy: math.NaN()}}).pack().Bytes(),
		"doubts without end":              (&Report{N: 1, Doubts: make([]string, 1000)}).pack().Bytes(),
		"rows that do not come":           squeezed(t, sheet{Report: Report{N: 1, Part: &measure.Increment{}}, Rows: 60000}, []byte(nil)),
		"rows without end":                squeezed(t, sheet{Report: Report{N: 1, Part: &measure.Increment{}}, Rows: 1 << 40}, []byte(nil)),
		"lists without end":               squeezed(t, sheet{Report: Report{N: 1, Doubts: make([]string, 10<<20)}}, []byte(nil)),
		"a bomb":                          squeezed(t, sheet{Report: Report{N: 1}}, make([]byte, 2*mostUnpacked)),
	}
}

// Whatever a worker sends that nobody measures, it is named, what it says later does not count,
// and it is not waited for.
func TestAWorkerThatSendsWhatCannotBeUsedIsNamed(t *testing.T) {
	for name, data := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			c := alone(t)
			c.said(7, data)
			m := c.Roster.Members()[0]
			assert.True(t, m.Unusable)
			assert.Equal(t, Ended, m.State)
			assert.Contains(t, m.Err, "what it sent cannot be used: ")
			c.said(7, (&Report{N: 9, Part: &measure.Increment{}}).pack().Bytes())
			assert.Equal(t, m.Last, c.Roster.Members()[0].Last, "nothing more of it counts")
		})
	}
	c := alone(t)
	c.Roster.at = time.Time{}
	c.said(7, (&Report{N: 1, Part: &measure.Increment{T: 1 << 20}}).pack().Bytes())
	assert.True(t, c.Roster.Members()[0].Unusable, "of a run that has not begun")
	c = alone(t)
	c.said(7, (&Report{N: 1, Part: &measure.Increment{}, Doubts: []string{"slow\x1b[2J"}, Over: true}).pack().Bytes())
	assert.False(t, c.Roster.Members()[0].Unusable, "%+v", c.Roster.Members()[0])
	assert.Equal(t, []string{"slow[2J"}, c.Roster.Members()[0].Doubts)
}

// A report arrives as it was sent.
func TestAReportArrivesAsItWasSent(t *testing.T) {
	r := Report{N: 3, Began: 4, Part: &measure.Increment{T: 5, Rows: []measure.IncrementRow{{Op: 1}, {Op: 2, Segment: 1}}}, Ledger: []byte("ledger"), Cores: 1.5, Connections: 7, Redirects: 8, Idle: true, Over: true, Err: "why", Doubts: []string{"slow"}, Company: &verdict.Company{Machine: "a", Busy: 2, Queue: new(0.5)}}
	var came Report
	require.NoError(t, came.unpack(r.pack().Bytes()))
	assert.Equal(t, r, came)
	require.NoError(t, came.unpack((&Report{N: 1}).pack().Bytes()))
	assert.Equal(t, int64(1), came.N)
}

// Watchers without end, and questions that are no place to answer to, take no memory.
func TestWhoWatchesIsCounted(t *testing.T) {
	c := alone(t)
	for i := range 3000 {
		c.said(5, []byte(inboxes+strings.Repeat("x", i%2*1000)+time.Duration(i).String()))
	}
	assert.Len(t, c.audience.watchers, mostWatchers)
	for inbox := range c.audience.watchers {
		assert.LessOrEqual(t, len(inbox), mostName)
	}
}

// No message of any kind ends the coordinator, or has it keep more than is due to anybody; and
// who sends what cannot be used is named.
func FuzzMessages(f *testing.F) {
	for _, data := range hostile(f) {
		f.Add(7, data)
	}
	hello, err := json.Marshal(Hello{Protocol: Protocol, Version: "1", ID: "two", Now: time.Now().UnixNano()})
	require.NoError(f, err)
	for kind := range 8 {
		for _, data := range []string{string(hello), "{}", "", "[]", `{"track":-1,"at_ns":9223372036854775807}`, `{"track":4611686018427387904}`, `{"err":"\u001b[2J"}`, inboxes + "x", `{"now":-9223372036854775808,"id":"x"}`, `{"id":"x","now":1,"zone_s":9223372036854775807}`} {
			f.Add(kind, []byte(data))
		}
		f.Add(kind, bytes.Repeat([]byte("x"), 500_000))
	}
	f.Add(7, (&Report{N: 1, Part: &measure.Increment{Rows: []measure.IncrementRow{{}}}, Over: true}).pack().Bytes())
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		c := alone(t)
		for range 3 {
			c.said(max(kind, -kind, 0), data)
		}
		c.Roster.mu.Lock()
		defer c.Roster.mu.Unlock()
		assert.LessOrEqual(t, len(c.Roster.members), 2)
		assert.LessOrEqual(t, len(c.audience.watchers), 1)
		assert.LessOrEqual(t, len(c.line.parted), 1)
		for _, w := range c.Roster.members {
			assert.LessOrEqual(t, len(w.ends), 1)
			assert.LessOrEqual(t, len(w.Hello.Host)+len(w.Hello.Version)+len(w.Hello.ID), 3*mostName)
			assert.GreaterOrEqual(t, w.count, int64(0))
			assert.LessOrEqual(t, len(w.err), mostText+len("…"))
			assert.Equal(t, w.standing.now == Refused, strings.HasPrefix(w.err, "what it sent cannot be used: "))
		}
	})
}

// sender is how the subject of a message of that kind ends.
func (c *Coordinator) sender(kind int) string {
	switch kind {
	case 0:
		return ".two"
	case 4, 5, 6:
		return ""
	}
	return ".one.0"
}

// No message of any kind to a worker ends it, though its coordinator has signed it: what that
// says is read within its bounds, and what it does not mean is passed over.
func FuzzOrders(f *testing.F) {
	for kind := range 3 {
		for _, data := range []string{"{}", "", "[]", "null", `{"at":9223372036854775807}`, `{"settings":[{"Threads":-1}],"segment":-9223372036854775808}`, `{"stop":"\u001b[2J"}`, `{"handoff":{"index":-1,"part":9223372036854775807}}`, `{"run":"run","of":0,"index":-1}`, `{"run":"run","of":2,"index":1,"refused":"\u001b[2J"}`} {
			f.Add(kind, []byte(data))
		}
	}
	key, err := NewKey()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		w := &Worker{Orders: newOrders(), id: "one", key: key.Public(), Place: Slot{Run: "run"}}
		told := 0
		w.Orders.OnCommand(func(Command) { told++ })
		of := func(to, what string) *nats.Msg {
			return &nats.Msg{Data: data, Header: key.seal("run", to, what, "1", data)}
		}
		switch kind % 3 {
		case 0:
			for range 3 {
				w.control(of(w.me(), "control"))
			}
			assert.LessOrEqual(t, told, 1, "it is heeded once")
		case 1:
			w.start(of(w.me(), "start"))
			assert.LessOrEqual(t, len(w.Orders.begin), 1)
		default:
			if decoded(data, MaxMessage, &w.Place) != nil {
				return
			}
			w.Place.Key = key.Public()
			if w.know(JoinOptions{}, "run", of(w.id, "place")) != nil {
				return
			}
			assert.NotContains(t, w.Place.Refused, "\x1b")
			if w.Place.Refused == "" {
				assert.True(t, w.Place.Index >= 0 && w.Place.Index < w.Place.Of && w.Place.Of <= MaxWorkers)
			}
		}
	})
}
