package results

import (
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// show is the newest run of the demo on a stage, read.
func show(t testing.TB, w, h int) (*tuitest.Stage, *Results, *tuitest.Bench) {
	t.Helper()
	b := tuitest.NewDemo()
	r := New(b, b.Past[0].ID)
	a := tuitest.NewStage(t, r, w, h)
	require.NotNil(t, r.run.loaded)
	return a, r, b
}

// A key that was meant for the run, which ended by itself a moment before, starts no other.
func TestAKeyMeantForTheRunStartsNoOther(t *testing.T) {
	for _, key := range []string{"f", "w", "R"} {
		a, r, _ := show(t, 80, 24)
		r.run.loaded.folder.Run.Changes = nil
		r.since = a.Env.Now
		a.Send(t, key)
		assert.Contains(t, a.Picture(t), justEnded)
		assert.Empty(t, a.Asked, key)
		a.Send(t, key)
		assert.Len(t, a.Asked, 1, key)
	}
}

func TestResultsPictures(t *testing.T) {
	pages := map[string]page{
		"summary": tabSummary, "verdict": tabVerdict, "latency": tabLatency, "changes": tabChanges, "errors": tabFailures, "settings": tabValues,
	}
	for name, tab := range pages {
		for _, size := range []struct {
			name string
			w, h int
		}{{"120x40", 120, 40}, {"80x24", 80, 24}, {"60x16", 60, 16}} {
			t.Run(name+" "+size.name, func(t *testing.T) {
				a, r, _ := show(t, size.w, size.h)
				r.pages.at = tab
				tuitest.Golden(t, a.Picture(t))
			})
		}
	}
	for _, name := range []string{"summary", "verdict", "latency", "changes"} {
		for _, size := range [][2]int{{170, 45}, {200, 60}, {250, 70}} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				a, r, _ := show(t, size[0], size[1])
				r.pages.at = pages[name]
				tuitest.Golden(t, a.Picture(t))
			})
		}
	}
	t.Run("summary ascii 80x24", func(t *testing.T) {
		a, _, _ := show(t, 80, 24)
		a.ASCII = true
		got := a.Picture(t)
		assert.NotRegexp(t, `[^\x00-\x7F]`, got, "nothing beyond ASCII")
		tuitest.Golden(t, got)
	})
	t.Run("export 120x40", func(t *testing.T) {
		a, _, _ := show(t, 120, 40)
		a.Send(t, "e")
		tuitest.Golden(t, a.Picture(t))
	})
	t.Run("export 80x24", func(t *testing.T) {
		a, _, _ := show(t, 80, 24)
		a.Send(t, "e")
		tuitest.Golden(t, a.Picture(t))
	})
	t.Run("export 60x16", func(t *testing.T) {
		a, _, _ := show(t, 60, 16)
		a.Send(t, "e", "enter")
		tuitest.Golden(t, a.Picture(t))
	})
}

func TestResultsFillEveryTerminal(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	for w := widget.MinWidth; w <= 200; w += 11 {
		for h := widget.MinHeight; h <= 60; h += 7 {
			a.Send(t, tea.WindowSizeMsg{Width: w, Height: h})
			for r.pages.at = range pagesOfRun {
				a.Picture(t)
			}
		}
	}
}

