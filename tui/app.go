// Package tui is the workbench: the screens of `perfbench tui`. It draws what the small
// interfaces of a Bench report, and changes a run through others, those of an Access; it
// knows no engine, no store and no profile. It polls: five times a second a tick reads the
// newest snapshot, so a run never waits for the screen.
package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/picker"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// App is the only tea.Model. It holds the size, the theme, the stack of screens and the
// overlay. It belongs to Bubble Tea's event loop.
type App struct {
	env     screen.Env
	bench   Bench
	opts    Options
	stack   stack
	left    []screen.Screen // those above the first one when the form was opened from the last of them
	overlay overlay
	scroll  int
	logs    []string
	command screen.CommandMsg // what the overlay command shows
	opened  map[string]bool   // the sweeps and groups whose runs the list of runs shows
	// dark is the background; answered means that the terminal itself has told it.
	dark, answered bool
	colours        colorprofile.Profile // Unknown until the terminal is known
	blurred        bool
	// suspend means that a shell can resume us after ctrl+z.
	suspend bool
	// gen numbers the chain of frame ticks; ticks of an older chain are ignored.
	// resting means that the next frame is far off because nothing is happening.
	gen     int
	resting bool
	// tick returns the command that delivers the next frame.
	tick func(every time.Duration, gen int) tea.Cmd
	// leaving means that the program quits once the run has ended, and what is being written is.
	leaving bool
	killed  screen.Ending
	final   Final
	// asks is what the key asks that was pressed last; nil: nothing.
	asks *question
	// pending is the outcome of a run that ended while the user was typing.
	pending *screen.EndedMsg
}

// NewApp returns the application without a terminal, for Show and for tests. connecting
// creates the contexts for operations that may take long.
func NewApp(o Options, b Bench, connecting func() (context.Context, context.CancelFunc)) *App {
	b.Dashboard.Broke, b.Dashboard.Sought = new(dashboard.Broke), dashboard.Sought{}
	a := &App{dark: true, opened: map[string]bool{}, tick: tick, bench: b, opts: o, env: screen.Env{Connecting: connecting, Starts: new(sync.WaitGroup), Writes: new(int)}, suspend: canSuspend()}
	a.env.Styles, a.env.Title = a.newStyles(), a.titleOf
	a.stack = stack{picker.New(b.Picker, o.Request, o.RunParams)}
	if o.Start {
		a.stack = append(a.stack, a.screenFor(screen.Start{Request: o.Request}))
	}
	if o.Suite != nil {
		a.stack = append(a.stack, a.screenFor(*o.Suite))
	}
	if o.Watch.Run != nil {
		a.stack = append(a.stack, dashboard.New(b.Dashboard, o.Watch))
	}
	return a
}

func (a *App) newStyles() *widget.Styles {
	theme := a.opts.Theme
	if a.opts.NoColor {
		theme = widget.ThemeMono
	}
	s := widget.NewStyles(theme, a.dark, a.colours)
	s.Spoken = a.opts.Plain
	return s
}

