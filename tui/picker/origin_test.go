package picker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
)

// What was set the last time is there when the form is drawn first, and stays; it is told from
// what is set now.
func TestTheFirstPictureOfTheFormStays(t *testing.T) {
	b := tuitest.NewDemo()
	b.Kept = map[string]request.Request{"ingestion": {
		Target: "redis://10.0.0.7:6379", Tags: []string{"goal=learn"},
		Values: workload.Values{"threads": {Name: "threads", Text: "24", Origin: workload.OriginFlag}},
	}}
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	before := map[string]string{}
	for _, r := range p.form.rows {
		before[r.name] = r.text + " " + r.from
	}
	assert.Equal(t, "redis://10.0.0.7:6379 remembered", before["target"])

	a := tuitest.NewStage(t, p, 120, 40)
	for name, is := range before {
		r := rowNamed(t, p, name)
		assert.Equal(t, is, r.text+" "+r.from, "%s has changed when the plan was known", name)
	}
	assert.Equal(t, remembered, rowNamed(t, p, "threads").from)
	assert.Equal(t, remembered, rowNamed(t, p, "tag").from)
	goTo(t, a, p, "threads")
	a.Send(t, "right")
	assert.Equal(t, setHere, rowNamed(t, p, "threads").from)
	a.Send(t, "U")
	assert.Equal(t, remembered, rowNamed(t, p, "threads").from)
}

// What a plan says keeps its file and line in the form until it is changed there, and what is
// wrong with it says them, too.
func TestWhatAPlanSaysKeepsItsLine(t *testing.T) {
	b := tuitest.NewDemo()
	req := request.Request{Profile: "ingestion", Target: "redis://h", From: map[string]string{"target": "plan p.yaml:2"}, Values: workload.Values{
		"threads": {Name: "threads", Text: "8", Origin: workload.OriginPlan, Where: "p.yaml:4"},
	}}
	b.Kept = map[string]request.Request{"ingestion": {Target: "redis://h"}} // the same as the last time
	a, p := pickWith(t, b, req, 120, 40)
	p.drafts.recalled["ingestion"] = b.Kept["ingestion"]
	a.Send(t, a.Frame())
	p.form.rebuild()
	assert.Equal(t, "plan p.yaml:2", rowNamed(t, p, "target").from)
	assert.Equal(t, "plan p.yaml:4", rowNamed(t, p, "threads").from)
	goTo(t, a, p, "threads")
	a.Send(t, "right")
	assert.Equal(t, setHere, rowNamed(t, p, "threads").from)
	goTo(t, a, p, "target")
	a.Send(t, "enter", "ctrl+u")
	a.Type(t, "redis://other")
	a.Send(t, "enter")
	assert.Equal(t, setHere, rowNamed(t, p, "target").from)
}

// Each fault is shown with its own advice below it.
func TestEachFaultHasItsAdvice(t *testing.T) {
	b := tuitest.NewDemo()
	a, p := pick(t, b, 120, 40)
	var all []error
	for i := range 3 {
		all = append(all, fault.Input(fmt.Errorf("there is no knob or parameter %q", fmt.Sprint("n", i)), fmt.Sprint("did you mean m", i, "?")))
	}
	p.forecast.err = errors.Join(all...)
	var lines []string
	for _, l := range slices.Concat(p.forecast.parts(a.Env.Styles, p.list.selected(), request.Request{}, 80)...) {
		lines = append(lines, strings.TrimSpace(ansi.Strip(l)))
	}
	require.Len(t, lines, 6)
	assert.Equal(t, []string{`there is no knob or parameter "n0"`, "did you mean m0?", `there is no knob or parameter "n1"`, "did you mean m1?"}, lines[:4])
}

// A fault is one of the row that it names, by the name of the form, and one without a name is of no row.
func TestAFaultIsOfOneRow(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	for _, c := range []struct {
		err  error
		rows []string
		said string
	}{
		{errors.New("the model is odd"), nil, "the model is odd"},
		{fault.Field("warmup", fault.Input(errors.New(`warmup: "x" is not a duration`), "30s")), []string{"warmup"}, `warm-up: "x" is not a duration`},
	} {
		p.forecast.err = c.err
		p.form.rebuild()
		var wrong []string
		for _, r := range p.form.rows {
			if len(r.wrong) > 0 {
				wrong = append(wrong, r.name)
			}
		}
		assert.Equal(t, c.rows, wrong)
		assert.Equal(t, c.said, ansi.Strip(p.forecast.instead(a.Env.Styles, p.list.selected(), 80)[0]))
	}
}

// Offers for which there is no room are counted, and no click takes the count for one of them.
func TestOffersWithoutRoomAreCounted(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "target")
	a.Send(t, "enter")
	p.form.edit.offers = []string{"a", "b", "c", "d", "e", "f", "g"}
	shown := func() string { return ansi.Strip(strings.Join(p.form.draw(a.Env.Styles, 80, 40, true), "\n")) }
	assert.Contains(t, shown(), "… 2 more")
	at := slices.Index(p.form.lines, -2-4)
	require.Positive(t, at, "the fifth offer")
	assert.Equal(t, -1, p.form.lines[at+1])
	p.form.edit.pick = 6
	assert.NotContains(t, shown(), "… ")
}

// Where lab is typed, the servers of the lab are offered.
func TestTheLabIsOffered(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "target")
	a.Send(t, "enter", "ctrl+u")
	a.Type(t, "lab:po")
	assert.Equal(t, []string{"lab:postgres"}, p.form.edit.offers)
	a.Send(t, "tab")
	assert.Equal(t, "lab:postgres", p.form.edit.field.Value())
}

// A plan keeps its target while other profiles are looked at, and what its store answered is not said of theirs.
func TestAPlanKeepsItsTargetAmongProfiles(t *testing.T) {
	b := tuitest.NewDemo()
	req := request.Request{Profile: "ingestion", Target: "redis://h", From: map[string]string{"target": "plan p.yaml:2"}}
	a, p := pickWith(t, b, req, 120, 40)
	p.ping.done, p.ping.target, p.ping.pong.Info.Name = true, "redis://h", "redis of the plan"
	assert.Contains(t, a.Picture(t), "redis of the plan")
	a.Send(t, "down")
	assert.NotEqual(t, "redis://h", rowNamed(t, p, "target").text)
	assert.NotContains(t, a.Picture(t), "redis of the plan")
	a.Send(t, "up")
	assert.Equal(t, []string{"redis://h", "plan p.yaml:2"}, []string{rowNamed(t, p, "target").text, rowNamed(t, p, "target").from})
}
