package tui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/screen"
)

const altScreenOn, altScreenOff = "\x1b[?1049h", "\x1b[?1049l"

// outlet keeps what a terminal would get, and tells when its alternate screen is
// on.
type outlet struct {
	mu  sync.Mutex
	buf bytes.Buffer
	on  chan struct{}
}

func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := bytes.Contains(o.buf.Bytes(), []byte(altScreenOn))
	n, err := o.buf.Write(p)
	if !was && bytes.Contains(o.buf.Bytes(), []byte(altScreenOn)) {
		close(o.on)
	}
	return n, err
}

// brokenBench breaks in a command, off the event loop, once the screen is on.
type brokenBench struct {
	*tuitest.Bench
	on <-chan struct{}
}

func (b brokenBench) Start(context.Context, request.Request) (screen.Access, error) {
	<-b.on
	panic("a bug in a command")
}

// brokenBeside breaks in a goroutine that it begins, as runs and stores have.
type brokenBeside struct {
	*tuitest.Bench
	on <-chan struct{}
}

func (b brokenBeside) Start(context.Context, request.Request) (screen.Access, error) {
	<-b.on
	fault.Go(func() { panic("a bug in a goroutine") })
	return tuitest.NewRun(1).Access(), nil
}

// brokenRun breaks once it has been asked a few times: in the event loop.
type brokenRun struct {
	*tuitest.Run
	asked atomic.Int64
}

func (r *brokenRun) Snapshot() *measure.Snapshot {
	if r.asked.Add(1) > 5 {
		panic("a bug in a screen")
	}
	return r.Run.Snapshot()
}

type brokenRunBench struct {
	*tuitest.Bench
	run *brokenRun
}

func (b brokenRunBench) Start(context.Context, request.Request) (screen.Access, error) {
	a := b.run.Access()
	a.Run = b.run
	return a, nil
}

// startedBy is a fake whose runs another one starts.
func startedBy(s dashboard.Starter) Bench {
	b := partsOf(&tuitest.Bench{})
	b.Starter = s
	return b
}

// brokenView breaks while the page is drawn.
type brokenView struct{ screen.Screen }

func (brokenView) View(screen.Env) string { panic("a bug in drawing") }

func TestAPanicWhileDrawingEndsInOneSentence(t *testing.T) {
	a := NewApp(Options{}, partsOf(&tuitest.Bench{}), nil)
	a.stack[0] = brokenView{a.stack[0]}
	g := &guard{app: a}
	g.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	assert.True(t, g.View().AltScreen, "the screen stays in its mode until the program ends")
	require.ErrorContains(t, g.broken, "panic_test.go")
	_, cmd := g.Update(tea.FocusMsg{})
	assert.Equal(t, tea.QuitMsg{}, cmd())
}

// brokenUpdate breaks when a message comes.
type brokenUpdate struct{ screen.Screen }

func (brokenUpdate) Update(tea.Msg, screen.Env) (screen.Screen, tea.Cmd) { panic("a bug in a screen") }

// The library draws once more what Update returned: without a model it would panic
// itself, and write its stack trace over the terminal.
func TestAPanicInAScreenLeavesAModelToDraw(t *testing.T) {
	a := NewApp(Options{}, partsOf(&tuitest.Bench{}), nil)
	a.stack[0] = brokenUpdate{a.stack[0]}
	g := &guard{app: a}
	m, cmd := g.Update(tuitest.KeyPress("x"))
	assert.Same(t, g, m)
	assert.Equal(t, tea.QuitMsg{}, cmd())
}

func TestAPanicGivesTheTerminalBack(t *testing.T) {
	run := &brokenRun{Run: tuitest.NewRun(1)}
	for name, bench := range map[string]func(on <-chan struct{}) Bench{
		"in a command": func(on <-chan struct{}) Bench { return startedBy(brokenBench{&tuitest.Bench{}, on}) },
		"beside it":    func(on <-chan struct{}) Bench { return startedBy(brokenBeside{&tuitest.Bench{}, on}) },
		"in a screen":  func(<-chan struct{}) Bench { return startedBy(brokenRunBench{&tuitest.Bench{}, run}) },
	} {
		t.Run(name, func(t *testing.T) {
			in, w := io.Pipe()
			defer w.Close()
			out := &outlet{on: make(chan struct{})}
			var stack string
			keep := func(what any, s []byte) string {
				stack = fmt.Sprint(what, "\n", string(s))
				return "/state/workbench.log"
			}
			_, err := Show(t.Context(), Options{Start: true, In: in, Out: out, Environ: []string{"TERM=xterm-256color"}, Crashed: keep}, bench(out.on))
			require.NotErrorIs(t, err, tea.ErrProgramPanic, "the library would write a stack trace over the terminal")
			require.ErrorContains(t, err, "this is a bug in perfbench: the screen crashed at panic_test.go:")
			assert.NotContains(t, err.Error(), "\n", "one sentence")
			assert.Contains(t, fault.HintOf(err), "the terminal is restored")
			assert.Contains(t, fault.HintOf(err), "send the end of /state/workbench.log, which has the stack")
			assert.Contains(t, stack, "a bug in a ")
			assert.Contains(t, stack, "panic_test.go:", "the line that panicked")
			assert.NotContains(t, out.buf.String(), "goroutine")
			on, off := bytes.LastIndex(out.buf.Bytes(), []byte(altScreenOn)), bytes.LastIndex(out.buf.Bytes(), []byte(altScreenOff))
			assert.GreaterOrEqual(t, on, 0, "the alternate screen was on")
			assert.Greater(t, off, on, "and is off again")
		})
	}
	assert.True(t, run.Killed, "a run whose screen is broken ends, and is reported")
}