func TestResultsScrollWithinTheirLines(t *testing.T) {
	a, r, _ := show(t, 60, 16)
	first := a.Picture(t)
	a.Send(t, "up", "up")
	assert.Equal(t, first, a.Picture(t))
	a.Send(t, "G")
	last := a.Picture(t)
	assert.NotEqual(t, first, last)
	a.Send(t, "down", "pgdown")
	assert.Equal(t, last, a.Picture(t))
	a.Send(t, "g")
	assert.Equal(t, first, a.Picture(t))
	a.Send(t, tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	assert.Positive(t, r.pages.scroll[tabSummary])
}

func TestTabsAreTurnedByKeysAndByTheMouse(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	a.Send(t, "tab")
	assert.Equal(t, tabVerdict, r.pages.at)
	a.Send(t, "left", "shift+tab")
	assert.Equal(t, tabValues, r.pages.at, "round the corner")
	x := strings.Index(strings.Split(a.Picture(t), "\n")[1], "Changes")
	a.Send(t, tea.MouseClickMsg{X: x, Y: 1, Button: tea.MouseLeft})
	assert.Equal(t, tabChanges, r.pages.at)
}

// The operation that is chosen in the table, by keys or a click, is the one whose distribution is below it; what
// makes its times up is told of it where there is no room to tell it of all.
func TestLatencyIsShownPerOperation(t *testing.T) {
	a, r, _ := show(t, 80, 24)
	r.pages.at = tabLatency
	assert.Regexp(t, `▸ all calls +[0-9]`, a.Picture(t))
	assert.Contains(t, a.Picture(t), "Response time of all calls  ")
	assert.NotContains(t, a.Picture(t), "slowest of 5 ")
	a.Send(t, "down")
	assert.Contains(t, a.Picture(t), "▸ putall ")
	assert.Contains(t, a.Picture(t), "Response time of putall  ")
	assert.Regexp(t, `▸ putall .*\n.* slowest of 5 `, a.Picture(t))
	a.Send(t, "down", "down", "down")
	assert.Contains(t, a.Picture(t), "Response time of verify  ")
	for y, line := range strings.Split(a.Picture(t), "\n") {
		if strings.Contains(line, "  all calls") {
			a.Send(t, tea.MouseClickMsg{X: 6, Y: y, Button: tea.MouseLeft})
		}
	}
	assert.Contains(t, a.Picture(t), "Response time of all calls  ")
	a.Send(t, tea.WindowSizeMsg{Width: 120, Height: 40})
	assert.Equal(t, 2, strings.Count(a.Picture(t), "slowest of 5 "), "of both")
	assert.Contains(t, a.Picture(t), "up to", "and the distribution")
}

// What the rows below an operation are is said in words, on narrow pages and on wide ones, too.
func TestThePartsOfATimeAreExplained(t *testing.T) {
	for _, size := range []image.Point{{80, 40}, {120, 40}, {170, 45}, {240, 60}} {
		a, r, _ := show(t, size.X, size.Y)
		l := *r.run.loaded
		f := *l.folder
		f.Run.Operations = slices.Clone(f.Run.Operations)
		o := &f.Run.Operations[0]
		o.Wait.Max, o.Lateness.Max, l.folder = 1000, 1000, &f
		r.run.loaded = &l
		if r.pages.op = 0; size.X < 170 {
			r.pages.at = tabLatency
		}
		page := a.Picture(t)
		require.Regexp(t, `service +[0-9–]`, page)
		require.Contains(t, page, "response = wait (until sent) + service (until answered)", "%v", size)
		require.Contains(t, page, "lateness: perfbench's part of the wait", "%v", size)
	}
}

// HTML is chosen, and what was chosen the last time, each at its place in the list; once all is written,
// the dialog lists the files, each with its size and its whole path.
func TestExportWritesWhatIsChosenAndSaysWhere(t *testing.T) {
	a, r, b := show(t, 120, 24)
	a.Send(t, "e")
	assert.Equal(t, []string{"html"}, r.export.chosen())
	a.Send(t, "up", "space", "tab")
	assert.True(t, r.Typing())
	a.Type(t, "s")
	assert.Equal(t, r.run.loaded.folder.Dir+"s", r.export.dir.Value(), "what is there is edited")
	a.Send(t, "end", "ctrl+u")
	a.Type(t, "/tmp/reports")
	a.Send(t, "enter")
	folder := "/tmp/reports/" + b.Past[0].ID
	require.Equal(t, []string{folder + "/report.markdown", folder + "/report.html"}, b.Exported)
	assert.Contains(t, a.Picture(t), "✓ "+folder+"/report.html")
	assert.Contains(t, a.Picture(t), "✓ "+folder+"/report.markdown")
	assert.NotContains(t, a.Picture(t), "[x]", "nothing is left to be asked")
	a.Send(t, "enter")
	assert.Nil(t, r.export)
	a.Send(t, "e")
	assert.Equal(t, []string{"markdown", "html"}, r.export.chosen(), "as the last time")
	assert.Equal(t, "/tmp/reports", r.export.dir.Value(), "to the same folder")
	assert.Equal(t, b.CanWrite, r.export.formats, "in the order that they always have")
	assert.Equal(t, "markdown", r.export.formats[r.export.at].ID, "what is chosen is selected")
	a.Send(t, "G")
	assert.Equal(t, len(b.CanWrite), r.export.at, "the row of the folder is the last")
	a.Type(t, "q")
	assert.Equal(t, "/tmp/reportsq", r.export.dir.Value(), "where letters are typed")
	a.Send(t, "backspace", "up", "g")
	assert.Zero(t, r.export.at)
	assert.False(t, r.Typing())

	b.Exports = request.Exported{Formats: []string{"csv"}}
	a.Send(t, "esc", "e")
	assert.Equal(t, []string{"csv"}, r.export.chosen(), "what was not chosen stays so")
	assert.Equal(t, r.run.loaded.folder.Dir, r.export.dir.Value())
}

// What was changed live is told with what it came to, also on the tracks of a knob that was turned for all.
func TestSettingsSayWhatTheyCameTo(t *testing.T) {
	run := &rundir.Run{}
	set := func(by string, rate, threads, own float64) {
		at, n := 10*float64(len(run.Segments)), len(run.Segments)
		run.Segments = append(run.Segments, rundir.Segment{From: at, Settings: map[string]float64{"rate": rate, "threads": threads, "feed.threads": own, "payload": 1024, "fault-delay": 5 * at}})
		if by != "" {
			run.Changes = append(run.Changes, rundir.Change{At: at, Name: by, Segment: n})
		}
	}
	set("", 0, 8, 4)
	set("rate", 150000, 8, 4)
	set("threads", 150000, 18, 9)
	set("fault-delay", 150000, 18, 9)
	set("rate", 40000, 18, 9)
	set("threads", 40000, 10, 5)
	set("threads", 40000, 6, 3)
	assert.Equal(t, map[string]string{"rate": "unlimited → 150000 → 40000", "threads": "8 → 6 (3 changes)", "feed.threads": "4 → 3 (3 changes)"}, turned(run))
	assert.Empty(t, turned(&rundir.Run{}))
}

// A folder that cannot be written to stays in its field, which takes text at once.
func TestAnExportToAWrongFolderIsTypedOn(t *testing.T) {
	a, r, b := show(t, 120, 40)
	b.ExportErr = errors.New("no such folder")
	a.Send(t, "e", "up", "space", "tab", "ctrl+u")
	a.Type(t, "/nope")
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "o such folder")
	assert.True(t, r.Typing())
	a.Type(t, "/e")
	assert.Equal(t, "/nope/e", r.export.dir.Value())
	assert.Equal(t, []string{"markdown", "html"}, r.export.chosen())
	b.ExportErr = nil
	a.Send(t, "ctrl+u")
	a.Type(t, "/tmp")
	a.Send(t, "enter")
	assert.Len(t, b.Exported, 2)
}

