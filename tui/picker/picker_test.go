package picker

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// pick is the picker on a stage, everything read.
func pick(t testing.TB, b *tuitest.Bench, w, h int) (*tuitest.Stage, *Picker) {
	t.Helper()
	return pickWith(t, b, request.Request{}, w, h)
}

// pickWith is a picker that is filled in.
func pickWith(t testing.TB, b *tuitest.Bench, r request.Request, w, h int) (*tuitest.Stage, *Picker) {
	t.Helper()
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, r, tuitest.RunParams())
	return tuitest.NewStage(t, p, w, h), p
}

// goTo selects the row of the form with a name.
func goTo(t testing.TB, a *tuitest.Stage, p *Picker, name string) {
	t.Helper()
	p.pane = paneForm
	for i := range p.form.rows {
		if p.form.rows[i].name == name {
			p.form.at = i
			a.Top.View(a.Env)
			return
		}
	}
	require.Fail(t, "no row "+name)
}

func rowNamed(t testing.TB, p *Picker, name string) row {
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
		ascii bool
		steps func(a *tuitest.Stage, p *Picker)
	}{
		{name: "120x40", w: 120, h: 40},
		{name: "80x24", w: 80, h: 24},
		{name: "80x24 ascii", w: 80, h: 24, ascii: true},
		{name: "200x60", w: 200, h: 60},
		{name: "60x16", w: 60, h: 16},
		{name: "60x16 setup", w: 60, h: 16, steps: func(a *tuitest.Stage, _ *Picker) { a.Send(t, "right") }},
		{name: "60x16 plan", w: 60, h: 16, steps: func(a *tuitest.Stage, _ *Picker) { a.Send(t, "tab", "tab") }},
		{name: "120x40 typing a target", w: 120, h: 40, steps: func(a *tuitest.Stage, p *Picker) {
			goTo(t, a, p, "target")
			a.Send(t, "enter", "ctrl+u")
			a.Type(t, "redis://me:secret@10.0.0.7:6379/2")
		}},
		{name: "120x40 a target that answers", w: 120, h: 40, steps: func(a *tuitest.Stage, p *Picker) {
			goTo(t, a, p, "target")
			a.Send(t, "enter", "down", "enter", "ctrl+p")
		}},
		{name: "80x24 a target that does not answer", w: 80, h: 24, steps: func(a *tuitest.Stage, p *Picker) {
			p.bench.Pinger.(*tuitest.Bench).PingErr = fault.Store(errors.New("redis: dial 127.0.0.1:6379: connection refused"), "is the server running? try redis-cli ping, or --target embedded:")
			goTo(t, a, p, "target")
			a.Send(t, "enter", "down", "enter", "ctrl+p")
		}},
		{name: "120x40 bad values", w: 120, h: 40, steps: func(a *tuitest.Stage, p *Picker) {
			goTo(t, a, p, "threads")
			a.Send(t, "enter", "end", "0", "0", "0")
		}},
		{name: "120x40 finding a setting", w: 120, h: 40, steps: findSeed},
		{name: "80x24 finding a setting", w: 80, h: 24, steps: findSeed},
		{name: "60x16 finding a setting", w: 60, h: 16, steps: findSeed},
		{name: "80x24 a profile that is planned", w: 80, h: 24, steps: func(a *tuitest.Stage, _ *Picker) { a.Send(t, "G", "enter") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tuitest.NewDemo()
			a, p := pick(t, b, c.w, c.h)
			a.ASCII = c.ascii
			if c.steps != nil {
				c.steps(a, p)
			}
			tuitest.Golden(t, a.Picture(t))
		})
	}
}

// findSeed searches the settings for a word.
func findSeed(a *tuitest.Stage, p *Picker) {
	p.pane = paneForm
	for _, k := range []string{"/", "s", "e", "e"} {
		a.Update(tuitest.KeyPress(k))
	}
}

func TestPickerFillsEveryTerminal(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	for w := widget.MinWidth; w <= 200; w += 7 {
		for h := widget.MinHeight; h <= 60; h += 5 {
			a.Send(t, tea.WindowSizeMsg{Width: w, Height: h})
			for p.pane = range panesOfPicker {
				a.Picture(t)
			}
		}
	}
}

func TestEnterStartsWhatIsShown(t *testing.T) {
	b := tuitest.NewDemo()
	a, _ := pick(t, b, 80, 24)
	a.Send(t, "enter")
	assert.Equal(t, []request.Request{{Profile: "ingestion", Form: &request.Request{Profile: "ingestion"}}}, a.Started())
}

func TestEditedValuesAreStarted(t *testing.T) {
	b := tuitest.NewDemo()
	a, p := pick(t, b, 120, 40)
	goTo(t, a, p, "duration")
	a.Send(t, "enter")
	a.Type(t, "90s")
	a.Send(t, "enter")
	goTo(t, a, p, "threads")
	a.Send(t, "right", "right")
	goTo(t, a, p, "testCase")
	a.Send(t, "right")
	goTo(t, a, p, "preset")
	a.Send(t, "right")
	assert.Equal(t, "large", rowNamed(t, p, "preset").text)
	a.Send(t, "S")
	require.Len(t, a.Started(), 1)
	got := a.Started()[0]
	assert.Equal(t, "large", got.Preset)
	assert.Equal(t, workload.Values{
		"duration": {Name: "duration", Text: "90s", Origin: workload.OriginFlag}, "threads": {Name: "threads", Text: "18", Origin: workload.OriginFlag}, "testCase": {Name: "testCase", Text: "put", Origin: workload.OriginFlag},
	}, got.Values)
}