// Init asks the terminal for its background and starts the frames.
func (a *App) Init() tea.Cmd {
	a.env.Now = time.Now() // the first page is drawn before the first frame
	cmds := []tea.Cmd{a.nextFrame()}
	if !a.opts.Plain { // where nothing is drawn, the terminal is asked nothing
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	for _, s := range a.stack {
		if st, ok := s.(screen.Starter); ok {
			cmds = append(cmds, st.Start(a.env))
		}
	}
	return tea.Batch(cmds...)
}

// Frames per second: with focus, without focus, and while nothing is happening.
const (
	fps     = 5
	fpsBlur = 2
	fpsRest = 1
)

func (a *App) nextFrame() tea.Cmd {
	every := time.Second / fps
	// An overlay costs more to draw than everything below it.
	if a.blurred || a.opts.NoAnimation || a.overlay != none {
		every = time.Second / fpsBlur
	}
	if a.resting = a.stack.idle(); a.resting {
		every = time.Second / fpsRest
	}
	return a.tick(every, a.gen)
}

// wake restarts the frames if the next one is far off, because something has changed.
func (a *App) wake() tea.Cmd {
	if !a.resting {
		return nil
	}
	a.resting = false
	a.gen++
	return a.tick(time.Second/fps, a.gen)
}

func tick(every time.Duration, gen int) tea.Cmd {
	return tea.Tick(every, func(t time.Time) tea.Msg { return screen.FrameMsg{At: t, Gen: gen} })
}

// Update handles one message. It never blocks.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg.(type) {
	case tea.KeyPressMsg, tea.MouseClickMsg, tea.PasteMsg:
		a.unsay()
	}
	if c, click := msg.(tea.MouseClickMsg); click {
		if q := a.asking(); q != nil && c.Y == a.env.H-1 {
			if k, ok := q.KeyAt(c.X, a.env.W); ok {
				return a, a.press(k)
			}
		}
		a.asks = nil
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.env.W, a.env.H = msg.Width, msg.Height
	case tea.EnvMsg:
		if !a.answered {
			a.dark = widget.Dark(msg.Getenv("COLORFGBG"))
			a.env.Styles = a.newStyles()
		}
	case tea.BackgroundColorMsg:
		a.dark, a.answered = msg.IsDark(), true
		a.env.Styles = a.newStyles()
	case tea.ColorProfileMsg:
		a.colours = msg.Profile
		a.env.Styles = a.newStyles()
	case tea.FocusMsg, tea.ResumeMsg:
		a.blurred = false
		a.gen++
		return a, tea.Batch(a.nextFrame(), a.shown())
	case tea.BlurMsg:
		a.blurred = true
	case screen.FrameMsg:
		return a, a.frame(msg)
	case screen.OpenMsg:
		return a, a.open(msg)
	case screen.BackMsg:
		a.stack.close()
		return a, a.shown()
	case screen.SetUpMsg:
		if top, ok := a.stack.top().(screen.Listener); ok && a.stack.run() != nil { // its screen would be gone
			top.Tell("the form opens when what goes on here has ended", a.env)
			return a, nil
		}
		a.left = slices.Clone(a.stack[1:])
		a.stack = a.stack[:1]
		return a, a.stack.forward(msg, a.env)
	case screen.CommandMsg:
		a.overlay, a.scroll, a.command = command, 0, msg
		return a, tea.SetClipboard(msg.Text)
	case screen.EndedMsg:
		return a, a.ended(msg)
	case screen.WrittenMsg:
		return a, a.written(msg)
	case dashboard.DoneMsg:
		return a, tea.Batch(msg.Orphaned(a.stack), a.stack.forward(msg, a.env))
	case stopMsg:
		return a, a.leave()
	case killMsg:
		return a, a.kill()
	case tea.KeyPressMsg:
		if k, ok := unmerged(msg); ok {
			return a, tea.Batch(a.escapeThen(k), a.wake())
		}
		return a, tea.Batch(a.press(msg), a.wake())
	case afterMsg:
		return a, a.after(msg)
	case tea.MouseClickMsg, tea.MouseWheelMsg:
		if a.overlay != none {
			return a, a.overlayMouse(msg)
		}
		c, clicked := msg.(tea.MouseClickMsg)
		if clicked && c.Button != tea.MouseLeft {
			return a, nil // no other button means anything
		}
		if clicked && c.Y == a.env.H-1 {
			if k, ok := widget.FooterKey(a.stack.top().Keys().Short, c.X, a.env.W); ok {
				return a, a.press(k)
			}
		}
		return a, tea.Batch(a.stack.forward(msg, a.env), a.wake())
	default:
		return a, a.stack.forward(msg, a.env)
	}
	return a, nil
}