// While documents are written, the dialog says so, and offers only what works.
func TestAnExportUnderWaySaysSo(t *testing.T) {
	a, r, b := show(t, 80, 24)
	a.Send(t, "e")
	a.Update(tuitest.KeyPress("enter")) // and it is not written yet
	picture := a.Picture(t)
	assert.Contains(t, picture, "writing: esc closes, q quits when it is written")
	assert.NotContains(t, picture, "enter")
	assert.NotContains(t, picture, "the export is being written", "nobody has asked")
	a.Send(t, "n")
	assert.Contains(t, a.Picture(t), "the export is being written: esc closes, q quits when it is written")
	on := r.export.chosen()
	a.Send(t, "down", "space", "enter", "tab")
	assert.Equal(t, on, r.export.chosen())
	assert.False(t, r.Typing())
	assert.Empty(t, b.Exported)
	a.Send(t, "esc")
	assert.Nil(t, r.export)
}

// A file has its size, and its whole path also where it was named from here.
func TestWhatWasExportedHasItsSizeAndItsWholePath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("report.html", make([]byte, 1536), 0o600))
	whole, err := filepath.Abs("report.html")
	require.NoError(t, err)
	files := documents([]string{"report.html", "gone.csv"})
	assert.Equal(t, []document{{whole, "1.5 KiB"}, {filepath.Join(filepath.Dir(whole), "gone.csv"), ""}}, files)
	a, r, _ := show(t, 120, 24)
	a.Send(t, "e", exportedMsg{id: r.run.id, files: files})
	assert.Contains(t, a.Picture(t), "✓ 1.5 KiB  "+whole)
}

// A long folder is broken between its parts, so that the id of a run stays whole.
func TestAPathIsBrokenBetweenFolders(t *testing.T) {
	assert.Equal(t, []string{"/home/somebody/", "260503-115200-redis/"}, pathLines("/home/somebody/260503-115200-redis/", 20))
	assert.Equal(t, []string{"/", "abcdef", "ghij/", "k/"}, pathLines("/abcdefghij/k/", 6), "a folder that is longer")
}