func TestAValueThatIsWrongIsSaidAtItsFieldAndRefusesTheStart(t *testing.T) {
	b := tuitest.NewDemo()
	a, p := pick(t, b, 120, 40)
	goTo(t, a, p, "threads")
	a.Send(t, "enter", "ctrl+u", "0")
	assert.Contains(t, a.Picture(t), `"0" is not in 1..4096`, "while it is typed")
	a.Send(t, "enter", "tab", "tab", "S")
	assert.Empty(t, a.Started())
	assert.Equal(t, paneForm, p.pane, "the field is shown")
	assert.Equal(t, "threads", p.form.current().name)
	assert.Contains(t, a.Picture(t), "not started: threads")
	a.Send(t, "delete", "S")
	assert.Len(t, a.Started(), 1, "reset heals it")
}

// u takes back what was changed in the form, a reset among it, and enter what was meant.
func TestAChangeInTheFormIsTakenBackAndWhatWasMeantIsTaken(t *testing.T) {
	b := tuitest.NewDemo()
	preview := b.Previewed
	b.Previewed = func(r request.Request) (*request.Preview, error) {
		pv, err := preview(r)
		_, bad := store.ParseTarget(cmp.Or(r.Target, "embedded:"))
		return pv, errors.Join(err, fault.Field("target", bad))
	}
	a, p := pick(t, b, 120, 40)
	goTo(t, a, p, "target")
	a.Send(t, "enter", "ctrl+u")
	a.Type(t, "localhost:7391")
	assert.Contains(t, a.Picture(t), "did you mean redis://localhost:7391?")
	a.Send(t, "tab")
	assert.Equal(t, "redis://localhost:7391", p.form.edit.field.Value(), "tab takes it while typing")
	a.Send(t, "esc", "enter", "ctrl+u")
	a.Type(t, "localhost:7391")
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "enter redis://localhost:7391?")
	a.Send(t, "enter")
	assert.NotContains(t, a.Picture(t), "has no scheme", "what is offered is right")
	assert.Nil(t, p.form.edit, "and taken at once")
	assert.Equal(t, "redis://localhost:7391", p.drafts.request().Target)

	a.Send(t, "enter", "ctrl+u", "enter")
	assert.Empty(t, p.drafts.request().Target, "nothing at all is the default")
	a.Send(t, "U")
	assert.Equal(t, "redis://localhost:7391", p.drafts.request().Target, "a reset is taken back")
	assert.Contains(t, a.Picture(t), "undo: target embedded: → redis://localhost:7391")
	a.Send(t, "U", "U")
	assert.Empty(t, p.drafts.request().Target, "and so is what was typed before")
	assert.Negative(t, p.form.undoable(), "then there is nothing left")
}

// Of several texts, what was meant replaces the part of the one that is wrong.
func TestWhatWasMeantReplacesAPartOfTexts(t *testing.T) {
	const texts = "errors<1%; p95<5; lost=0"
	assert.Equal(t, "errors<1%; p95<5ms; lost=0", replaced(texts, `threshold "p95<5": "5" is not a duration such as 5ms`, "5ms"))
	assert.Empty(t, replaced(texts, `threshold "p95<5": "5" is not a duration such as 5ms`, ""))
	assert.Empty(t, replaced(texts, `threshold "p99<5": "5" is not a duration such as 5ms`, "5ms"))
}

func TestEscapeLeavesAValueAsItWas(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "threads")
	a.Send(t, "enter", "9", "9", "esc")
	assert.Empty(t, p.drafts.request().Values)
	assert.Equal(t, "16", rowNamed(t, p, "threads").text)
	require.NoError(t, p.forecast.err)
}

func TestARateWithoutLimitIsTypedAsItIsShown(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "rate")
	a.Send(t, "enter")
	assert.Equal(t, "unlimited", p.form.edit.field.Value())
	a.Type(t, "500")
	a.Send(t, "enter")
	assert.Equal(t, "500", p.drafts.request().Values["rate"].Text)
	a.Send(t, "enter")
	a.Type(t, "unlimited")
	assert.NotContains(t, a.Picture(t), "✗")
	a.Send(t, "enter")
	assert.Equal(t, "0", p.drafts.request().Values["rate"].Text)
}

