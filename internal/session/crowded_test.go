package session_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
)

// A timetable whose changes come closer than segments may be says so, before the run
// and in its report.
func TestChangesThatShareASegmentAreSaid(t *testing.T) {
	plan := prepare(t, env(t), asked(t)).Plan
	every := func(n int, d time.Duration) []string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("%s:threads=%d", time.Duration(i)*d, 2+i%7))
		}
		return out
	}
	for _, c := range []struct {
		name     string
		table    []string
		duration time.Duration
		want     string
	}{
		{"15,000 in 4.5 s", every(15_000, 300*time.Microsecond), 5 * time.Second, "at: 14999 of the 15000 moments of the timetable come less than 250 ms after the one before and share its segment: it opens 1"},
		{"two too close", []string{"1s:threads=2", "1100ms:threads=3", "2s:threads=4"}, 0, "at: 1 of the 3 moments of the timetable come less than 250 ms after the one before and share its segment: it opens 2"},
		{"a quarter of a second is enough", every(9, 250*time.Millisecond), 0, ""},
		{"several at one moment are one", []string{"1s:threads=2,payload=20", "1s:rate=9"}, 0, ""},
		{"more segments than a run has", every(5000, time.Second), 0, "at: a run has at most 4096 segments; the last 905 moments of the timetable share one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, warnings, err := session.ParseTimetable(c.table, plan, c.duration)
			require.NoError(t, err)
			if c.want == "" {
				assert.Empty(t, warnings)
				return
			}
			assert.Equal(t, []string{c.want}, warnings)
		})
	}
	_, _, err := session.ParseTimetable(every(20_001, time.Second), plan, 0)
	assert.ErrorContains(t, err, "at: the timetable has 20001 changes, more than the 20000 that it may have")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))

	r := asked(t, "count", "600")
	r.Timetable = []string{"1ms:threads=3", "5ms:threads=4"}
	o := carryOut(t, prepare(t, env(t), r))
	assert.Contains(t, o.Run.Remarks(), "at: 1 of the 2 moments of the timetable come less than 250 ms after the one before and share its segment: it opens 1")
}

// The record of a run has no notice of what its timetable would have done after its end.
func TestNoNoticeTellsOfAChangeThatDidNotHappen(t *testing.T) {
	r := asked(t, "count", "600")
	r.Timetable = []string{"0s:payload=20", "1h:threads=4"}
	p := prepare(t, env(t), r)
	for i := range p.Timetable {
		p.Timetable[i].Knob.Keeps = p.Timetable[i].Knob.Name + " keeps"
	}
	p.Warnings = []string{"at 00:00 of the run: payload keeps", "at 1:00:00 of the run: threads keeps"}
	notices := carryOut(t, p).Run.Notices
	assert.Contains(t, notices, p.Warnings[0])
	assert.NotContains(t, notices, p.Warnings[1])
}