func (a *App) frame(msg screen.FrameMsg) tea.Cmd {
	if msg.Gen != a.gen {
		return nil
	}
	a.env.Now = msg.At
	if a.overlay == logs {
		a.logs = a.bench.Logs()
	}
	cmds := []tea.Cmd{a.nextFrame(), a.stack.frame(msg, a.env)}
	if a.pending != nil && !a.stack.typing() {
		cmds = append(cmds, a.reveal(*a.pending))
	}
	return tea.Batch(cmds...)
}

func (a *App) open(msg screen.OpenMsg) tea.Cmd {
	to := a.screenFor(msg.To)
	if _, back := msg.To.(screen.Return); back && len(a.stack) == 1 && len(a.left) > 0 && a.left[len(a.left)-1] == to {
		a.stack = append(a.stack, a.left[:len(a.left)-1]...) // what it was opened from
	}
	if msg.Replace {
		a.stack[len(a.stack)-1] = to
	} else {
		a.stack = append(a.stack, to)
	}
	if s, ok := to.(screen.Starter); ok {
		return s.Start(a.env)
	}
	return nil
}

// screenFor creates the screen for a destination.
func (a *App) screenFor(to screen.Destination) screen.Screen {
	switch to := to.(type) {
	case screen.Start:
		return dashboard.NewStarting(a.bench.Starter, a.bench.Dashboard, a.titleOf(to.Request.Profile), to)
	case screen.Results:
		return results.New(a.bench.Results, to.ID)
	case screen.Watched:
		return dashboard.New(a.bench.Dashboard, to.Access)
	case screen.Runs:
		list := archive.NewRuns(a.bench.Runs, to.Chosen, a.opened, results.NewPreview(a.bench.Results))
		list.Deletes = to.Delete
		return list
	case screen.AskSweep:
		return archive.Ask(a.bench.Sweeper, to)
	case screen.AskSearch:
		return dashboard.NewPlannedSearch(a.bench.Planner, a.titleOf(to.Request.Profile), to, a.bench.Dashboard.Sought)
	case screen.Sweep:
		return archive.NewSweeps(a.bench.Sweeper, to.ID)
	case screen.Plans:
		return archive.NewPlans(a.bench.Plans)
	case screen.Suite:
		return archive.NewSuite(a.bench.Suites, to)
	case screen.Return:
		return to.To
	case screen.Compare:
		return archive.NewComparison(a.bench.Finished, to.A, to.B)
	case screen.Noise:
		return archive.NewNoise(a.bench.Finished, to.Runs)
	}
	panic(fmt.Sprintf("there is no screen for %T", to))
}

// titleOf returns the title of a profile; its name if there is none.
func (a *App) titleOf(profile string) string {
	for _, p := range a.bench.Picker.Catalogue.Profiles() {
		if p.Name == profile {
			return p.Title
		}
	}
	return profile
}

// home goes to the first screen and forgets where its form was opened from, or says why it does not.
func (a *App) home() tea.Cmd {
	n := a.stack.away()
	a.stack = a.stack[:len(a.stack)-n]
	if p, is := a.stack.top().(*picker.Picker); is {
		a.left = nil
		cmd, changed := p.Home(a.env)
		if n == 0 && !changed {
			p.Tell("this is the first screen", a.env)
		}
		return cmd
	}
	if top, ok := a.stack.top().(screen.Listener); ok && n == 0 {
		top.Tell("what goes on here is not left by H; ? lists the keys", a.env)
	}
	return nil
}

// shown reads the plan files again where their list is on top: they may have been written meanwhile.
func (a *App) shown() tea.Cmd {
	if p, is := a.stack.top().(*archive.Plans); is {
		return p.Start(a.env)
	}
	return nil
}