func TestThePlanHasTheRoomThatTheMainValuesLeave(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	first := p.layout(120, 40)
	assert.Greater(t, first.panes[panePlan].Dy(), 13)
	for range p.list.all {
		a.Send(t, "down")
		assert.Equal(t, first, p.layout(120, 40), "nothing moves from one profile to the next: %s", p.drafts.name)
		assert.LessOrEqual(t, len(p.form.lines), first.panes[paneForm].Dy()-2, "%s is shown whole", p.drafts.name)
	}
	require.Equal(t, len(p.list.all)-1, p.list.at())
	a.Send(t, "d")
	assert.Less(t, p.layout(120, 40).panes[panePlan].Dy(), first.panes[panePlan].Dy(), "all values need it more")
	a.Send(t, "d")
	low := p.layout(80, 24)
	assert.Equal(t, 9, low.panes[panePlan].Dy(), "little room is shared as ever")
}

func TestATargetMovesNoRow(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	keys := func() (out []string) {
		for _, r := range p.form.rows {
			out = append(out, r.key())
		}
		return out
	}
	before := keys()
	goTo(t, a, p, "password")
	assert.Regexp(t, `password +– +target takes none`, a.Picture(t))
	a.Send(t, "enter")
	assert.Nil(t, p.form.edit, "there is nothing to type")
	goTo(t, a, p, "target")
	a.Send(t, "enter", "ctrl+u")
	a.Type(t, "redis://10.0.0.7")
	a.Send(t, "enter")
	assert.Equal(t, before, keys())
	assert.NotContains(t, a.Picture(t), "takes none")
	a.Send(t, "down", "enter")
	require.NotNil(t, p.form.edit)
	assert.Equal(t, "password", p.form.edit.row.name)
}

func TestAPasswordIsNeverShown(t *testing.T) {
	b := tuitest.NewDemo()
	a, p := pickWith(t, b, request.Request{Target: "redis://me:fromflags@10.0.0.7"}, 120, 40)
	assert.Equal(t, "fromflags", p.drafts.request().Password)
	assert.NotContains(t, a.Picture(t), "fromflags")
	goTo(t, a, p, "target")
	a.Send(t, "enter", "ctrl+u")
	for _, r := range "redis://me:hunter2@10.0.0.9/1" {
		a.Type(t, string(r))
		assert.NotContains(t, a.Picture(t), "hunt")
	}
	a.Send(t, "enter")
	assert.Equal(t, "redis://me@10.0.0.9/1", p.drafts.request().Target)
	assert.Equal(t, "hunter2", p.drafts.request().Password)
	goTo(t, a, p, "password")
	a.Send(t, "enter")
	a.Type(t, "swordfish")
	assert.NotContains(t, a.Picture(t), "swordfish")
	a.Send(t, "enter", "S")
	require.Len(t, a.Started(), 1)
	assert.Equal(t, "swordfish", a.Started()[0].Password)
	assert.Equal(t, map[string]string{"redis://me@10.0.0.9/1": "swordfish"}, b.Secrets)
}

// A password that is taken back is none: what is started next on its target has none, either.
func TestAPasswordThatIsUndoneIsForgotten(t *testing.T) {
	b := tuitest.NewDemo()
	a, p := pickWith(t, b, request.Request{Target: "redis://10.0.0.7"}, 120, 40)
	goTo(t, a, p, "password")
	a.Send(t, "enter")
	a.Type(t, "swordfish")
	a.Send(t, "enter", "U", "S")
	require.Len(t, a.Started(), 1)
	assert.Empty(t, a.Started()[0].Password)
	assert.Equal(t, map[string]string{"redis://10.0.0.7": ""}, b.Secrets)
}

func TestTheCommandOfWhatIsSetUpIsCopied(t *testing.T) {
	a, p := pickWith(t, tuitest.NewDemo(), request.Request{Preset: "small", Target: "redis://me:hunter2@10.0.0.7", Timetable: []string{"1s:threads=9"}}, 120, 40)
	goTo(t, a, p, "threads")
	a.Send(t, "right", "esc")
	cmd := a.Update(tuitest.KeyPress("y"))
	require.NotNil(t, cmd)
	assert.Equal(t, screen.CommandMsg{Does: "does this run", Text: "perfbench run --profile ingestion --target redis://me@10.0.0.7 --preset small --duration forever --threads 17 --at 1s:threads=9"}, cmd())
}

func TestAPasswordDoesNotGoToAnotherServer(t *testing.T) {
	a, p := pickWith(t, tuitest.NewDemo(), request.Request{Target: "redis://me:hunter2@10.0.0.7"}, 120, 40)
	goTo(t, a, p, "target")
	a.Send(t, "enter", "ctrl+u")
	a.Type(t, "redis://me@10.0.0.8")
	a.Send(t, "enter")
	assert.Empty(t, p.drafts.request().Password)
}

func TestAnAnswerOfAnEarlierTargetIsDropped(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	old := pongMsg{number: p.ping.number + 1}
	p.ping.ask(p.drafts.request(), a.Env)
	p.ping.soon(a.Env, settle)
	a.Send(t, old)
	assert.False(t, p.ping.done)
}