func TestALongPathKeepsItsEndAndIsWrittenOutOnceItIsThere(t *testing.T) {
	a, r, _ := show(t, 80, 24)
	elsewhere := *r.run.loaded.folder
	elsewhere.Dir = strings.Repeat("/a-long-name", 8) + "/the-run"
	r.run.loaded.folder = &elsewhere
	assert.Contains(t, a.Picture(t), "a-long-name/a-long-name/the-run ")
	text := strings.Join(written(a.Env.Styles, []document{{path: elsewhere.Dir + "/run.json"}, {path: elsewhere.Dir + "/series.csv"}}, 54), "")
	assert.Contains(t, strings.ReplaceAll(text, " ", ""), elsewhere.Dir+"/✓run.json✓series.csv")
}

func TestExportToTheRunsOwnFolderNamesNone(t *testing.T) {
	a, _, b := show(t, 80, 24)
	a.Send(t, "e", "enter")
	require.NotEmpty(t, b.Exported)
	assert.True(t, strings.HasPrefix(b.Exported[0], "/"), "dir was empty: %s", b.Exported[0])
}

func TestExportNeedsAFormat(t *testing.T) {
	a, r, b := show(t, 80, 24)
	a.Send(t, "e")
	clear(r.export.on)
	a.Send(t, "enter")
	assert.Empty(t, b.Exported)
	assert.Contains(t, a.Picture(t), "no format is chosen")
}

