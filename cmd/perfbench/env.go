package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// Env is everything that the command takes from its surroundings, so that a test
// runs the real command.
type Env struct {
	// Args are the arguments without the program's name, Environ is NAME=value.
	Args, Environ  []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// These say whether a person sits there.
	StdinTerminal, StdoutTerminal, StderrTerminal bool
	// StdoutWidth is the width of the terminal that stdout is, or 0.
	StdoutWidth int
	// Calibrate says that runs may measure the ceiling of perfbench itself beforehand,
	// and keep it in the cache of the user.
	Calibrate bool
	// ReadSecret asks on the terminal without echo; nil when there is none.
	ReadSecret func(prompt string) (string, error)
	// Signals delivers interrupts; may be nil.
	Signals <-chan os.Signal
}

// patience is how long the command may take to end after the second interrupt.
const patience = 3 * time.Second

// app is one call of the command.
type app struct {
	Env
	// hard ends at the second interrupt; the context of a command at the first.
	hard context.Context
	log  *slog.Logger
	// told is the folder of a run whose summary stands on stdout.
	told string
}

// run carries out one command line and returns the exit code. The first interrupt
// ends what it does gracefully, the second at once.
func run(ctx context.Context, env Env) int {
	soft, interrupt := context.WithCancelCause(ctx)
	hard, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer interrupt(nil)
	defer kill()
	env.Stdout = &output{w: env.Stdout}
	a := &app{Env: env, hard: hard, log: slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	done := make(chan int, 1) // one value: the sender never waits
	go func() { done <- a.execute(soft) }()
	for n := 0; ; {
		select {
		case code := <-done:
			return code
		case <-env.Signals:
			if n++; n == 1 {
				interrupt(session.ErrInterrupted)
				continue
			}
			kill()
			select {
			case code := <-done:
				return code
			case <-time.After(patience):
				fmt.Fprintln(env.Stderr, "perfbench: stopped at once; unfinished work was abandoned")
				return fault.CodeInterrupted
			}
		}
	}
}

// output remembers that a write has failed, so that no caller needs to look. A
// reader that has gone, as head does, is no failure: what follows is dropped.
type output struct {
	w    io.Writer
	err  error
	gone bool
}

func (o *output) Write(b []byte) (int, error) {
	if o.gone {
		return len(b), nil
	}
	n, err := o.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		o.gone = true
		return len(b), nil
	}
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// execute runs the command and prints its error. A bug of ours ends in one
// sentence as well.
func (a *app) execute(ctx context.Context) (code int) {
	defer func() {
		if r := recover(); r != nil {
			a.report(fault.Hint(fmt.Errorf("this is a bug in perfbench: %v", r), "please report it with the command line that you used"))
			code = fault.CodeOther
		}
	}()
	err := a.root().execute(ctx, a.Args)
	if out, ok := a.Stdout.(*output); ok && err == nil && out.err != nil {
		err = fmt.Errorf("write to stdout: %w", out.err)
	}
	if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), session.ErrInterrupted) {
		if fault.CodeOf(err) != fault.CodeInterrupted {
			err = fault.Code(session.ErrInterrupted, fault.CodeInterrupted)
		}
	}
	a.report(err)
	return fault.CodeOf(err)
}

// report prints an error: one line for each problem, its hint below it.
func (a *app) report(err error) {
	said := map[problem]bool{}
	for _, p := range flatten(err, "") {
		if said[p] {
			continue
		}
		said[p] = true
		if a.told != "" && strings.HasPrefix(p.text, session.VerificationFailed+": ") { // the summary has it
			p = problem{session.VerificationFailed, "perfbench report " + a.told + " --format text --out -  tells all of it"}
		}
		fmt.Fprintln(a.Stderr, "perfbench: "+strings.ReplaceAll(printable(p.text), "\n", "\n  "))
		if p.hint != "" {
			fmt.Fprintln(a.Stderr, "  "+strings.ReplaceAll(printable(p.hint), "\n", "\n  "))
		}
	}
}

type problem struct{ text, hint string }

// flatten takes joined errors apart.
func flatten(err error, hint string) []problem {
	if err == nil {
		return nil
	}
	if h := fault.HintOf(err); h != "" && hint == "" {
		hint = h
	}
	for e := err; e != nil && e.Error() == err.Error(); e = errors.Unwrap(e) {
		many, ok := e.(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		var out []problem
		for _, one := range many.Unwrap() {
			out = append(out, flatten(one, fault.HintOf(one))...)
		}
		return out
	}
	if limit := fault.LimitHint(err, self.FileLimit()); limit != "" {
		hint = limit // whatever a driver took it for
	}
	return []problem{{err.Error(), hint}}
}

// printable takes control characters out of what a server or a file may have put
// into a message.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// getenv looks a variable up.
func (a *app) getenv(name string) (string, bool) {
	for _, e := range slices.Backward(a.Environ) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// stateDir is where perfbench keeps what outlives a command.
func (a *app) stateDir() (string, error) {
	if dir, _ := a.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perfbench"), nil
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home, _ := a.getenv(name); home != "" {
			return filepath.Join(home, ".local", "state", "perfbench"), nil
		}
	}
	return "", fault.Hint(errors.New("there is no home directory for the state of perfbench"), "set XDG_STATE_HOME to an absolute path")
}

// cacheDir is where perfbench keeps what it can find out again; empty when there is
// none, or nothing is to be kept.
func (a *app) cacheDir() string {
	if !a.Calibrate {
		return ""
	}
	if dir, _ := a.getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perfbench")
	}
	if dir, _ := a.getenv("LocalAppData"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perfbench", "cache")
	}
	if home, _ := a.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "perfbench")
	}
	return ""
}
