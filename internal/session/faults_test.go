package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestFaultsInATimetable(t *testing.T) {
	table, warnings, err := ParseTimetable([]string{"2s..3s:fault=delay:5ms,fault=loss:1%", "3s..4s:fault=delay:6ms", "5s:fault=pause"}, knobPlan(), 0)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	var s workload.Settings
	at := func(moment time.Duration) workload.Faults {
		s.Faults = workload.Faults{}
		for _, a := range table {
			if kind, ok := workload.FaultSetting(a.Knob.Name); ok && a.After <= moment {
				s.Faults[kind] = a.Value
			}
		}
		return s.Faults
	}
	assert.Equal(t, workload.Faults{0: 5, 2: 1}, at(2*time.Second))
	assert.Equal(t, workload.Faults{0: 6}, at(3*time.Second), "what ends comes before what begins")
	assert.Equal(t, workload.Faults{}, at(4*time.Second))
	assert.Equal(t, workload.Faults{6: 1}, at(time.Hour))
	assert.True(t, HasFaults(table))
	lines := TimetableInWords(table, knobPlan())
	require.Len(t, lines, 4)
	assert.Contains(t, lines[0], "from 2s to 3s: a fault, delay of 5ms:")
	assert.Contains(t, lines[3], "from 5s to the end: a fault, pause:")

	for text, want := range map[string]string{
		"1s..4s:fault=delay:5ms 2s..3s:fault=delay:1ms": "has the same fault then",
		"1s:fault=delay:5ms 2s..3s:fault=delay:1ms":     "has the same fault then",
		"1s..2s:fault=dely:5ms":                         `"dely" is not one of`,
		"1s..2s:fault=delay:5ms..6ms":                   "is not a time",
	} {
		_, _, err := ParseTimetable(strings.Fields(text), knobPlan(), 0)
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), text)
	}
}

func TestFaultsWhereTheyCannotBe(t *testing.T) {
	table := func(text string) []engine.At {
		out, _, err := ParseTimetable([]string{text}, knobPlan(), 0)
		require.NoError(t, err)
		return out
	}
	nobody := func() Servers { return nil }
	slow, narrow := table("1s..2s:fault=delay:5ms"), table("1s..2s:fault=bandwidth:1KiB/s")
	require.ErrorContains(t, breakable(slow, &store.Driver{Title: "SQLite"}, nobody), "SQLite has none")
	require.NoError(t, breakable(slow, &store.Driver{Breaks: store.BreaksCalls}, nobody))
	require.ErrorContains(t, breakable(narrow, &store.Driver{Breaks: store.BreaksCalls}, nobody), "bandwidth needs a connection")
	require.NoError(t, breakable(narrow, &store.Driver{Breaks: store.BreaksConnections}, nobody))
	require.NoError(t, breakable(table("1s:threads=2"), &store.Driver{}, nobody))
	assert.Nil(t, newProxy(table("1s:threads=2")), "there is no proxy without a fault")
	assert.NotNil(t, newProxy(slow))

	dead := table("1s..2s:fault=kill:primary")
	require.ErrorContains(t, breakable(dead, &store.Driver{}, nobody), "kill:primary is for servers of the lab on this machine")
	require.NoError(t, breakable(dead, &store.Driver{}, func() Servers { return &fakeServers{} }))
	require.ErrorContains(t, breakable(table("1s..2s:fault=pause:replica"), &store.Driver{}, func() Servers { return &fakeServers{} }), "no replica")
	cut := table("1s..2s:fault=power-cut:primary")
	require.NoError(t, breakable(cut, &store.Driver{}, func() Servers { return &fakeServers{} }))
	require.ErrorContains(t, breakable(cut, &store.Driver{}, func() Servers { return &fakeServers{fails: errors.New("no such file system")} }), "no such file system")
	assert.Nil(t, newProxy(dead), "the connections are left alone")
	assert.True(t, HasFaults(dead))
}

// fakeServers have one server, and note what happens to it.
type fakeServers struct {
	primary string
	did     []string
	fails   error
}

func (s *fakeServers) do(what, name string) error {
	s.did = append(s.did, what+" "+name)
	return s.fails
}

func (s *fakeServers) Check(role string) error {
	if role != "primary" {
		return errors.New("no " + role)
	}
	return nil
}
func (s *fakeServers) Find(context.Context, string) (string, error) { return s.primary, nil }
func (s *fakeServers) Kill(_ context.Context, name string) error    { return s.do("kill", name) }
func (s *fakeServers) Restart(_ context.Context, name string) error { return s.do("restart", name) }
func (s *fakeServers) CanCut() error                                { return s.fails }
func (s *fakeServers) Cut(_ context.Context, name string) error     { return s.do("cut", name) }
func (s *fakeServers) Pause(_ context.Context, name string) error   { return s.do("pause", name) }
func (s *fakeServers) Resume(_ context.Context, name string) error  { return s.do("resume", name) }

func faultsOf(t *testing.T, texts ...string) (f workload.Faults) {
	t.Helper()
	for _, text := range texts {
		kind, v, err := workload.ParseFault(text)
		require.NoError(t, err)
		f[kind] = v
	}
	return f
}

// What is broken is put right on the server that was broken, whoever has its role by then.
func TestServersAreBrokenAndPutRight(t *testing.T) {
	s := &fakeServers{primary: "master"}
	var marks []string
	b := &breaker{servers: s, mark: func(note string) { marks = append(marks, note) }}
	b.set(faultsOf(t, "delay:5ms", "kill:primary"))
	assert.Empty(t, b.wait())
	s.primary = "replica"
	b.set(faultsOf(t, "delay:5ms", "kill:primary")) // as it is
	b.set(faultsOf(t, "pause:primary"))
	b.set(faultsOf(t, "pause"))
	b.set(workload.Faults{})
	assert.Empty(t, b.wait())
	b.set(faultsOf(t, "power-cut:primary"))
	b.set(workload.Faults{})
	assert.Empty(t, b.wait())
	assert.Equal(t, []string{"kill master", "restart master", "pause replica", "resume replica", "cut replica", "restart replica"}, s.did)
	require.Len(t, marks, 6)
	assert.Equal(t, "the primary (replica) lost its power", marks[4])
	assert.Equal(t, "the primary (master) was killed", marks[0])
	assert.Contains(t, marks[1], "the primary (master) is up again, after ")
	assert.Equal(t, "the primary (replica) goes on", marks[3])
}

// A fault that did not happen, and what could not be put right, are said.
func TestWhatCannotBeBrokenOrPutRightIsSaid(t *testing.T) {
	s := &fakeServers{primary: "primary"}
	var marks []string
	b := &breaker{servers: s, mark: func(note string) { marks = append(marks, note) }}
	b.set(faultsOf(t, "kill:primary"))
	assert.Empty(t, b.wait())
	s.fails = errors.New("no such process")
	b.set(faultsOf(t, "pause:primary"))
	b.set(workload.Faults{})
	assert.ElementsMatch(t, []string{
		"the primary could not be started again: no such process; perfbench lab heal tries once more.",
		"The fault pause:primary did not happen: no such process.",
	}, b.wait())
	assert.Len(t, marks, 3)
	var none *breaker
	none.set(faultsOf(t, "kill:primary"))
	assert.Empty(t, none.wait())
}
