package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
)

// patience is how long the command may take to end after the second interrupt, and haste
// after the first if it has begun nothing yet.
const patience, haste = 3 * time.Second, 500 * time.Millisecond

// echo is how soon after the first interrupt another one is the same: timeout(1), for one, sends
// it to us and then to all of our group.
const echo = 200 * time.Millisecond

// run carries out one command line and returns the exit code. The first interrupt
// ends what it does gracefully, the second at once. What only reads and computes is left
// behind at the first.
func run(ctx context.Context, env cli.Env) int {
	soft, interrupt := context.WithCancelCause(ctx)
	hard, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer interrupt(nil)
	defer kill()
	env.Stdout = &cli.Stream{W: env.Stdout}
	a := &cli.Call{Env: env, Hard: hard, Log: slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	done := make(chan int, 1) // one value: the sender never waits
	go func() { done <- execute(soft, a) }()
	var first time.Time
	for n := 0; ; {
		select {
		case code := <-done:
			return code
		case <-env.Signals:
			if n > 0 && time.Since(first) < echo {
				continue
			}
			if n++; n == 1 {
				first = time.Now()
				interrupt(session.ErrInterrupted)
				if a.Begun() {
					continue
				}
				select {
				case code := <-done:
					return code
				case <-time.After(haste):
				}
				if a.Begun() {
					continue
				}
				a.Report(fault.Code(session.ErrInterrupted, fault.CodeInterrupted))
				return fault.CodeInterrupted
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

// crashFile has the stacks of commands that panicked, in the folder of perfbench's state.
const crashFile = "crash.log"

// execute runs the command and prints its error. A bug of ours ends in one
// sentence as well.
func execute(ctx context.Context, a *cli.Call) (code int) {
	defer func() {
		if r := recover(); r != nil {
			hint := "please report it with the command line that you used"
			if path := a.Crashed(crashFile, r, debug.Stack()); path != "" {
				hint += ", and with its stack, which is at the end of " + path
			}
			a.Report(fault.Hint(fmt.Errorf("this is a bug in perfbench: %v", r), hint))
			code = fault.CodeOther
		}
	}()
	err := root(a).execute(ctx, a.Args)
	if trouble := a.Outlet.Close(); trouble != "" {
		fmt.Fprintln(a.Stderr, "warning: "+trouble)
	}
	if out, ok := a.Stdout.(*cli.Stream); ok && err == nil && out.Err != nil {
		err = fmt.Errorf("write to stdout: %w", out.Err)
	}
	if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), session.ErrInterrupted) {
		if fault.CodeOf(err) != fault.CodeInterrupted {
			err = fault.Code(session.ErrInterrupted, fault.CodeInterrupted)
		}
	}
	a.Report(err)
	return fault.CodeOf(err)
}
