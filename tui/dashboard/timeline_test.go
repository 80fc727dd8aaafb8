package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
)

// A mark at 15 s is where 00:15 would be.
func TestAMarkIsNotWrittenOverAMoment(t *testing.T) {
	_, d, run := live(t, 15*time.Second, 80, 24)
	a := d.now.axis(60)
	assert.Contains(t, d.charts.timeline(a, 78, 8), " 00:15 ")
	run.Mark("half-time")
	d.refresh()
	line := d.charts.timeline(a, 78, 8)
	assert.NotContains(t, line, "15", line)
	assert.Contains(t, line, "◆")
	assert.Contains(t, line, " 00:30 ")
}

// The run that is shown has its folder, too, and is not compared with itself.
func TestARunIsComparedWithThoseThatHaveEnded(t *testing.T) {
	var c Chooser
	c.Offer([]rundir.Run{{ID: "now", Profile: "p", EndedBy: rundir.StillRunning}, {ID: "before", Profile: "p"}, {ID: "other", Profile: "q"}}, "p", "redis")
	assert.Len(t, c.runs, 1)
	assert.Equal(t, "before", c.runs[0].ID)
}
