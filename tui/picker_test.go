package tui

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// pickApp is the workbench at its picker, everything read.
func pickApp(t testing.TB, b *fakeBench, o Options, w, h int) (*testApp, *picker) {
	t.Helper()
	o.RunParams = demoOptions().RunParams
	a := newTestApp(t, b, o)
	a.env.Now = testDay.Add(12 * time.Hour)
	p, ok := a.top().(*picker)
	require.True(t, ok)
	send(t, a, tea.WindowSizeMsg{Width: w, Height: h})
	perform(t, a, p.Start(a.env))
	return a, p
}

// typeText presses the letters of a text.
func typeText(t testing.TB, a *testApp, text string) {
	t.Helper()
	for _, r := range text {
		send(t, a, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// goTo selects the row of the form with a name.
func goTo(t testing.TB, a *testApp, p *picker, name string) {
	t.Helper()
	p.pane = paneForm
	for i := range p.form.rows {
		if p.form.rows[i].name == name {
			p.form.at = i
			a.View()
			return
		}
	}
	require.Fail(t, "no row "+name)
}

func rowNamed(t testing.TB, p *picker, name string) row {
	t.Helper()
	for _, r := range p.form.rows {
		if r.name == name {
			return r
		}
	}
	require.Fail(t, "no row "+name)
	return row{}
}

func TestPickerPictures(t *testing.T) {
	for _, c := range []struct {
		name  string
		w, h  int
		o     Options
		steps func(a *testApp, p *picker)
	}{
		{name: "120x40", w: 120, h: 40},
		{name: "80x24", w: 80, h: 24},
		{name: "80x24 ascii", w: 80, h: 24, o: Options{ASCII: true}},
		{name: "60x16", w: 60, h: 16},
		{name: "60x16 setup", w: 60, h: 16, steps: func(a *testApp, _ *picker) { send(t, a, "right") }},
		{name: "60x16 plan", w: 60, h: 16, steps: func(a *testApp, _ *picker) { send(t, a, "tab", "tab") }},
		{name: "120x40 typing a target", w: 120, h: 40, steps: func(a *testApp, p *picker) {
			goTo(t, a, p, "target")
			send(t, a, "enter", "ctrl+u")
			typeText(t, a, "redis://me:secret@10.0.0.7:6379/2")
		}},
		{name: "120x40 a target that answers", w: 120, h: 40, steps: func(a *testApp, p *picker) {
			goTo(t, a, p, "target")
			send(t, a, "right", "p")
		}},
		{name: "80x24 a target that does not answer", w: 80, h: 24, steps: func(a *testApp, p *picker) {
			a.bench.(*fakeBench).pingErr = fault.Store(errors.New("redis: dial 127.0.0.1:6379: connection refused"), "is the server running? try redis-cli ping")
			goTo(t, a, p, "target")
			send(t, a, "right", "p")
		}},
		{name: "120x40 bad values", w: 120, h: 40, steps: func(a *testApp, p *picker) {
			goTo(t, a, p, "threads")
			send(t, a, "enter", "0", "0", "0")
		}},
		{name: "80x24 a profile that is planned", w: 80, h: 24, steps: func(a *testApp, _ *picker) { send(t, a, "G", "enter") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, p := pickApp(t, newDemoBench(), c.o, c.w, c.h)
			if c.steps != nil {
				c.steps(a, p)
			}
			requireGolden(t, picture(t, a))
		})
	}
}

func TestPickerFillsEveryTerminal(t *testing.T) {
	a, p := pickApp(t, newDemoBench(), Options{}, 120, 40)
	for w := widget.MinWidth; w <= 200; w += 7 {
		for h := widget.MinHeight; h <= 60; h += 5 {
			send(t, a, tea.WindowSizeMsg{Width: w, Height: h})
			for p.pane = range panesOfPicker {
				picture(t, a)
			}
		}
	}
}

func TestEnterStartsWhatIsShown(t *testing.T) {
	b := newDemoBench()
	a, _ := pickApp(t, b, Options{}, 80, 24)
	send(t, a, "enter")
	assert.IsType(t, &dashboard{}, a.top())
	assert.Equal(t, []screen.Request{{Profile: "ingestion"}}, b.started)
}

func TestEditedValuesAreStarted(t *testing.T) {
	b := newDemoBench()
	a, p := pickApp(t, b, Options{}, 120, 40)
	goTo(t, a, p, "duration")
	send(t, a, "enter", "ctrl+u")
	typeText(t, a, "90s")
	send(t, a, "enter")
	goTo(t, a, p, "threads")
	send(t, a, "right", "right")
	goTo(t, a, p, "testCase")
	send(t, a, "right")
	goTo(t, a, p, "preset")
	send(t, a, "right")
	assert.Equal(t, "large", rowNamed(t, p, "preset").text)
	send(t, a, "S")
	require.Len(t, b.started, 1)
	got := b.started[0]
	assert.Equal(t, "large", got.Preset)
	assert.Equal(t, []workload.Value{
		{Name: "duration", Text: "90s", Origin: workload.OriginFlag}, {Name: "threads", Text: "18", Origin: workload.OriginFlag}, {Name: "testCase", Text: "put", Origin: workload.OriginFlag},
	}, got.Values)
}

func TestAValueThatIsWrongIsSaidAtItsFieldAndRefusesTheStart(t *testing.T) {
	b := newDemoBench()
	a, p := pickApp(t, b, Options{}, 120, 40)
	goTo(t, a, p, "threads")
	send(t, a, "enter", "ctrl+u", "0")
	assert.Contains(t, picture(t, a), `"0" is not in 1..4096`, "while it is typed")
	send(t, a, "enter", "tab", "tab", "S")
	assert.Empty(t, b.started)
	assert.Equal(t, paneForm, p.pane, "the field is shown")
	assert.Equal(t, "threads", p.form.current().name)
	assert.Contains(t, picture(t, a), "not started: threads")
	send(t, a, "r", "S")
	assert.Len(t, b.started, 1, "reset heals it")
}

func TestEscapeLeavesAValueAsItWas(t *testing.T) {
	a, p := pickApp(t, newDemoBench(), Options{}, 120, 40)
	goTo(t, a, p, "threads")
	send(t, a, "enter", "9", "9", "esc")
	assert.Empty(t, p.request().Values)
	assert.Equal(t, "16", rowNamed(t, p, "threads").text)
	require.NoError(t, p.err)
}

func TestAPasswordIsNeverShown(t *testing.T) {
	b := newDemoBench()
	a, p := pickApp(t, b, Options{Request: screen.Request{Target: "redis://me:fromflags@10.0.0.7"}}, 120, 40)
	assert.Equal(t, "fromflags", p.request().Password)
	assert.NotContains(t, picture(t, a), "fromflags")
	goTo(t, a, p, "target")
	send(t, a, "enter", "ctrl+u")
	for _, r := range "redis://me:hunter2@10.0.0.9/1" {
		typeText(t, a, string(r))
		assert.NotContains(t, picture(t, a), "hunt")
	}
	send(t, a, "enter")
	assert.Equal(t, "redis://me@10.0.0.9/1", p.request().Target)
	assert.Equal(t, "hunter2", p.request().Password)
	goTo(t, a, p, "password")
	send(t, a, "enter")
	typeText(t, a, "swordfish")
	assert.NotContains(t, picture(t, a), "swordfish")
	send(t, a, "enter", "S")
	require.Len(t, b.started, 1)
	assert.Equal(t, "swordfish", b.started[0].Password)
}

func TestAPasswordDoesNotGoToAnotherServer(t *testing.T) {
	a, p := pickApp(t, newDemoBench(), Options{Request: screen.Request{Target: "redis://me:hunter2@10.0.0.7"}}, 120, 40)
	goTo(t, a, p, "target")
	send(t, a, "enter", "ctrl+u")
	typeText(t, a, "redis://me@10.0.0.8")
	send(t, a, "enter")
	assert.Empty(t, p.request().Password)
}

func TestAnAnswerOfAnEarlierTargetIsDropped(t *testing.T) {
	a, p := pickApp(t, newDemoBench(), Options{}, 120, 40)
	old := pongMsg{number: p.ping.number + 1}
	p.ping.ask(p.bench, p.request(), a.env)
	p.ping.soon(a.env, settle)
	send(t, a, old)
	assert.False(t, p.ping.done)
}

func TestATargetIsPingedWhenItHasSettled(t *testing.T) {
	a, p := pickApp(t, newDemoBench(), Options{}, 120, 40)
	goTo(t, a, p, "target")
	send(t, a, "right")
	require.Equal(t, "redis://127.0.0.1:6379", p.request().Target, "the recent one comes first")
	assert.False(t, p.ping.busy || p.ping.done)
	a.env.Now = a.env.Now.Add(settle)
	send(t, a, frame(a))
	assert.True(t, p.ping.done)
	assert.Contains(t, picture(t, a), "redis 7.2.4 · standalone · answers in 210 µs")
}

func TestTheTargetGoesWithTheProfileAndValuesStay(t *testing.T) {
	a, p := pickApp(t, newDemoBench(), Options{}, 120, 40)
	goTo(t, a, p, "target")
	send(t, a, "right")
	goTo(t, a, p, "seed")
	send(t, a, "enter", "7", "enter")
	goTo(t, a, p, "threads")
	send(t, a, "right", "esc", "down")
	require.Equal(t, "group", p.request().Profile)
	assert.Equal(t, "redis://127.0.0.1:6379", p.request().Target)
	assert.Equal(t, []string{"seed"}, names(p.request().Values), "what every run has goes along")
	send(t, a, "up")
	assert.Equal(t, []string{"seed", "threads"}, names(p.request().Values), "what was set is remembered")
}

func names(vs []workload.Value) []string {
	var out []string
	for _, v := range vs {
		out = append(out, v.Name)
	}
	return out
}

func TestFilteringProfiles(t *testing.T) {
	a, p := pickApp(t, newDemoBench(), Options{}, 80, 24)
	send(t, a, "/")
	assert.True(t, p.Typing())
	typeText(t, a, "event q?")
	assert.False(t, a.quit, "a field gets all letters")
	assert.Nil(t, p.profile())
	assert.Contains(t, picture(t, a), "No profile matches.")
	send(t, a, "backspace", "backspace", "backspace", "enter")
	assert.Equal(t, "event-store", p.profile().Name)
	send(t, a, "esc")
	assert.Len(t, p.shown, 5)
	assert.Equal(t, "event-store", p.profile().Name, "what was selected stays")
}

func TestWithoutProfilesThePickerSaysSo(t *testing.T) {
	a, _ := pickApp(t, &fakeBench{}, Options{}, 80, 24)
	send(t, a, "enter", "S", "right", "enter", "left", "r", "down")
	assert.Contains(t, picture(t, a), "There is no profile to choose.")
}

func TestFilesAreCompleted(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"ingestion.properties", "ingestion-large.properties", "other.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), nil, 0o600))
	}
	a, p := pickApp(t, newDemoBench(), Options{}, 120, 40)
	goTo(t, a, p, "file")
	send(t, a, "enter")
	typeText(t, a, dir+"/in")
	send(t, a, "tab")
	assert.Equal(t, dir+"/ingestion", p.form.edit.field.Value(), "as far as they agree")
	assert.Len(t, p.form.edit.offers, 2)
	send(t, a, "down", "down", "enter")
	assert.Equal(t, []string{dir + "/ingestion.properties"}, p.request().Files)
}

func TestTheMouseChoosesInThePicker(t *testing.T) {
	b := newDemoBench()
	a, p := pickApp(t, b, Options{}, 120, 40)
	click := func(x, y int) { send(t, a, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	at := func(text string) (int, int) {
		for y, l := range strings.Split(picture(t, a), "\n") {
			if before, _, ok := strings.Cut(l, text); ok {
				return len([]rune(before)), y
			}
		}
		require.Fail(t, text)
		return 0, 0
	}
	click(at("Group workflow"))
	assert.Equal(t, "group", p.request().Profile)
	click(at("Bulk ingestion "))
	click(at("threads"))
	assert.Equal(t, paneForm, p.pane)
	x, y := at("▸ threads")
	for i, r := range []rune(strings.Split(picture(t, a), "\n")[y]) {
		if i > x+2 && r == '▸' {
			click(i, y)
			break
		}
	}
	assert.Equal(t, "17", rowNamed(t, p, "threads").text)
	send(t, a, tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
	assert.Equal(t, "payload", p.form.current().name)
	click(at("S start  "))
	assert.Len(t, b.started, 1, "the bottom line can be clicked")
}

func BenchmarkPickerView(b *testing.B) {
	a, _ := pickApp(b, newDemoBench(), Options{}, 120, 40)
	for b.Loop() {
		a.View()
	}
}

func TestDurationsAreTurned(t *testing.T) {
	for _, c := range []struct {
		from string
		by   int
		want string
	}{
		{"", 1, "10s"}, {"", -1, ""}, {"60s", 1, "2m"}, {"60s", -1, "30s"}, {"90s", 1, "2m"}, {"90s", -1, "1m"}, {"1s", -1, ""}, {"0s", 1, "1s"}, {"48h", 1, "48h"}, {"30m", 1, "1h"}, {"odd", 1, "10s"},
	} {
		assert.Equal(t, c.want, nextTime(c.from, c.by), "%q %+d", c.from, c.by)
	}
	a, p := pickApp(t, newDemoBench(), Options{}, 120, 40)
	goTo(t, a, p, "duration")
	send(t, a, "right", "right", "left")
	assert.Equal(t, "2m", rowNamed(t, p, "duration").text)
}