func TestATargetIsPingedWhenItHasSettled(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "target")
	a.Send(t, "right", "left")
	require.Empty(t, p.drafts.request().Target, "keys that move choose no server")
	require.Contains(t, a.Picture(t), "  redis://127.0.0.1:6379", "it is in the list")
	a.Send(t, "down")
	require.Empty(t, p.drafts.request().Target)
	a.Send(t, "enter")
	require.Equal(t, "redis://127.0.0.1:6379", p.drafts.request().Target, "the recent one comes first")
	assert.False(t, p.ping.busy || p.ping.done)
	a.Env.Now = a.Env.Now.Add(settle)
	a.Send(t, a.Frame())
	assert.True(t, p.ping.done)
	assert.Regexp(t, `redis 7.2.4 · standalone · 210 µs +│`, a.Picture(t))
	assert.Equal(t, "redis 7.2.4 · standalone · 210 µs at 12:00:00", p.ping.answer(60))
	assert.Equal(t, "redis 7.2.4 · 210 µs", p.ping.answer(23))
	assert.Equal(t, p.ping.answer(60), p.ping.answer(10), "it is wrapped")
}

func TestTheTargetGoesWithTheProfileAndValuesStay(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "target")
	a.Send(t, "enter", "down", "enter")
	goTo(t, a, p, "seed")
	a.Send(t, "enter", "7", "enter")
	goTo(t, a, p, "threads")
	a.Send(t, "right", "esc", "down")
	require.Equal(t, "group", p.drafts.request().Profile)
	assert.Equal(t, "redis://127.0.0.1:6379", p.drafts.request().Target)
	assert.Equal(t, []string{"seed"}, p.drafts.request().Values.Names(), "what every run has goes along")
	a.Send(t, "up")
	assert.Equal(t, []string{"seed", "threads"}, p.drafts.request().Values.Names(), "what was set is remembered")
	a.Send(t, "S")
	started := a.Started()
	require.Len(t, started, 1)
	require.NotNil(t, started[0].Form, "what was set is kept once it has begun")
	assert.Equal(t, p.drafts.request(), *started[0].Form)
}

func TestFilteringProfiles(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 80, 24)
	a.Send(t, "/")
	assert.True(t, p.Typing())
	a.Type(t, "event q?")
	assert.Equal(t, "ingestion", p.list.selected().Name, "nothing found leaves the selection")
	assert.Contains(t, a.Picture(t), "No profile matches.")
	a.Send(t, "backspace", "backspace", "backspace", "enter")
	assert.Equal(t, "event-store", p.list.selected().Name)
	a.Send(t, "esc")
	assert.Len(t, p.list.shown, 5)
	assert.Equal(t, "event-store", p.list.selected().Name, "what was selected stays")
	a.Send(t, "/")
	a.Type(t, "group q?")
	assert.Equal(t, "event-store", p.list.selected().Name)
	for _, k := range []string{"enter", "enter", "S", "f", "w", "down"} {
		a.Send(t, k)
		assert.False(t, p.Typing(), "keys are no part of the filter any more")
		assert.Contains(t, a.Picture(t), `no profile matches "group q?": esc clears the filter`, k)
		assert.Empty(t, a.Started())
		a.Env.Now = a.Env.Now.Add(time.Minute)
		a.Send(t, a.Frame())
		assert.NotContains(t, a.Picture(t), "no profile matches")
		assert.Contains(t, a.Picture(t), " esc clear filter")
	}
	a.Send(t, "esc")
	assert.Len(t, p.list.shown, 5)
	assert.Equal(t, "event-store", p.list.selected().Name)
}

// Where none of the last runs passes the filter, the keys on one say so.
func TestKeysSayThatNoRunMatches(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 80, 24)
	a.Perform(t, p.Start(a.Env))
	a.Send(t, "shift+tab", "/")
	a.Type(t, "qx")
	a.Send(t, "enter", "enter")
	assert.Contains(t, a.Picture(t), `no run matches "qx": esc clears the filter`)
	assert.Empty(t, a.Asked)
	a.Send(t, "esc", "enter")
	assert.Len(t, a.Asked, 1)
}

// A search that finds nothing, and one that is left, leave the selection and what was set.
func TestASearchLosesNothingThatWasSet(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "threads")
	a.Send(t, "enter", "9", "enter", "/")
	a.Type(t, "seed?")
	assert.Equal(t, "threads", p.form.current().name)
	assert.Contains(t, a.Picture(t), "/ seed? · nothing matches")
	p.form.rows = p.form.rows[2:] // as when a preview arrives
	p.form.at -= 2
	a.Send(t, "esc")
	assert.Equal(t, "threads", p.form.current().name)
	assert.Equal(t, paneForm, p.pane, "the first escape ends the search")
	a.Send(t, "esc", "/")
	a.Type(t, "event")
	a.Send(t, "esc")
	assert.Equal(t, "ingestion", p.list.selected().Name)
	assert.Equal(t, "9", p.drafts.request().Values["threads"].Text)
}

