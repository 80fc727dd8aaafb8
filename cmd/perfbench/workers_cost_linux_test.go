package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// byOneWorker has a run carried out by a worker on the same machine. What both processes use
// of a core counts: what the coordinator takes there, the worker has not.
func byOneWorker(b *testing.B, args ...string) (throughput, core float64) {
	b.Helper()
	c := ofCost(b, "run")(append(args, "--workers", "1", "--listen", "127.0.0.1:0")...)
	log := filepath.Join(c.Dir, "stderr")
	stderr, err := os.Create(log)
	if err != nil {
		b.Fatal(err)
	}
	defer stderr.Close() //nolint:errcheck // the process writes it, and has ended
	c.Stderr = stderr
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Process.Kill() }) // long gone, unless the benchmark has failed
	var where []string
	if !eventually(time.Minute, func() bool {
		said, err := os.ReadFile(log)
		where = whereToJoin.FindStringSubmatch(string(said))
		return err == nil && where != nil
	}) {
		b.Fatal("it does not say where to join")
	}
	w := exec.Command(binary(b), "join", where[1])
	w.Env = c.Env
	if err := w.Start(); err != nil {
		b.Fatal(err)
	}
	out := filepath.Join(c.Dir, "results")
	core = share(b, out, costWindow, c.Process.Pid, w.Process.Pid)
	for _, cmd := range []*exec.Cmd{w, c} {
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	return throughputIn(b, out), core
}

// BenchmarkWorker measures a run that one worker carries out against the same run of one
// process, on the same machine: with a rate, where the processors that both take are compared
// (%core, what a worker and its coordinator add), and without one, where the store, the
// worker and the coordinator share what processors there are (ratio).
func BenchmarkWorker(b *testing.B) {
	for _, c := range []struct{ name, rate string }{{"rate=20000", "20000"}, {"unlimited", "0"}} {
		b.Run(c.name, func(b *testing.B) {
			inTurn(b, 12, "worker", byOneWorker, "--target", labtest.Redis(b).URL(), "--threads", "16", "--rate", c.rate)
		})
	}
}
