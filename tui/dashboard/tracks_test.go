package dashboard

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
)

// A track of which nothing counts in totals, as its units are others, has a rate all the same.
func TestATrackBesideTheWorkHasARate(t *testing.T) {
	t.Parallel()
	s := &measure.Snapshot{
		Ops:   []measure.Totals{{Operation: measure.Operation{Track: "a", Op: "put"}}, {Operation: measure.Operation{Track: "a", Op: "part"}}, {Operation: measure.Operation{Track: "b", Op: "get"}}, {Operation: measure.Operation{Track: "b", Op: "part"}}},
		Apart: []bool{false, true, true, true}, Within: []bool{false, true, false, true},
	}
	for _, n := range []int64{10, 90, 20, 90} {
		s.Recent = append(s.Recent, []measure.Row{{T: 3, Count: n, Seconds: 1}})
	}
	assert.InDelta(t, 10, trackRate(s, "a", 3), 1e-9)
	assert.InDelta(t, 20, trackRate(s, "b", 3), 1e-9)
}

// Figures are of answered calls where others failed, and name those that timed out, too.
func TestFiguresNameTheCallsThatTheyAreOf(t *testing.T) {
	t.Parallel()
	put := measure.Operation{Track: "a", Op: "put"}
	for want, classes := range map[string][]string{"": {"timeout"}, "of answered calls": {"unreachable"}, "of calls answered or timed out": {"timeout", "unreachable"}} {
		s := &measure.Snapshot{Ops: []measure.Totals{{Operation: put}}}
		for _, c := range classes {
			s.Errors = append(s.Errors, measure.ErrorCount{Operation: put, Class: c, Count: 1})
		}
		sel := &selection{now: &reading{snap: s}, op: -1}
		sel.fig.failed, sel.fig.latency.Count = 1, 9
		assert.Equal(t, want, append(sel.answered(), "")[0])
	}
}