func TestAValueIsFoundByItsName(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 80, 24)
	goTo(t, a, p, "threads")
	a.Send(t, "/")
	assert.True(t, p.Typing())
	a.Type(t, "seed")
	assert.Equal(t, "seed", p.form.current().name)
	assert.Contains(t, a.Picture(t), "/ seed · 1 of")
	a.Send(t, "esc")
	assert.Equal(t, "threads", p.form.current().name, "esc goes back")
	a.Send(t, "/")
	a.Type(t, "a")
	first := p.form.at
	a.Send(t, "down")
	assert.Greater(t, p.form.at, first)
	a.Send(t, "up", "enter")
	assert.Equal(t, first, p.form.at)
	assert.False(t, p.Typing())
	assert.Len(t, p.list.shown, 5, "profiles are not filtered")
}

func TestWithoutProfilesThePickerSaysSo(t *testing.T) {
	a, _ := pick(t, &tuitest.Bench{}, 80, 24)
	a.Send(t, "enter", "S", "right", "enter", "left", "delete", "down", "x")
	assert.Contains(t, a.Picture(t), "There is no profile to choose.")
}

func TestFilesAreCompleted(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"ingestion.properties", "ingestion-large.properties", "other.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), nil, 0o600))
	}
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "file")
	a.Send(t, "enter")
	a.Type(t, dir+"/in")
	a.Send(t, "tab")
	assert.Equal(t, dir+"/ingestion", p.form.edit.field.Value(), "as far as they agree")
	assert.Len(t, p.form.edit.offers, 2)
	a.Send(t, "down", "down", "enter")
	assert.Equal(t, []string{dir + "/ingestion.properties"}, p.drafts.request().Files)
}

