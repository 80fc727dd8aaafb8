package session

import (
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
	slow, narrow := table("1s..2s:fault=delay:5ms"), table("1s..2s:fault=bandwidth:1KiB/s")
	require.ErrorContains(t, breakable(slow, &store.Driver{Title: "SQLite"}), "SQLite has none")
	require.NoError(t, breakable(slow, &store.Driver{Breaks: store.BreaksCalls}))
	require.ErrorContains(t, breakable(narrow, &store.Driver{Breaks: store.BreaksCalls}), "bandwidth needs a connection")
	require.NoError(t, breakable(narrow, &store.Driver{Breaks: store.BreaksConnections}))
	require.NoError(t, breakable(table("1s:threads=2"), &store.Driver{}))
	assert.Nil(t, newProxy(table("1s:threads=2")), "there is no proxy without a fault")
	assert.NotNil(t, newProxy(slow))
}
