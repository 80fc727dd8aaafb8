package profiletest

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"encoding/gob"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// said is what a worker says and no worker of perfbench would: on figures or ended.
type said struct {
	on   string
	data []byte
}

// garbage lists messages that no worker sends, by what is wrong with them.
func garbage(t *testing.T) map[string]said {
	report := func(r remote.Report, rows ...measure.IncrementRow) said { return said{"figures", packed(t, r, rows)} }
	return map[string]said{
		"braces":              {"figures", []byte("{}")},
		"nothing":             {"figures", nil},
		"the end of time":     report(remote.Report{N: 1, Part: &measure.Increment{T: math.MaxInt64 - 1}}),
		"segments":            report(remote.Report{N: 1, Part: &measure.Increment{}}, measure.IncrementRow{Segment: math.MaxUint16}),
		"operations":          report(remote.Report{N: 1, Part: &measure.Increment{}}, measure.IncrementRow{Op: math.MaxUint16}),
		"negative failures":   report(remote.Report{N: 1, Part: &measure.Increment{Classes: []measure.IncrementClass{{Count: -1}}}}),
		"a ledger of braces":  report(remote.Report{N: 1, Ledger: []byte("{}x")}),
		"a ledger of a bomb":  report(remote.Report{N: 1, Ledger: bytes.Repeat([]byte{0xff}, 1<<20)}),
		"a track without end": {"ended", []byte(`{"track":4611686018427387904,"at_ns":1}`)},
		"no end":              {"ended", []byte("[]")},
	}
}

// packed is a report as workers send it.
func packed(t *testing.T, r remote.Report, rows []measure.IncrementRow) []byte {
	t.Helper()
	ledger := r.Ledger
	r.Ledger = nil
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	require.NoError(t, err)
	enc := gob.NewEncoder(w)
	require.NoError(t, enc.Encode(struct {
		Report remote.Report
		Rows   int
	}{r, len(rows)}))
	require.NoError(t, enc.Encode(ledger))
	for _, row := range rows {
		require.NoError(t, enc.Encode(row))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// Hostile carries out whole runs of two workers, one of which joins as it should and then
// sends what no worker sends. The other does its part; the run names who sent it and is
// INVALID because of its workers, and says nothing bad of the store. load, if there is any, are
// values of a run before it that loads what it reads: what a lost worker was to load, no other
// does, so that reads of it fail.
func (c Case) Hostile(t *testing.T, load ...string) {
	t.Helper()
	for name, g := range garbage(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.With("namespace=hostile-" + strings.ReplaceAll(name, " ", "-"))
			if len(load) > 0 {
				l, err := c.With(load...).Start(t.Context(), t)
				require.NoError(t, err)
				require.NoError(t, Finish(t, l).Err)
			}
			var all sync.WaitGroup
			l := c.begin(t, 2, func(url string) {
				all.Go(func() { intrude(t, url, g) })
				all.Go(func() { assert.NoError(t, join(t, c.Profile, url)) })
			})
			o := Finish(t, l)
			all.Wait()
			require.NoError(t, o.Err, "%+v", o.Run.Errors)
			assert.Zero(t, fault.CodeOf(o.Err))
			assert.Equal(t, verdict.Invalid, o.Run.Verdict.State)
			assert.Contains(t, o.Run.Verdict.Causes, string(verdict.Workers))
			assert.NotContains(t, o.Run.Verdict.Causes, string(verdict.Verification))
			assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
			assert.Contains(t, strings.Join(o.Run.Verdict.Reasons, "\n"), "(intruder): what it sent cannot be used: ")
			assert.Empty(t, o.Run.Errors)
			assert.Positive(t, l.Snapshot().Done, "the other goes on")
		})
	}
}

// intrude joins a run by hand and sends g when that begins.
func intrude(t *testing.T, url string, g said) {
	id := rand.Text()
	nc, err := nats.Connect(url, nats.Name("worker "+id), nats.CustomInboxPrefix("_INBOX."+id))
	if !assert.NoError(t, err) {
		return
	}
	t.Cleanup(nc.Close)
	ask := func(subject string, data []byte, into any) bool {
		m, err := nc.Request(subject, data, time.Minute)
		return assert.NoError(t, err, subject) && (into == nil || assert.NoError(t, json.Unmarshal(m.Data, into), subject))
	}
	var offer struct{ Run string }
	if !ask("perfbench.runs", nil, &offer) {
		return
	}
	on := "perfbench." + offer.Run + "."
	_, zone := time.Now().Zone()
	hello, err := json.Marshal(remote.Hello{Protocol: remote.Protocol, Version: version, ID: id, Host: "intruder", ZoneS: zone, Now: time.Now().UnixNano()})
	assert.NoError(t, err)
	var slot remote.Slot
	if !ask(on+"join."+id, hello, &slot) || !assert.Empty(t, slot.Refused) {
		return
	}
	mine := "." + id + "." + strconv.Itoa(slot.Index)
	begun := make(chan struct{}, 1)
	_, err = nc.Subscribe(on+"worker."+id+".>", func(m *nats.Msg) {
		_ = m.Respond(strconv.AppendInt(nil, time.Now().UnixNano(), 10)) // which is an answer to all that is asked
		if strings.HasSuffix(m.Subject, ".start") {
			begun <- struct{}{}
		}
	})
	if !assert.NoError(t, err) || !ask(on+"ready"+mine, []byte("{}"), nil) {
		return
	}
	<-begun
	assert.NoError(t, nc.Publish(on+g.on+mine, g.data))
	assert.NoError(t, nc.Flush())
}