func TestExportByTheMouse(t *testing.T) {
	a, r, b := show(t, 80, 24)
	a.Send(t, "e")
	lines := strings.Split(a.Picture(t), "\n")
	for y, l := range lines {
		if before, _, ok := strings.Cut(l, "[ ] csv"); ok {
			a.Send(t, tea.MouseClickMsg{X: len([]rune(before)), Y: y, Button: tea.MouseLeft})
		}
	}
	assert.Equal(t, []string{"csv", "html"}, r.export.chosen())
	a.Send(t, "enter")
	assert.Len(t, b.Exported, 2)
	a.Send(t, "esc", "e", tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
	assert.Nil(t, r.export, "a click beside the box closes it")
}

func TestCopyPutsTheSummaryOnTheClipboard(t *testing.T) {
	a, r, _ := show(t, 80, 24)
	cmd := a.Update(tuitest.KeyPress("Y"))
	require.NotNil(t, cmd)
	assert.Contains(t, ansi.Strip(tuitest.Sprint(cmd())), "perfbench ingestion on redis")
	assert.Contains(t, a.Picture(t), "the summary was sent to the terminal's clipboard")
	a.Env.Now = a.Env.Now.Add(time.Minute)
	a.Send(t, a.Frame())
	assert.Empty(t, r.toast.Text)
}

func TestARunIsDoneAgainAndItsCommandIsCopied(t *testing.T) {
	a, r, _ := show(t, 80, 24)
	r.run.loaded.folder.Run.Changes = nil
	cmd := a.Update(tuitest.KeyPress("y"))
	require.NotNil(t, cmd)
	msg, ok := cmd().(screen.CommandMsg)
	require.True(t, ok)
	command := msg.Text
	assert.Contains(t, command, "perfbench run --profile ingestion --target redis://")
	assert.Equal(t, "does this run again", msg.Does)
	a.Send(t, "R")
	require.Len(t, a.Started(), 1)
	assert.Equal(t, command, request.Shell(a.Started()[0].Words()), "both do the same")
}

// What is pressed while the report is read is done once it has been read.
func TestKeysAreKeptUntilTheReportIsRead(t *testing.T) {
	a, r, _ := show(t, 80, 24)
	read := loadedMsg{id: r.run.id, run: r.run.loaded}
	at := r.pages.at
	a.Send(t, "tab", "tab")
	two := r.pages.at
	require.NotEqual(t, at, two)
	r.run.loaded, r.pages.at = nil, at
	a.Send(t, "tab", "tab", "e")
	assert.Nil(t, r.export)
	a.Send(t, read)
	assert.Equal(t, two, r.pages.at)
	assert.NotNil(t, r.export, "after the keys before it")
	assert.Empty(t, r.toast.Text)
	a.Send(t, "esc")
	r.run.loaded = nil
	a.Send(t, "R")
	assert.Empty(t, a.Started())
	read.run.folder.Run.Changes = nil
	a.Send(t, read)
	assert.Len(t, a.Started(), 1)
}

// R makes the live changes of the run again, and says so before.
func TestThatTheSameRunMakesItsLiveChangesIsSaid(t *testing.T) {
	const said = "with its live changes at the same times"
	a, r, _ := show(t, 120, 40)
	help := func() (text string) {
		for _, group := range r.Keys().Full {
			for _, b := range group {
				text += b.Help().Desc + "\n"
			}
		}
		return text
	}
	r.run.loaded.folder.Run.Changes = []rundir.Change{{At: 4, Name: "threads", From: 8, To: 9}}
	assert.Contains(t, help(), said)
	a.Send(t, "R")
	assert.Contains(t, a.Picture(t), "Run again with its 1 live change, at the same times? [y/N]")
	assert.Contains(t, a.Picture(t), "y run again  S without its live changes  enter leave it")
	assert.Empty(t, a.Started())
	a.Send(t, "R")
	require.Len(t, a.Started(), 1)
	assert.Equal(t, []string{"4s:threads=9"}, a.Started()[0].Timetable)

	a, r, _ = show(t, 120, 40)
	r.run.loaded.folder.Run.Changes = []rundir.Change{{At: 4, Name: "threads", From: 8, To: 9}, {At: 4.3, Name: "threads", From: 9, To: 10}}
	assert.Equal(t, 1, r.run.tuned(), "keys pressed one after the other are one change")
	a.Send(t, "R", "S")
	require.Len(t, a.Started(), 1)
	assert.Empty(t, a.Started()[0].Timetable)

	a, r, _ = show(t, 120, 40)
	r.run.loaded.folder.Run.Changes = nil
	assert.NotContains(t, help(), said)
	assert.NotContains(t, help(), "without its live changes")
	a.Send(t, "S")
	assert.Empty(t, a.Started())
	a.Send(t, "R")
	assert.Len(t, a.Started(), 1, "nothing to be asked")
}

// What broke a store is not done again by one key.
func TestARunWithAFaultIsNotDoneAgainUnasked(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	r.run.loaded.folder.Run.Changes, r.run.loaded.folder.Run.Timetable = nil, []string{"2s:rate=100", "4s..7s:fault=pause:primary"}
	a.Send(t, "R")
	assert.Empty(t, a.Started())
	const asks = "Run again, and break the store by 4s..7s:fault=pause:primary? [y/N]"
	assert.Contains(t, a.Picture(t), asks)
	a.Env.Now = a.Env.Now.Add(time.Minute)
	a.Send(t, a.Frame(), "down", "S")
	assert.Contains(t, a.Picture(t), asks, "a question stays until it is answered")
	a.Send(t, "enter")
	assert.NotContains(t, a.Picture(t), asks)
	a.Send(t, "R", tea.MouseClickMsg{X: 30, Y: 10, Button: tea.MouseLeft})
	assert.NotContains(t, a.Picture(t), asks)
	assert.Empty(t, a.Started())
	a.Send(t, "R", "y")
	assert.Len(t, a.Started(), 1)
}

func TestASearchAndASweepBeginWithTheRunThatIsShown(t *testing.T) {
	a, _, _ := show(t, 80, 24)
	a.Send(t, "f", "w")
	require.Len(t, a.Asked, 2)
	search, sweep := a.Asked[0].(screen.AskSearch), a.Asked[1].(screen.AskSweep)
	run := screen.Searching(search.Request, find.Asked{Over: find.OverRate, Within: find.Within})
	assert.Equal(t, find.Within, run.Values["duration"].Text, "long enough for a search")
	assert.NotContains(t, run.Values, "count")
	assert.Equal(t, sweep.Request.Profile, search.Request.Profile)
	assert.Equal(t, sweep.Request.Values["threads"], search.Request.Values["threads"])
	assert.NotEqual(t, find.Within, sweep.Request.Values["duration"].Text, "the run itself is left as it was")
}

func TestARunThatWroteNothingSaysWhy(t *testing.T) {
	err := fault.Hint(errors.New("write results: no space left on device"), "free some space")
	a := tuitest.NewStage(t, NewEnded(&tuitest.Bench{}, screen.Outcome{Err: err}, tuitest.Day.Add(12*time.Hour)), 80, 24)
	got := a.Picture(t)
	assert.Contains(t, got, "no space left on device")
	assert.Contains(t, got, "free some space")
	a.Send(t, "e")
	assert.Contains(t, a.Picture(t), "this run has no report: write results: no space left on device")
}

// What is known of a run without a readable report is where its files are and what went wrong.
func TestARunThatEndedWithoutAReportSaysWhereItsFilesAre(t *testing.T) {
	o := screen.Outcome{ID: "gone", Dir: "results/gone", Err: errors.New("this is a bug in perfbench: a nil map")}
	a := tuitest.NewStage(t, NewEnded(&tuitest.Bench{}, o, tuitest.Day.Add(12*time.Hour)), 80, 24)
	got := a.Picture(t)
	assert.Contains(t, got, "this is a bug in perfbench: a nil map")
	assert.Contains(t, got, "Its files are in results/gone")
	a.Send(t, "e")
	assert.Contains(t, a.Picture(t), "the report cannot be read: run gone: not found")
}

// Nobody says what came of a run of another process: what its folder has is shown, and why there is no more.
func TestAWatchedRunThatWasLostSaysSoBesideItsReport(t *testing.T) {
	_, r, b := show(t, 120, 40)
	o := screen.Outcome{ID: r.run.id, Watched: true, Note: "Nothing was heard from the process that drives it for 30 s."}
	a := tuitest.NewStage(t, NewEnded(b, o, tuitest.Day.Add(12*time.Hour)), 120, 40)
	assert.Contains(t, a.Picture(t), "Nothing was heard from the process that drives it for 30 s.")
	o.ID = ""
	a = tuitest.NewStage(t, NewEnded(b, o, tuitest.Day.Add(12*time.Hour)), 120, 40)
	assert.Contains(t, a.Picture(t), "Nothing was heard from the process that drives it for 30 s.")
}

func TestARunThatCannotBeReadSaysWhy(t *testing.T) {
	a := tuitest.NewStage(t, New(&tuitest.Bench{}, "gone"), 80, 24)
	assert.Contains(t, a.Picture(t), "run gone: not found")
	a.Send(t, "tab", "e", "y", "c", "esc")
	assert.Equal(t, 1, a.Backs)
}

func TestACourseHasGapsWhereNothingWasMeasured(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{}, Series: []rundir.SeriesRow{
		{T: 0, Op: "a", Throughput: 10, ResponseP99: 5, ResponseMax: 9}, {T: 0, Op: "b", Throughput: 5, ResponseP99: 7, ResponseMax: 9}, {T: 2, Op: "a", Throughput: 20},
	}}
	c := curvesOf(f)
	require.Len(t, c.rates, 3)
	assert.InDelta(t, 15, c.rates[0], 1e-9)
	assert.True(t, math.IsNaN(c.rates[1]))
	assert.InDelta(t, 7, c.p99[0], 1e-9)
	assert.True(t, math.IsNaN(c.p99[2]))
	for _, n := range []int{1, 2, 3, 7, 100} {
		assert.Len(t, chart.Spread(c.rates, n, true), n)
	}
	assert.Empty(t, curvesOf(&rundir.Folder{}).rates)
}

