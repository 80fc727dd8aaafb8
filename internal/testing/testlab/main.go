// Command testlab carries out make test and make test-all (.ci/test): it provides the
// servers while the code compiles, lends those that are slow to start to the tests of all
// packages (labtest), says how far it is, and ends with the failures and one line for
// everything.
//
//	testlab [-rest] [packages]
//
// Without -rest it is the small tier. With -rest it is what that leaves: the cases that
// the last small tier wrote down in bin/test, and the race detector. Whatever testlab
// started ends with it, however it ends.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// folder is where the last run of each tier is written down.
const folder = "bin/test"

func main() {
	rest := flag.Bool("rest", false, "what the last small tier left, and the race detector")
	flag.Parse()
	l := &lab{out: os.Stdout, began: time.Now(), name: "make test"}
	if *rest {
		l.name = "make test-all"
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := l.run(ctx, *rest, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintf(os.Stdout, "%s: %v\n", l.name, err)
		os.Exit(1)
	}
}

// lab is one run of the tests.
type lab struct {
	name  string
	mu    sync.Mutex // for out
	out   io.Writer
	began time.Time
}

// say tells a person what is going on.
func (l *lab) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := time.Since(l.began).Round(time.Second)
	fmt.Fprintf(l.out, "[%2d:%02d] %s\n", int(took.Minutes()), int(took.Seconds())%60, fmt.Sprintf(format, args...))
}

// run carries out a tier; an error says in one sentence what is wrong.
func (l *lab) run(ctx context.Context, rest bool, packages []string) (err error) {
	file := filepath.Join(folder, "log")
	leftovers := filepath.Join(folder, "left.json")
	if rest {
		file = filepath.Join(folder, "rest.log")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	whole, err := os.Create(file)
	if err != nil {
		return err
	}
	defer whole.Close()
	r := newResults(whole, l.say)

	k, err := labtest.NewKeeper()
	if err != nil {
		return err
	}
	k.Say = func(step string) { l.say("%s", step) }
	defer func() { err = errors.Join(err, k.Close()) }()
	listener, err := net.Listen("unix", k.Socket())
	if err != nil {
		return err
	}
	defer listener.Close()
	go k.Serve(listener)

	everything := len(packages) == 0
	lacking, err := l.prepare(ctx, k, whole, rest, everything)
	if err != nil {
		return err
	}
	missing := func() {
		for _, line := range lacking {
			fmt.Fprintln(l.out, "NOT HERE:", line)
		}
	}
	missing()
	if len(lacking) > 0 && os.Getenv("CI") == "true" {
		return errors.New("with CI=true all of these must be here; install them, or run as root where there is apt-get")
	}

	all, err := list(ctx, packages)
	if err != nil {
		return err
	}
	var jobs []job
	if !rest {
		jobs = small(all)
	} else if jobs, err = large(all, leftovers, lacks(lacking, "cc"), os.Getenv("RACE") == "all"); err != nil {
		return err
	}
	failed := l.perform(ctx, r, jobs, []string{labtest.KeeperEnv + "=" + k.Socket(), labtest.LogsEnv + "=" + logs(folder)})
	if !rest && everything {
		if err := keep(leftovers, r.left); err != nil {
			return err
		}
	}
	r.longest()
	r.details(l.out)
	fmt.Fprintln(l.out)
	missing()
	verdict := "passed"
	if failed || len(r.failures) > 0 {
		verdict = "FAILED"
	}
	fmt.Fprintf(l.out, "%s: %s in %.0f s: %s; all output: %s\n", l.name, verdict, time.Since(l.began).Seconds(), r.summary(), file)
	if verdict != "passed" {
		return errors.New("some tests failed; the logs of their servers are in " + logs(folder))
	}
	return nil
}

// logs returns where the logs of servers go whose test failed.
func logs(folder string) string {
	path, err := filepath.Abs(filepath.Join(folder, "servers"))
	if err != nil {
		return folder
	}
	return path
}

// prepare installs what is missing, where that can be done, and compiles the code at the
// same time, which the large tier finds compiled. The servers that all packages share start
// as soon as they can. It returns what is still missing.
func (l *lab) prepare(ctx context.Context, k *labtest.Keeper, whole io.Writer, rest, everything bool) ([]string, error) {
	_ = os.RemoveAll(logs(folder)) // those of the last run
	var lacking string
	var errs [2]error
	var both sync.WaitGroup
	both.Go(func() {
		lacking, errs[0] = l.servers(ctx, whole)
		if errs[0] == nil && everything {
			for _, service := range []string{"cassandra", "coherence"} {
				go func() { _ = k.Warm(ctx, service) }() // the test that needs it says what is wrong
			}
		}
	})
	both.Go(func() {
		if rest || !everything {
			return
		}
		l.say("compiling")
		cmd := command(ctx, compile[0], append(compile[1:], "./...")...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", rarely)
		out, err := cmd.CombinedOutput()
		if err != nil {
			fmt.Fprintf(l.out, "%s", out)
			errs[1] = fmt.Errorf("compiling: %w", err)
		}
	})
	ready := make(chan struct{})
	go func() { both.Wait(); close(ready) }()
	every := time.NewTicker(15 * time.Second)
	defer every.Stop()
	for waiting := true; waiting; {
		select {
		case <-ready:
			waiting = false
		case <-every.C:
			l.say("installing and compiling")
		}
	}
	var lines []string
	for line := range strings.Lines(lacking) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines, errors.Join(errs[:]...)
}

// servers runs .ci/servers, which installs, and returns what it could not.
func (l *lab) servers(ctx context.Context, whole io.Writer) (lacking string, err error) {
	cmd := command(ctx, ".ci/servers")
	var out strings.Builder
	cmd.Stdout = &out
	told, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	l.relay(told, whole)
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf(".ci/servers: %w", err)
	}
	return out.String(), nil
}

// command is a command that gets a SIGTERM when ctx ends.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	return cmd
}

// perform carries out the jobs side by side, the first of them first, and reports whether one failed.
func (l *lab) perform(ctx context.Context, r *results, jobs []job, env []string) (failed bool) {
	of := 0
	for _, j := range jobs {
		of += j.packages
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	places := make(chan struct{}, atOnce)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, j := range jobs {
			places <- struct{}{} // here, or any of them would be the next to begin
			all.Go(func() {
				defer func() { <-places }()
				if ctx.Err() != nil {
					return
				}
				if err := j.perform(ctx, r, env); err != nil {
					mu.Lock()
					failed = true
					mu.Unlock()
				}
			})
		}
		all.Wait()
	}()
	every := time.NewTicker(15 * time.Second)
	defer every.Stop()
	l.say("testing: %s", r.progress(of))
	for {
		select {
		case <-ended:
			return failed || ctx.Err() != nil
		case <-every.C:
			l.say("%s", r.progress(of))
		}
	}
}

// keep writes down what the small tier has left.
func keep(path string, all []left) error {
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