func TestTheMouseChoosesInThePicker(t *testing.T) {
	b := tuitest.NewDemo()
	a, p := pick(t, b, 120, 40)
	click := func(x, y int) { a.Send(t, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	at := func(text string) (int, int) {
		for y, l := range strings.Split(a.Picture(t), "\n") {
			if before, _, ok := strings.Cut(l, text); ok {
				return len([]rune(before)), y
			}
		}
		require.Fail(t, text)
		return 0, 0
	}
	click(at("Group workflow"))
	assert.Equal(t, "group", p.drafts.request().Profile)
	click(at("Bulk ingestion "))
	click(at("threads"))
	assert.Equal(t, paneForm, p.pane)
	x, y := at("▸ threads")
	for i, r := range []rune(strings.Split(a.Picture(t), "\n")[y]) {
		if i > x+2 && r == '▸' {
			click(i, y)
			break
		}
	}
	assert.Equal(t, "17", rowNamed(t, p, "threads").text)
	third := p.form.rows[p.form.at+3].name
	p.pane = paneProfiles
	a.Send(t, tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
	assert.Equal(t, third, p.form.current().name)
	assert.Equal(t, paneForm, p.pane)
	assert.Contains(t, a.Picture(t), "▸ "+label(third), "what the wheel has moved to is seen")
}

func BenchmarkPickerView(b *testing.B) {
	a, _ := pick(b, tuitest.NewDemo(), 120, 40)
	for b.Loop() {
		a.Top.View(a.Env)
	}
}

func TestTheTargetOfASavedRunIsShown(t *testing.T) {
	b := tuitest.NewDemo()
	b.Previewed = func(request.Request) (*request.Preview, error) {
		return &request.Preview{Run: []request.Line{{Name: "target", Text: "redis://db1", From: "plan mine:3"}, {Name: "out", Text: "results", From: "flag --out"}}}, nil
	}
	_, p := pick(t, b, 120, 40)
	target := rowNamed(t, p, "target")
	assert.Equal(t, []string{"redis://db1", "plan mine:3"}, []string{target.text, target.from})
	assert.False(t, target.mine)
	assert.Equal(t, "default", rowNamed(t, p, "out").from, "what the workbench fills in is no flag")
}

// What is pasted into the filter may select another profile, whose plan is then worked out.
func TestAProfileFoundByPastingHasItsPlan(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	a.Send(t, "/", tea.PasteMsg{Content: "event"})
	assert.Equal(t, "event-store", p.list.selected().Name)
	assert.True(t, p.forecast.current(), a.Picture(t))
}

// A plan that is typed as a file is opened: what it says takes the place of what was set, which undo
// brings back; what is wrong with one is said, and nothing changes.
func TestAPlanIsOpenedAsAFile(t *testing.T) {
	b := tuitest.NewDemo()
	b.Plans = map[string]*request.File{"p.yaml": {Runs: []request.Run{{Request: request.Request{Profile: b.Profiles()[1].Name, Target: "redis://db1", From: map[string]string{"target": "plan p.yaml:3"}, Values: workload.Values{
		"threads":  {Name: "threads", Text: "8", Origin: workload.OriginPlan, Where: "p.yaml:4"},
		"duration": {Name: "duration", Text: "6s", Origin: workload.OriginPlan, Where: "p.yaml:5"},
	}}}}}}
	a, p := pick(t, b, 120, 40)
	before := p.drafts.request()
	open := func() {
		goTo(t, a, p, "file")
		a.Send(t, "enter", "ctrl+u")
		a.Type(t, "p.yaml")
		a.Send(t, "enter")
	}
	open()
	assert.Equal(t, b.Plans["p.yaml"].Runs[0].Request.Profile, p.list.selected().Name)
	assert.Equal(t, "plan p.yaml:4", rowNamed(t, p, "threads").from)
	assert.Contains(t, a.Picture(t), "opened p.yaml")
	assert.Empty(t, p.drafts.requests[before.Profile].Files, "it is no file of the profile that was chosen before")
	a.Send(t, "S")
	started := a.Started()
	require.NotEmpty(t, started)
	assert.Nil(t, started[len(started)-1].Form, "what a plan gives is not what the user set")
	p.list.prefer(b.Profiles()[2].Name)
	p.arrive()
	require.Equal(t, b.Profiles()[2].Name, p.drafts.request().Profile)
	assert.Empty(t, p.drafts.request().Values, "what a plan gives is of its profile alone")
	assert.Empty(t, p.drafts.request().Target)

	b = tuitest.NewDemo()
	b.Plans = map[string]*request.File{"p.yaml": tuitest.NewSuite()}
	a, p = pick(t, b, 120, 40)
	open()
	a.Send(t, "esc", "P")
	assert.Equal(t, screen.Plans{}, a.Asked[len(a.Asked)-1], "those that there are are listed")
	a.Asked = a.Asked[:len(a.Asked)-1]
	assert.Equal(t, []screen.Destination{screen.Suite{Path: "p.yaml", File: b.Plans["p.yaml"]}}, a.Asked, "several runs have a page of their own")
	assert.Empty(t, p.drafts.request().Files)
	a.Send(t, screen.SetUpMsg{Request: b.Plans["p.yaml"].Runs[1].Request, Said: "many threads of p.yaml"})
	assert.Equal(t, "64", rowNamed(t, p, "threads").text)
	assert.NotContains(t, p.Keys().Short, p.bindings().Back, "no page leads here")
	assert.Equal(t, "secret", p.drafts.request().Password, "it is in a row of its own")
	assert.Contains(t, a.Picture(t), "; U takes it back")
	a.Send(t, "U")
	assert.Contains(t, a.Picture(t), "undo: ")
	assert.NotEqual(t, "64", rowNamed(t, p, "threads").text)

	before = p.drafts.request()
	plan := New(p.bench, request.Request{}, nil) // any screen
	a.Send(t, screen.SetUpMsg{Request: b.Plans["p.yaml"].Runs[1].Request, Said: "many threads of p.yaml", From: plan})
	assert.Contains(t, a.Picture(t), "many threads of p.yaml: what it says is marked plan; esc goes back")
	assert.Contains(t, p.Keys().Short, p.bindings().Back)
	assert.Equal(t, "back", p.bindings().Back.Help().Desc)
	a.Send(t, "esc", "esc")
	assert.Equal(t, screen.Return{To: plan}, a.Asked[len(a.Asked)-1], "the page as it was left")
	assert.Len(t, a.Asked, 2, "only once")
	assert.Equal(t, paneProfiles, p.pane, "then esc leads to the profiles, as ever")
	assert.Equal(t, before, p.drafts.request(), "what the form had before")

	b = tuitest.NewDemo()
	b.PlanErr = errors.New("p.yaml:2:1: there is no key \"thread\"")
	a, p = pick(t, b, 120, 40)
	open()
	assert.Contains(t, a.Picture(t), "not opened: p.yaml:2:1: there is no key")
}

// All that is wrong with a plan stands below its row, with what to do about it.
func TestEachMistakeOfAPlanIsSaid(t *testing.T) {
	b := tuitest.NewDemo()
	b.Previewed = func(request.Request) (*request.Preview, error) {
		return nil, fault.Within("file", errors.Join(
			fault.Input(errors.New(`p.yaml:2:1: there is no key "thread"`), "did you mean threads?"),
			fault.Field("rate", fault.Input(errors.New("p.yaml:3: rate: fast"), "write it like 500"))))
	}
	a, p := pick(t, b, 120, 40)
	goTo(t, a, p, "target") // the row of the file is not the selected one
	text := strings.Join(p.form.draw(a.Env.Styles, 100, 40, true), "\n")
	for _, want := range []string{`p.yaml:2:1: there is no key "thread"`, "did you mean threads?", "p.yaml:3: rate: fast", "write it like 500"} {
		assert.Contains(t, ansi.Strip(text), want)
	}
}

func TestTheNamesOfTheFormAreNotCut(t *testing.T) {
	a, p := pickWith(t, tuitest.NewDemo(), request.Request{Profile: "ingestion"}, 80, 24)
	p.form.all = true
	p.form.rows = append(p.form.rows, row{name: "eligibility.totalEntryCount", text: "4000"})
	for _, wide := range []int{44, 66, mostForm} { // of screens of 80, 120 and 200 columns
		rows := map[int]bool{}
		for n, l := range p.form.draw(a.Env.Styles, wide, 40, true) {
			i := p.form.lines[n]
			if i < 0 || rows[i] { // the help of a row follows its line
				continue
			}
			rows[i] = true
			assert.Contains(t, ansi.Strip(l), label(p.form.rows[i].name)+" ", "in a form of %d cells", wide)
			assert.LessOrEqual(t, ansi.StringWidth(l), wide)
		}
		assert.Len(t, rows, len(p.form.rows))
	}
}

// The values of a section begin below each other, behind its longest name; those of another are not moved by it.
func TestTheValuesOfASectionAreBelowEachOther(t *testing.T) {
	a, p := pickWith(t, tuitest.NewDemo(), request.Request{Profile: "ingestion"}, 120, 40)
	p.form.all = true
	last := len(p.form.rows)
	p.form.rows = append(p.form.rows, row{section: "Of this profile", name: "compat", text: "off"}, row{name: "eligibility.totalEntryCount", text: "4000"}, row{name: "layout", text: "map"})
	p.form.draw(a.Env.Styles, 54, 40, true)
	assert.Equal(t, []int{31, 31, 31}, p.form.columns[last:])
	assert.Equal(t, leastColumn, p.form.columns[0])
}

// Below the last runs stands the verdict of the selected one, with when it was.
func TestTheVerdictBelowTheLastRunsHasItsTime(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	below := func(w int) string { return ansi.Strip(p.runs.foot(a.Env, p.runs.items(), w, true)[0]) }
	assert.Regexp(t, "^ today 11:52 · . VALID", below(60))
	assert.Regexp(t, "^ . VALID", below(20))
}

// Stores for which the list of profiles has no room are counted, not just left out.
func TestTheListSaysHowManyStoresItHasNoRoomFor(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	a.Send(t, "d")
	shown := func(w int) string { return ansi.Strip(strings.Join(p.list.lines(a.Env.Styles, w, 30), "\n")) }
	assert.Contains(t, shown(22), " ER…")
	assert.Contains(t, shown(22), "… 2 more")
	assert.Contains(t, shown(40), " E R C M ")
	assert.NotContains(t, shown(40), " more")
}

// The form begins with the main values, and with what is set or wrong; all are one key away, as are the
// stores of all profiles.
func TestTheFormBeginsWithTheMainValues(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	picture := a.Picture(t)
	assert.Contains(t, picture, "runs on Embedded, Redis, Cassandra, MySQL")
	assert.Contains(t, picture, "ctrl+d shows 12 more")
	assert.NotRegexp(t, `timetable  |warm-up  |● `, picture)
	a.Send(t, "right", "G")
	assert.Equal(t, "rate", p.form.current().name, "the last of them")
	a.Send(t, "/")
	a.Type(t, "seed")
	a.Send(t, "enter")
	assert.Regexp(t, `▸ seed +1 `, a.Picture(t))
	a.Send(t, "enter", "9", "enter", "home")
	assert.Regexp(t, ` seed +9 +set`, a.Picture(t), "what is set stays")
	a.Send(t, "ctrl+d")
	assert.Regexp(t, `timetable  `, a.Picture(t))
	assert.Contains(t, a.Picture(t), "● supported")
	a.Send(t, "ctrl+d")
	assert.Contains(t, a.Picture(t), "ctrl+d shows 11 more")
}

// A knob and the parameter that sets the same have one row, which is found, set and reset by both names.
func TestAKnobAndItsParameterHaveOneRow(t *testing.T) {
	k := workload.Knob{Name: "batch", Param: "batchSize", Help: "entries of one call"}
	r := row{kind: rowValue, name: "feed.batch", knob: &k}
	assert.Equal(t, "feed.batchSize", r.alias())
	assert.Empty(t, row{name: "seed"}.alias())
	values := workload.Values{"feed.batchSize": {Name: "feed.batchSize", Text: "20"}}
	s := &sheet{req: request.Request{Values: values}, rows: []row{r}, origin: func(string, func(request.Request) bool) string { return setHere }}
	s.addRest()
	assert.Len(t, s.rows, 1)
	s.typedIn(&s.rows[0])
	assert.Equal(t, "20", s.rows[0].text)
	assert.Empty(t, applied(s.req, s.rows[0], "").Values)
	x := &finder{}
	x.field.Text = []rune("batchsize")
	assert.Equal(t, []int{0}, x.matches(s.rows))
}

// On every row whose value is typed, each small letter begins to type it, and what else the form does has keys that
// are none.
func TestLettersAreTypedInTheForm(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	for _, name := range []string{"threads", "target", "rate", "duration", "seed", "tag"} {
		goTo(t, a, p, name)
		for _, b := range p.Keys().Short {
			assert.NotRegexp(t, "^[a-z]$", b.Help().Key, "%s: %s", name, b.Help().Desc)
		}
		for k := 'a'; k <= 'z'; k++ {
			require.True(t, p.Writes(tuitest.KeyPress(string(k))))
			a.Send(t, string(k))
			require.NotNil(t, p.form.edit, "%s: %c is text", name, k)
			assert.Equal(t, string(k), p.form.edit.text())
			a.Send(t, "esc")
		}
	}
	assert.Empty(t, a.Asked, "no letter opens another screen")
	assert.False(t, p.ping.busy)
	number := p.ping.number
	a.Send(t, "ctrl+p")
	assert.Greater(t, p.ping.number, number, "a chord is no text")
	for name, typed := range map[string]string{"rate": "unlimited", "duration": "forever", "out": "/tmp/u", "tag": "up", "threads": "12"} {
		goTo(t, a, p, name)
		a.Type(t, typed)
		require.NotNil(t, p.form.edit, name)
		assert.Equal(t, typed, p.form.edit.text())
		a.Send(t, "enter", "delete")
		assert.False(t, p.form.resettable(), name)
		a.Send(t, "U", "U")
	}
	goTo(t, a, p, "rate")
	a.Type(t, "500")
	a.Send(t, "enter", "U")
	assert.Contains(t, a.Picture(t), "undo: rate 500 → unlimited")
	goTo(t, a, p, "threads")
	a.Send(t, "-", "3", "enter")
	assert.Contains(t, a.Picture(t), "-3", "a minus sign is text, and refused")
	a.Send(t, "delete", "p")
	assert.Contains(t, a.Picture(t), `"p" is no`)
	assert.Contains(t, a.Picture(t), "esc, then ctrl+p pings", "what was meant has another key here")
	a.Send(t, "esc", tea.PasteMsg{Content: "7"}, "enter", "ctrl+d")
	assert.Equal(t, "7", p.drafts.request().Values["threads"].Text)
	assert.True(t, p.form.all)
	assert.False(t, p.Writes(tuitest.KeyPress("?")) || p.Writes(tuitest.KeyPress("S")), "these stay commands")
	a.Send(t, "esc", "f")
	assert.Nil(t, p.form.edit)
	assert.IsType(t, screen.AskSearch{}, a.Asked[len(a.Asked)-1], "in the list, letters are commands")
	assert.False(t, p.Writes(tuitest.KeyPress("q")))
}

// ← takes back the → that led to the values, and nothing else: elsewhere it changes the selected one.
func TestLeftLeadsOutOfTheFormAsRightLedIn(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	was := p.drafts.request()
	a.Send(t, "right")
	require.Equal(t, paneForm, p.pane)
	a.Send(t, "left")
	assert.Equal(t, paneProfiles, p.pane)
	assert.Equal(t, was, p.drafts.request())
	a.Send(t, "right", "down", "left")
	assert.Equal(t, paneForm, p.pane)
}

// Where a value is chosen, a letter goes to the next choice that begins with it, and where there is nothing to set, it
// says why.
func TestALetterChooses(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "preset")
	a.Send(t, "l")
	assert.Equal(t, "large", p.drafts.request().Preset)
	assert.Contains(t, a.Picture(t), "preset: large", "it is told, as a letter may be meant otherwise")
	a.Send(t, "s")
	assert.Equal(t, "small", p.drafts.request().Preset)
	a.Send(t, "q")
	assert.Contains(t, a.Picture(t), "no preset begins with q: ctrl+c quits")
	assert.Nil(t, p.form.edit)
	assert.Equal(t, "small", p.drafts.request().Preset)
	goTo(t, a, p, "password")
	a.Send(t, "x")
	assert.Contains(t, a.Picture(t), "only a target on a server takes one")
	assert.Nil(t, p.form.edit)
}

// What will happen has the width that there is, unless it would not be whole there or the form has all values.
func TestAWidePlanIsBelowTheForm(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 170, 45)
	below := func(h int) bool { l := p.layout(170, h); return l.panes[panePlan].Min.Y >= l.panes[paneForm].Max.Y }
	assert.True(t, below(45))
	assert.False(t, below(30))
	a.Send(t, "d")
	assert.False(t, below(45))
}

// The rows that are not shown are named as far as there is room, whole names only.
func TestTheFormNamesWhatItDoesNotShow(t *testing.T) {
	names := []string{"file", "warm-up", "timetable", "thresholds"}
	assert.Equal(t, []string{"d shows 4 more: file, warm-up,", "timetable, thresholds"}, named("d shows", names, 30, 5))
	assert.Equal(t, []string{"d shows 4 more: file …"}, named("d shows", names, 30, 1))
	assert.Equal(t, []string{"d shows 4 more …"}, named("d shows", names, 17, 1))
}

// Of what will happen, what matters most is always there, and of the rest what has room as a whole; ctrl+d shows all of it.
func TestAPlanBeginsWithWhatMattersMost(t *testing.T) {
	parts := [][]string{{"On", "Length"}, {"Writes", "more"}, nil, {"Runs"}}
	for most, want := range map[int][]string{1: {"On", "Length"}, 3: {"On", "Length"}, 4: {"On", "Length", "Writes", "more"}, 5: {"On", "Length", "Writes", "more", "Runs"}} {
		lines, whole := brief(parts, most)
		assert.Equal(t, want, lines, most)
		assert.Equal(t, most == 5, whole, most)
	}
	a, _ := pick(t, tuitest.NewDemo(), 80, 24)
	picture := a.Picture(t)
	assert.Contains(t, picture, "Length      no end: until")
	assert.Contains(t, picture, "ctrl+d shows all")
	assert.NotContains(t, picture, "Reports  ")
	a.Send(t, "d")
	assert.NotContains(t, a.Picture(t), "ctrl+d shows all")
}
