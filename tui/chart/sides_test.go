package chart

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/widget"
)

func TestWhatIsSampledStandsInTheColumnOfWhomItIsOf(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor)
	samples := []rundir.Sample{
		{Source: rundir.OfClient, Name: "cpu_cores", Value: 1.5},
		{Source: rundir.OfStore, Node: "a:1", Name: "cpu_cores", Value: 0.25},
		{Source: rundir.OfStore, Node: "b:1", Name: "cpu_cores", Value: 0.5},
		{Source: rundir.OfStore, Name: "dirty_bytes", Value: 2048},
		{Source: rundir.OfStore, Name: "net_hops_bytes_per_s", Value: 1024},
		{Source: rundir.OfStore, Name: "commits_per_s", Value: 7},
	}
	var course Course
	for t := range 3 {
		for i := range samples {
			samples[i].T, samples[i].Value = t, samples[i].Value*2
		}
		course.Add(samples)
		course.Add(samples) // a second counts once
	}
	head, lines := Sides(s, LastSecond, samples, &course, "redis", rundir.Verdict{}, 80, false)
	assert.Equal(t, []string{"the", "last", "second", "perfbench", "redis", "machine"}, strings.Fields(head))
	text := ansi.Strip(strings.Join(lines, "\n"))
	assert.Contains(t, strings.Join(strings.Fields(text), " "), "CPU used 12 cores 6 cores –", "nodes add up")
	for _, want := range []string{"commits", "56/s", "dirty bytes", "16 KiB", "net hops bytes", "8 KiB/s", " ▁▃█"} {
		assert.Contains(t, text, want)
	}
	assert.Regexp(t, `store's own counters +now +last \d+ s +highest`, text)
	assert.Regexp(t, `commits +56/s .*█ +56/s`, text, "how high the course goes")
	_, lines = Sides(s, "mean of the run", samples, &course, "redis", rundir.Verdict{}, 80, false)
	assert.Regexp(t, `commits +56/s ▁{9,11}▃{9,11}█{9,11} +56/s`, ansi.Strip(strings.Join(lines, "\n")), "of a run, all of it")
	assert.NotContains(t, text, "received", "what nobody tells has no line")
	assert.NotContains(t, text, "bottleneck")
}

func TestPerfbenchIsTheBottleneckOnlyForReasonsOfItsOwn(t *testing.T) {
	causes, reason := widget.Ours(rundir.Verdict{Causes: []string{"errors", "changes", "backlog"}, Reasons: []string{"x", "y", "z"}})
	assert.Empty(t, causes)
	assert.Empty(t, reason)
	causes, reason = widget.Ours(rundir.Verdict{Causes: []string{"errors", "cpu", "pool"}, Reasons: []string{"some failed", "perfbench used it all", "calls waited"}})
	assert.Equal(t, []string{"cpu", "pool"}, causes)
	assert.Equal(t, "perfbench used it all", reason)
}
