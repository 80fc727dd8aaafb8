// Command testlab runs a command, such as go test ./..., and provides the tests in it
// with servers shared by all of their packages; see labtest. Whatever it started ends
// with the command, or with testlab itself, however that ends.
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlab:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run runs the command and returns its exit code.
func run(command []string) (code int, err error) {
	if len(command) == 0 {
		return 2, fmt.Errorf("no command: testlab go test ./... runs that one")
	}
	k, err := labtest.NewKeeper()
	if err != nil {
		return 1, err
	}
	defer func() {
		if gone := k.Close(); gone != nil && err == nil {
			err = gone
		}
	}()
	l, err := net.Listen("unix", k.Socket())
	if err != nil {
		return 1, err
	}
	defer l.Close()
	go k.Serve(l)

	child := exec.Command(command[0], command[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Env = append(os.Environ(), labtest.KeeperEnv+"="+k.Socket())
	// Ctrl-C reaches the command by itself; signals sent only to us are passed on.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				_ = child.Process.Signal(s) // it may already have gone
			}
		case <-ended:
			return child.ProcessState.ExitCode(), nil
		}
	}
}