// global lists the keys that mean the same on every screen, as far as they work now.
func (a *App) global() []key.Binding {
	return slices.DeleteFunc(widget.AllKeys.Global(a.suspend), func(b key.Binding) bool {
		typed := len(b.Keys()[0]) == 1 && !slices.Equal(b.Keys(), widget.AllKeys.Help.Keys())
		return (a.stack.typing() || a.stack.writes(widget.PressOf(b.Keys()[0]))) && typed || slices.Equal(b.Keys(), widget.AllKeys.Home.Keys()) && a.stack.away() == 0
	})
}

// press handles the keys that mean the same everywhere.
func (a *App) press(msg tea.KeyPressMsg) tea.Cmd {
	if key.Matches(msg, widget.AllKeys.Interrupt) && (a.leaving || a.asking() != nil && a.asks.AtOnce != "") {
		return a.kill()
	}
	if key.Matches(msg, widget.AllKeys.Suspend) {
		if a.suspend {
			return tea.Suspend
		}
		if top, ok := a.stack.top().(screen.Listener); ok {
			top.Tell("ctrl+z does nothing: "+widget.NoShell, a.env)
		}
		return nil
	}
	if a.overlay != none {
		return a.overlayKey(msg)
	}
	if q := a.asking(); q != nil && (!key.Matches(msg, widget.AllKeys.Interrupt) || msg.String() == q.Key) {
		return a.reply(msg)
	}
	a.asks = nil
	typing := a.stack.typing() || a.stack.writes(msg)
	switch {
	case key.Matches(msg, widget.AllKeys.Interrupt), !typing && key.Matches(msg, widget.AllKeys.Quit):
		if q := cmp.Or(a.stopsAndQuits(msg), a.loses(msg)); q != nil {
			a.ask(q)
			return nil
		}
		return a.quit()
	case key.Matches(msg, widget.AllKeys.Help) && (!typing || msg.Text == "" || a.stack.untouched()):
		a.overlay, a.scroll = help, 0
	case typing:
		return a.stack.forward(msg, a.env)
	case key.Matches(msg, widget.AllKeys.Home):
		return a.home()
	case key.Matches(msg, widget.AllKeys.Logs):
		a.overlay, a.scroll, a.logs = logs, 0, a.bench.Logs()
	case a.stops(msg):
		a.ask(a.stop(msg))
	default:
		return a.answer(msg)
	}
	return nil
}

// page draws the screen on top: a form in a box over the screen below, where that has room; and in the last line what is
// asked.
func (a *App) page() string {
	page := a.screen()
	if q := a.asking(); q != nil {
		return page[:strings.LastIndexByte(page, '\n')+1] + q.Line(a.env.Styles, a.env.W)
	}
	return page
}

func (a *App) screen() string {
	top, e := a.stack.top(), a.env
	if b, ok := top.(screen.Boxed); ok && len(a.stack) > 1 && !e.Styles.Spoken {
		if box := b.Box(e); box != nil && len(box) <= e.H-2 {
			below := footed(a.stack[len(a.stack)-2].View(e), e, top.Keys().Short)
			w := ansi.StringWidth(box[0])
			return over(below, box, (e.W-w)/2, (e.H-len(box))/2, e.W)
		}
	}
	return top.View(e)
}

// View draws the screen on top and the overlay above it.
func (a *App) View() tea.View {
	v := tea.NewView("")
	v.AltScreen, v.ReportFocus = true, true
	if !a.opts.NoMouse && a.overlay != command { // the terminal's own mouse marks it
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = "perfbench"
	if t, ok := a.stack.top().(screen.Titled); ok {
		v.WindowTitle, v.ProgressBar = t.Outside(a.env)
	}
	if a.env.W <= 0 || a.env.H <= 0 {
		return v
	}
	switch {
	case widget.SizeOf(a.env.W, a.env.H) == widget.TooSmall:
		v.Content = a.tooSmallView()
	case a.overlay != none:
		v.Content = a.float(a.page())
	default:
		v.Content = a.page()
	}
	if a.opts.ASCII {
		v.Content, v.WindowTitle = chart.ASCII(v.Content), chart.ASCII(v.WindowTitle)
	}
	return v
}