// A second of too few calls has a dimmed bar, and is in what is said of the p99: it may be the one that stalled.
func TestAP99OfFewCallsIsDimmed(t *testing.T) {
	of := func(counts ...int64) *loadedRun {
		f := &rundir.Folder{Run: rundir.Run{Unit: "entries", MeasuredS: float64(len(counts)), Operations: []rundir.Operation{{Op: "put"}}}}
		for at, n := range counts {
			f.Series = append(f.Series, rundir.SeriesRow{T: at, Op: "put", Count: n, ResponseP99: int64(at+1) * 1e6, ResponseMax: 9e6})
		}
		return &loadedRun{folder: f, course: curvesOf(f)}
	}
	l := of(1000, 2000, 999, 5000)
	assert.Equal(t, []bool{false, false, true, false}, l.course.fewIn(4))
	assert.Equal(t, []bool{false}, l.course.fewIn(1), "all of them together")
	assert.Equal(t, ", each second 1 ms to 4 ms, dimmed if of fewer than 1000 calls", l.reachOfP99(120))
	assert.Equal(t, ", each second 1 ms to 4 ms", l.reachOfP99(59))
	assert.Equal(t, ", each second 1 ms to 2 ms, of fewer than 1000 calls each", of(10, 20).reachOfP99(65))
	assert.Equal(t, ", each second of fewer than 1000 calls", of(10, 20).reachOfP99(45))
	assert.Equal(t, ", each second 1 ms to 2 ms", of(1000, 2000).reachOfP99(120))
	assert.Contains(t, of(1000, 2000, 5000, 20).reachOfP99(120), ", each second 1 ms to 4 ms, dimmed")
	begun := of(1000, 2000, 20)
	begun.folder.Run.MeasuredS = 2.1
	assert.Equal(t, ", each second 1 ms to 2 ms", begun.reachOfP99(120), "a part of a second is none")
}

