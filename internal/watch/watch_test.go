package watch

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOwnProcessIsMeasured(t *testing.T) {
	t.Parallel()
	w, err := Own(t.Context())
	require.NoError(t, err)
	assert.Equal(t, os.Getpid(), w.PID())
	assert.NotEmpty(t, w.Name())
	s, err := w.Sample(t.Context())
	require.NoError(t, err)
	assert.Nil(t, s.CPU, "nothing is known of before")
	for s.CPU == nil || *s.CPU == 0 { // until the system has given us a tick of it
		for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		}
		s, err = w.Sample(t.Context())
		require.NoError(t, err)
	}
	assert.Greater(t, *s.RSS, int64(1<<20))
	require.NotNil(t, s.Heap)
	assert.Positive(t, *s.Heap.Used)
	assert.Nil(t, s.Heap.Young)
}

// What goes over connections is on no disk. Beside no other test: those write files.
func TestDisksAreNoConnections(t *testing.T) {
	if !tellsDisk {
		t.Skip("the system does not tell")
	}
	w, err := Own(t.Context())
	require.NoError(t, err)
	began := time.Now()
	_, err = w.Sample(t.Context())
	require.NoError(t, err)
	const much = 64 << 20
	_, near, far := pair(t)
	carry(t, near, far, much)
	s, err := w.Sample(t.Context())
	require.NoError(t, err)
	require.NotNil(t, s.DiskRead)
	assert.Less(t, (*s.DiskRead+*s.DiskWritten)*time.Since(began).Seconds(), much/2.)
}

// Beside no other test: what one of them starts has all of our files open for a moment.
func TestProcessIsFoundByWhereItListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w, err := ByAddr(t.Context(), l.Addr().String())
	require.NoError(t, err)
	assert.Equal(t, os.Getpid(), w.PID())
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	_, err = ByAddr(t.Context(), addr)
	require.EqualError(t, err, "no process that we can see listens at "+addr)
	_, err = ByAddr(t.Context(), "192.0.2.1:9042")
	require.ErrorIs(t, err, ErrElsewhere)
}

func TestEndedProcessIsNoZero(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, cmd.Start())
	w, err := ByPID(t.Context(), cmd.Process.Pid)
	require.NoError(t, err)
	_, err = w.Sample(t.Context())
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	s, err := w.Sample(t.Context())
	require.EqualError(t, err, "it has ended")
	assert.Nil(t, s.RSS)
	_, err = ByPID(t.Context(), cmd.Process.Pid)
	assert.Error(t, err)
}

func TestTrafficCountsBothWays(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	var traffic Traffic
	dial := traffic.Dial(func(context.Context, string, string) (net.Conn, error) { return a, nil })
	c, err := dial(t.Context(), "tcp", "x")
	require.NoError(t, err)
	go func() {
		_, _ = io.ReadFull(b, make([]byte, 5)) // the other side's own test
		_, _ = b.Write([]byte("abc"))
		_ = b.Close()
	}()
	_, err = c.Write([]byte("hello"))
	require.NoError(t, err)
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	assert.Equal(t, "abc", string(got))
	assert.EqualValues(t, 5, traffic.Out())
	assert.EqualValues(t, 3, traffic.In())
	var none *Traffic
	assert.Equal(t, b, none.Conn(b))
}

const agentAnswer = `[{"status":200,"value":{"init":1,"committed":3,"max":536870912,"used":200000000}},
{"status":200,"value":{"java.lang:name=G1 Eden Space,type=MemoryPool":{"Usage":{"used":70,"max":-1}},
 "java.lang:name=G1 Survivor Space,type=MemoryPool":{"Usage":{"used":7,"max":-1}},
 "java.lang:name=G1 Old Gen,type=MemoryPool":{"Usage":{"used":100,"max":536870912}},
 "java.lang:name=Metaspace,type=MemoryPool":{"Usage":{"used":900,"max":-1}}}},
{"status":200,"value":{"java.lang:name=G1 Young Generation,type=GarbageCollector":{"CollectionCount":12,"CollectionTime":340},
 "java.lang:name=G1 Old Generation,type=GarbageCollector":{"CollectionCount":1,"CollectionTime":60}}}]`

func TestAgentOfAJVM(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.JSONEq(t, questions, string(body))
		_, _ = io.WriteString(w, agentAnswer) // the client sees what is missing
	}))
	t.Cleanup(srv.Close)
	h, err := NewJVM(srv.URL).Heap(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 200000000, *h.Used)
	assert.EqualValues(t, 536870912, *h.Limit)
	assert.EqualValues(t, 100, *h.Old)
	assert.EqualValues(t, 77, *h.Young)
	assert.EqualValues(t, 1, *h.OldGCs)
	assert.EqualValues(t, 12, *h.YoungGCs)
	assert.Equal(t, 400*time.Millisecond, *h.GCTime)

	_, err = parseJolokia([]byte(`{"status":404}`))
	require.ErrorContains(t, err, "not a Jolokia agent")
	_, err = parseJolokia([]byte(`[{"status":403,"error":"no"},{"status":200},{"status":200}]`))
	require.ErrorContains(t, err, "the agent answers 403: no")
}

