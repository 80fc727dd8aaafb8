// Command perfbench load-tests data stores with workloads shaped like real
// applications.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

func main() { os.Exit(run(context.Background(), system())) }

// system is the real surroundings. It alone touches the process's globals.
func system() cli.Env {
	signals := make(chan os.Signal, 2) // the second signal must not be lost while the first is handled
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup keeps its word
		signal.Notify(signals, syscall.SIGHUP)
	}
	// With somebody to take it, a pipe whose reader has gone makes writes fail instead of
	// ending the process mid-run. It is not ignored: children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 0
	}
	return cli.Env{
		Args: os.Args[1:], Environ: os.Environ(), Signals: signals,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdinTerminal: terminal(os.Stdin), StdoutTerminal: terminal(os.Stdout), StderrTerminal: terminal(os.Stderr),
		StdoutWidth: width, Calibrate: true,
		ReadSecret: readSecret,
	}
}

// readSecret asks on the terminal without echo. When ctx ends, the question is left behind and
// the terminal echoes again.
func readSecret(ctx context.Context, prompt string) (string, error) {
	stdin := int(os.Stdin.Fd())
	before, err := term.GetState(stdin)
	if err != nil {
		return "", err
	}
	fmt.Fprint(os.Stderr, prompt)
	defer fmt.Fprintln(os.Stderr)
	type answer struct {
		secret []byte
		err    error
	}
	typed := make(chan answer, 1) // one value: the sender never waits
	go func() {
		secret, err := term.ReadPassword(stdin)
		typed <- answer{secret, err}
	}()
	select {
	case a := <-typed:
		return string(a.secret), a.err
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), term.Restore(stdin, before))
	}
}