func TestAnOutageIsShadedInTheChartsOfARun(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{Unit: "entries", Outages: []verdict.Outage{{From: 5.02, To: 8.9}, {From: 17, To: 19}}}}
	for at := range 20 {
		row := rundir.SeriesRow{T: at, Op: "put", Count: 100, Throughput: 100, ResponseP99: 5e6, ResponseMax: 6e6}
		if at >= 5 && at < 9 || at >= 17 && at < 19 {
			row.Count, row.Throughput = 0, 0
		}
		f.Series = append(f.Series, row)
	}
	c := curvesOf(f)
	assert.Equal(t, []idle{{from: 5.02, to: 8.9}, {from: 17, to: 19}}, c.idle)
	l := &loadedRun{folder: f, course: c}
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor)
	page := ansi.Strip(strings.Join(l.page(s, &moment{}, nil, 76, 10), "\n"))
	assert.Contains(t, page, "░░░░", "below the fold, too")
	assert.Contains(t, page, "░ nothing was done")
	assert.NotContains(t, page, "╱")

	f.Run.Emptied = []verdict.Outage{{From: 8.9, To: 17}}
	l.course = curvesOf(f)
	page = ansi.Strip(strings.Join(l.page(s, &moment{}, nil, 116, 10), "\n"))
	assert.Regexp(t, `░{10,}╱{20,}░{10,}`, page, "each has its own shade")
	assert.Contains(t, page, "░ nothing was done · ╱ answered without records")
	assert.Regexp(t, `╱(answers without records for 8.1 s|records lost)`, page)
}

// The charts are of the seconds that their titles have: a few calls in the part of a second at the end would be the
// tallest bar. A second without errors has no bar.
func TestChartsShowWhatTheirTitlesSay(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{Unit: "entries", MeasuredS: 20.1, Operations: []rundir.Operation{{Op: "put", Count: 100, Errors: 10}}}}
	for at := range 21 {
		row := rundir.SeriesRow{T: at, Op: "put", Count: 100, Throughput: 100, ResponseP99: 5e6, ResponseMax: 6e6}
		if at == 20 {
			row.ResponseP99, row.Throughput = 90e6, 900
		}
		if at == 10 {
			row.Errors = 10
		}
		f.Series = append(f.Series, row)
	}
	l := &loadedRun{folder: f, course: curvesOf(f)}
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor)
	charts := ansi.Strip(strings.Join(l.charts(s, &moment{}, image.Point{}, 76, 14), "\n"))
	assert.Contains(t, charts, "each second 5 ms to 5 ms")
	assert.NotRegexp(t, `90 ms|100 ms|900`, charts)
	errors := l.failing(s, &moment{}, 76, 0)
	assert.Contains(t, ansi.Strip(errors[0]), "each second 0 to 10")
	assert.NotContains(t, ansi.Strip(strings.Join(errors, "\n")), "▁", "none in a second is no bar")
}

func TestAFaultIsShadedAndToldOnceInTheChartsOfARun(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{Unit: "entries", MeasuredS: 20, Operations: []rundir.Operation{{Op: "put"}}, Changes: []rundir.Change{
		{At: 10, Name: "fault-delay", To: 5, By: "timetable"}, {At: 14, Name: "fault-delay", From: 5, By: "timetable"},
	}}}
	for at := range 20 {
		f.Series = append(f.Series, rundir.SeriesRow{T: at, Op: "put", Count: 100, Throughput: 100, ResponseP99: 5e6, ResponseMax: 6e6})
	}
	c := curvesOf(f)
	assert.Equal(t, [][2]float64{{10, 14}}, c.faults)
	assert.Empty(t, c.changes)
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor)
	page := ansi.Strip(strings.Join((&loadedRun{folder: f, course: c}).page(s, &moment{}, nil, 76, 10), "\n"))
	assert.Contains(t, page, "▒ an injected fault")
	assert.Contains(t, strings.Join(strings.Fields(page), " "), "delay:5ms from 00:10 to 00:14 of the run: 400 done in its seconds, 0 calls failed")
}