func TestNodetool(t *testing.T) {
	t.Parallel()
	n := &nodetool{}
	const gc = "       Interval (ms) Max GC Elapsed (ms)Total GC Elapsed (ms)Stdev GC Elapsed (ms)   GC Reclaimed (MB)         Collections      Direct Memory Bytes\n" +
		"               1000                  20                  50                   3            123456                   4                 -1\n"
	h, err := n.parse("ID : x\nHeap Memory (MB)       : 100.50 / 512.00\n", gc)
	require.NoError(t, err)
	assert.EqualValues(t, 100.5*(1<<20), *h.Used)
	assert.EqualValues(t, 512<<20, *h.Limit)
	assert.EqualValues(t, 4, *h.YoungGCs)
	assert.Nil(t, h.Old)
	h, err = n.parse("", gc)
	require.NoError(t, err)
	assert.EqualValues(t, 8, *h.YoungGCs, "it counts from zero each time, we do not")
	assert.Equal(t, 100*time.Millisecond, *h.GCTime)
	_, err = n.parse("", "")
	require.Error(t, err)
	_, err = NewJVM("/nonexistent/nodetool -p 7199").Heap(t.Context())
	require.ErrorContains(t, err, "/nonexistent/nodetool sjk mxdump")
}

// beansOfNodetool is what nodetool sjk mxdump prints, shortened.
const beansOfNodetool = `{ "beans" : [ { "name" : "java.lang:name=Metaspace,type=MemoryPool", "Usage" : { "max" : -1, "used" : 55610664 } },
{ "name" : "java.lang:name=G1 Young Generation,type=GarbageCollector", "CollectionCount" : 36, "CollectionTime" : 1021, "LastGcInfo" : null },
{ "name" : "java.lang:name=G1 Eden Space,type=MemoryPool", "Usage" : { "max" : -1, "used" : 196083712 }, "PeakUsage" : { "used" : 1 }, "Name" : "G1 Eden Space" },
{ "name" : "java.lang:name=G1 Old Gen,type=MemoryPool", "Usage" : { "max" : 536870912, "used" : 201425408 } },
{ "name" : "java.lang:type=Memory", "HeapMemoryUsage" : { "max" : 536870912, "used" : 398428408 } },
{ "name" : "java.lang:type=Runtime", "SpecVersion" : "17" },
{ "name" : "java.lang:name=G1 Old Generation,type=GarbageCollector", "CollectionCount" : 0, "CollectionTime" : 0 } ] }`

// fakeNodetool is a nodetool of Cassandra 4 and later, or of an older one that knows
// no sjk.
func fakeNodetool(t *testing.T, beans string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/beans", []byte(beans), 0o600))
	script := "#!/bin/sh\ncase \"$3\" in\nsjk) [ -s " + dir + "/beans ] && exec cat " + dir + "/beans; echo 'nodetool: Found unexpected parameters: [sjk]' >&2; exit 1;;\n" +
		"info) echo 'Heap Memory (MB) : 100.50 / 512.00';;\ngcstats) echo head; echo '1 2 50 3 4 5 -1';;\nesac\n"
	require.NoError(t, os.WriteFile(dir+"/nodetool", []byte(script), 0o700))
	return "sh " + dir + "/nodetool -p 7199"
}

func TestNodetoolTellsGenerationsWhereItKnowsBeans(t *testing.T) {
	t.Parallel()
	j := NewJVM(fakeNodetool(t, beansOfNodetool))
	h, err := j.Heap(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 398428408, *h.Used)
	assert.EqualValues(t, 536870912, *h.Limit)
	assert.EqualValues(t, 201425408, *h.Old)
	assert.EqualValues(t, 196083712, *h.Young)
	assert.EqualValues(t, 36, *h.YoungGCs)
	assert.EqualValues(t, 0, *h.OldGCs)
	assert.Equal(t, 1021*time.Millisecond, *h.GCTime)
	assert.Empty(t, j.Note())

	j = NewJVM(fakeNodetool(t, ""))
	for i := range 2 {
		h, err = j.Heap(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 5*(i+1), *h.YoungGCs)
		assert.Nil(t, h.Old)
		assert.Contains(t, j.Note(), "does not distinguish generations")
	}
	_, err = NewJVM(fakeNodetool(t, "{}")).Heap(t.Context())
	require.ErrorContains(t, err, "has no heap")
	_, err = NewJVM(fakeNodetool(t, "oops")).Heap(t.Context())
	require.ErrorContains(t, err, "read what nodetool prints of the beans: ")
}

// The machine is counted in coarser ticks than a process, and yet uses no less than that.
func TestAMachineUsesNoLessThanItsProcess(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 1.35, *(&MachineUse{CPU: new(1.29)}).atLeast(new(1.35)).CPU, 1e-9)
	assert.InDelta(t, 1.29, *(&MachineUse{CPU: new(1.29)}).atLeast(new(0.4)).CPU, 1e-9)
	assert.Nil(t, (&MachineUse{}).atLeast(new(1.0)).CPU, "it is not known")
	assert.InDelta(t, 1.29, *(&MachineUse{CPU: new(1.29)}).atLeast(nil).CPU, 1e-9)
}
