package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// What a report says of an earlier run has the floor of the runs that were kept, as compare
// has.
func TestAReportKnowsHowMuchRunsDiffer(t *testing.T) {
	at := func(minute int, threads int) *rundir.Folder {
		f := rundirtest.NewFolder(time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC), "redis", threads, int64(minute)+1)
		f.Run.ID = fmt.Sprintf("run-%d", minute)
		f.Run.MeasuredS = 2
		return f
	}
	f := at(30, 16)
	assert.Empty(t, Against(f))
	f.Against = at(29, 16)
	without := Against(f)
	assert.Contains(t, without, "cannot show what is chance")
	for i := range 5 {
		f.Kept = append(f.Kept, at(i, 16))
	}
	with := Against(f)
	assert.Contains(t, with, "what 5 earlier runs of the same plan on this machine differed by")
	assert.NotContains(t, with, "cannot show what is chance")
	assert.Equal(t, 1, strings.Count(with, "One run a side"))
}

// Headline and table of a run whose settings were changed say that they mix its segments.
func TestFiguresThatMixSegmentsSaySo(t *testing.T) {
	f := rundirtest.NewFolder(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), "redis", 16, 1)
	f.Run.Segments, f.Run.Changes = f.Run.Segments[:1], nil
	for _, figure := range RunPage(f).Figures {
		assert.NotContains(t, figure.Note, "segments", figure.Name)
	}
	f.Run.Segments = append(f.Run.Segments, f.Run.Segments[0])
	p := RunPage(f)
	marked := 0
	for _, figure := range p.Figures {
		if strings.Contains(figure.Note, "mixes segments 0 and 1") {
			marked++
		}
	}
	assert.GreaterOrEqual(t, marked, 4, "%+v", p.Figures)
	assert.Contains(t, strings.Join(operations(&f.Run).Text, " "), "mix segments 0 and 1")
}

// A verification after a server came back empty passed for what was written since, and its figure says so.
func TestAVerificationOfWhatCameBackIsDoubtful(t *testing.T) {
	f := fixture(t)
	f.Run.Verification.State = workload.Passed
	verification := func() Figure {
		list := RunPage(f).Figures
		return list[len(list)-1]
	}
	assert.Equal(t, Figure{Name: "verification", Value: "passed", Tone: Good}, verification())
	none := int64(0)
	f.Run.Observed = &verdict.Observed{Restarts: []verdict.Restart{{AtS: 3, Kept: &none}}}
	assert.Equal(t, Figure{Name: "verification", Value: "passed", Tone: Doubtful, Note: "server restarted, came back empty"}, verification())
}