func BenchmarkResultsView(b *testing.B) {
	for name, tab := range map[string]page{"summary": tabSummary, "latency": tabLatency} {
		b.Run(name, func(b *testing.B) {
			a, r, _ := show(b, 120, 40)
			r.pages.at = tab
			for b.Loop() {
				a.Top.View(a.Env)
			}
		})
	}
}

func TestPartsOfOperationsDoNotCountTwice(t *testing.T) {
	v := 10.0
	run := rundir.Run{MeasuredS: 10, Operations: []rundir.Operation{
		{Track: "g1", Op: "invocation", Count: 100, Throughput: &v}, {Track: "g1", Op: "put", Count: 100, Throughput: &v},
	}}
	run.Parts = []string{"g1.put"}
	assert.InDelta(t, 10, widget.FiguresOf(&run).Rate, 1e-9)
	f := &rundir.Folder{Run: run, Series: []rundir.SeriesRow{{Track: "g1", Op: "invocation", Throughput: 10}, {Track: "g1", Op: "put", Throughput: 10}}}
	assert.InDelta(t, 10, curvesOf(f).rates[0], 1e-9)
}

// A segment names what its tracks have where they differ, and none of it is cut off.
func TestSegmentsSayAllThatChanged(t *testing.T) {
	a, r, _ := show(t, 80, 24)
	run := &r.run.loaded.folder.Run
	run.Segments = slices.Clone(run.Segments[:2])
	for i, settings := range []map[string]float64{
		{"payload": 1024, "eligibility.payload": 1024, "profile.payload": 1024, "threads": 16, "batch": 50},
		{"eligibility.payload": 1024, "profile.payload": 4096, "threads": 32, "batch": 100},
	} {
		run.Segments[i].Settings = settings
	}
	run.Changes = nil
	r.pages.at = tabChanges
	text := a.Picture(t)
	for _, want := range []string{"profile.payload 1 KiB", "profile.payload 4 KiB", "threads 16", "threads 32", "batch 50", "batch 100"} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "0 B")
	assert.NotContains(t, text[:strings.LastIndexByte(strings.TrimSpace(text), '\n')], "…", "above the keys")
}

// A run of another terminal is read again each second until it has ended.
func TestARunThatIsGoingIsFollowed(t *testing.T) {
	a, r, b := show(t, 120, 40)
	f, err := b.Load(r.run.id)
	require.NoError(t, err)
	going := *f
	going.Run.EndedBy = rundir.StillRunning
	r.run.loaded.folder = &going
	assert.Contains(t, a.Picture(t), "watching: another perfbench drives this run")
	a.Send(t, "tab")
	page := r.pages.at
	for range 15 {
		a.Send(t, a.Frame())
	}
	assert.False(t, r.run.going(), "it has ended meanwhile")
	assert.Equal(t, page, r.pages.at, "who reads a page is not moved")
	assert.Contains(t, a.Picture(t), "written to")
}

// A replay that compared answers has a page of them.
func TestAnswersPage(t *testing.T) {
	a, r, _ := show(t, 80, 24)
	assert.NotContains(t, r.pages.list(), tabAnswers)
	r.run.loaded.answers = &workload.Answers{Server: "Redis 6", Compared: 40, Differ: 1, Commands: []workload.AnswersTo{{Command: "GET", Compared: 40, Differ: 1}}, Examples: []string{"call 7, GET k: nothing"}}
	require.Contains(t, r.pages.list(), tabAnswers)
	r.pages.at = tabAnswers
	got := a.Picture(t)
	assert.Contains(t, got, "1 of 40 answers differ from those of Redis 6 (GET 1)")
	assert.Regexp(t, `GET +40 +1 +2.5 %`, got)
	assert.Contains(t, got, "call 7, GET k: nothing")
}

// Only a segment in which the run was paused says anything of that.
func TestASegmentSaysThatItWasPaused(t *testing.T) {
	of := func(paused float64) []string {
		at := map[string]float64{"paused": paused, "threads": 4}
		return settings(rundir.Stretch{Segment: rundir.Segment{Settings: at}, End: at}, []string{"paused", "threads"}, 40)
	}
	assert.Equal(t, []string{"threads 4"}, of(0))
	assert.Equal(t, []string{"paused yes · threads 4"}, of(1))
}
