package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// whereToJoin finds what the coordinator says of it.
var whereToJoin = regexp.MustCompile(`perfbench join (\S+)`)

// withWorkers starts a run and three workers.
func withWorkers(t *testing.T, path string, args ...string) (p *logged, workers []*exec.Cmd, url string) {
	t.Helper()
	p = startLogged(t, path, "ingestion", append(args, "--workers", "3", "--listen", "127.0.0.1:0")...)
	p.says(t, "perfbench join nats://")
	url = whereToJoin.FindStringSubmatch(p.text(t))[1]
	return p, joined(t, path, url, 3), url
}

// joined starts workers that join at a place.
func joined(t *testing.T, path, url string, n int, flags ...string) (workers []*exec.Cmd) {
	t.Helper()
	for range n {
		w := exec.Command(path, append([]string{"join", url}, flags...)...)
		w.Env = []string{"PATH=" + os.Getenv("PATH")}
		w.Stderr = &bytes.Buffer{}
		require.NoError(t, w.Start())
		t.Cleanup(func() { _ = w.Process.Kill() }) // long gone, unless the test has failed
		workers = append(workers, w)
	}
	return workers
}

// stored is how many entries are in the maps of ingestion.
func stored(t *testing.T, srv *labtest.Server) (n int) {
	t.Helper()
	for _, key := range []string{"perfbench:eligibility", "perfbench:profile"} {
		one, err := strconv.Atoi(strings.TrimSpace(redisCLI(t, srv, "HLEN", key)))
		require.NoError(t, err)
		n += one
	}
	return n
}

// goesOn waits until there are more of them.
func goesOn(t *testing.T, srv *labtest.Server) {
	t.Helper()
	before := stored(t, srv)
	require.Eventually(t, func() bool { return stored(t, srv) > before }, 5*time.Minute, 20*time.Millisecond, "workers go on")
}

// Three workers write what one process would, to the byte, and their figures are one.
func TestWorkersWriteWhatOneProcessWould(t *testing.T) {
	path, srv := binary(t), labtest.Redis(t)
	same := []string{"--target", srv.URL(), "--count", "3001", "--threads", "8", "--payload", "64", "--allow-existing"}
	contents := func() map[string]string {
		out := map[string]string{}
		for _, key := range []string{"perfbench:eligibility", "perfbench:profile"} {
			out[key] = redisCLI(t, srv, "EVAL", `local a = redis.call('HGETALL', KEYS[1]); local l = {}; for i = 1, #a, 2 do l[#l+1] = a[i] .. a[i+1] end; table.sort(l); return #l .. ' ' .. redis.sha1hex(table.concat(l))`, "1", key)
		}
		return out
	}
	one := start(t, path, same...)
	require.Zero(t, one.end(t), one.stderr.String())
	want := contents()
	redisCLI(t, srv, "FLUSHALL")

	p, workers, _ := withWorkers(t, path, same...)
	for _, w := range workers {
		require.NoError(t, w.Wait(), "%s", w.Stderr)
	}
	require.Zero(t, p.end(t), p.text(t))
	assert.Equal(t, want, contents())
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	require.Len(t, run.Workers, 3)
	var done, all int64
	for _, w := range run.Workers {
		assert.Equal(t, "ended", w.State)
		assert.Positive(t, w.Count)
		done += w.Count
	}
	for _, o := range run.Operations {
		all += o.Count
	}
	assert.EqualValues(t, 3001, all)
	assert.Equal(t, all, done)
}

// A worker that is stopped is told from a dead one, and workers that are cut off from their
// coordinator go on and tell it later: what the store has acknowledged is in the figures.
func TestWorkersThatAreStoppedOrCutOffComeBack(t *testing.T) {
	tier.Full(t, "TestAKilledWorkerIsMissed, and internal/remote without processes")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p := startLogged(t, path, "ingestion", "--target", srv.URL(), "--rate", "600", "--count", "1M", "--payload", "64", "--workers", "3", "--listen", "127.0.0.1:0", "--patience", "10m")
	p.says(t, "perfbench join nats://")
	line := lay(t, strings.TrimPrefix(whereToJoin.FindStringSubmatch(p.text(t))[1], "nats://"))
	workers := joined(t, path, "nats://"+line.l.Addr().String(), 3)
	require.NoError(t, measured(p.out, 1))
	times := func(what string, n int) {
		require.Eventually(t, func() bool { return strings.Count(p.text(t), what) >= n }, 5*time.Minute, 20*time.Millisecond, "it says %q %d times", what, n)
	}
	require.NoError(t, workers[0].Process.Signal(syscall.SIGSTOP))
	times("is connected and silent", 1)
	line.cut()
	times("was lost", 3)
	goesOn(t, srv)
	require.NoError(t, workers[0].Process.Signal(syscall.SIGCONT))
	line.mend()
	times("is back", 3)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, 130, p.end(t), p.text(t))
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	assert.Contains(t, run.Verdict.Causes, "workers")
	var done int64
	for _, o := range run.Operations {
		done += o.Count
	}
	assert.EqualValues(t, stored(t, srv), done)
	for _, w := range run.Workers {
		assert.Equal(t, "ended", w.State)
		assert.Positive(t, w.Stalls)
	}
}

// line is what connects workers with their coordinator, and can be cut.
type line struct {
	l     net.Listener
	to    string
	mu    sync.Mutex
	off   bool
	conns []net.Conn
}

func lay(t *testing.T, to string) *line {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	a := &line{l: l, to: to}
	t.Cleanup(func() {
		_ = l.Close()
		a.cut()
	})
	go func() { // ends with the listener
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			a.connect(from)
		}
	}()
	return a
}

func (a *line) connect(from net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	to, err := net.Dial("tcp", a.to)
	if err != nil || a.off {
		_ = from.Close()
		return
	}
	a.conns = append(a.conns, from, to)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() { // ends with either connection
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
		}()
	}
}

// cut ends all connections and lets none in; mend lets them in again.
func (a *line) cut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.off = true
	for _, c := range a.conns {
		_ = c.Close()
	}
}

func (a *line) mend() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.off = false
}

// A worker that is killed is missed and named, and the others go on.
func TestAKilledWorkerIsMissed(t *testing.T) {
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, workers, url := withWorkers(t, path, "--target", srv.URL(), "--rate", "600", "--duration", "10m", "--payload", "64", "--at", "0.5s:rate=900", "--patience", "2s")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, workers[1].Process.Kill())
	p.says(t, "was lost")
	listed, err := exec.Command(path, "workers", url).CombinedOutput()
	require.NoError(t, err, "%s", listed)
	assert.Regexp(t, fmt.Sprintf(`(?m) %d +\S+ .* gone$`, workers[1].Process.Pid), string(listed))
	assert.Equal(t, 2, strings.Count(string(listed), " working\n"), "%s", listed)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, 130, p.end(t), p.text(t))
	f := p.folder(t)
	run := f.Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	assert.Contains(t, run.Verdict.Causes, "workers")
	assert.True(t, slices.ContainsFunc(f.Samples, func(s rundir.Sample) bool { return s.Source == rundir.OfWorker && s.Name == "cpu_cores" }), "store.csv has the processors of workers")
	require.Len(t, run.Segments, 2)
	assert.EqualValues(t, 900, run.Segments[1].Settings["rate"])
	for _, w := range run.Workers {
		require.Len(t, w.Applied, 1, "each says when the change came into force there")
		assert.Equal(t, 1, w.Applied[0].Segment)
		assert.GreaterOrEqual(t, w.Applied[0].AtS, 0.4)
	}
	states := map[string][]rundir.Worker{}
	for _, w := range run.Workers {
		states[w.State] = append(states[w.State], w)
	}
	require.Len(t, states["gone"], 1)
	assert.Len(t, run.Workers, 3)
	gone := states["gone"][0]
	assert.Equal(t, workers[1].Process.Pid, gone.PID)
	assert.NotNil(t, gone.LostS)
	assert.NotNil(t, gone.KnownS)
}

// The shares of workers are one Poisson process in sum, each worker's arrivals are in run.json, and
// one that does not send as asked is named. Here it is stopped again and again, for less than what
// is taken out of a run's time.
func TestAWorkerThatDoesNotSendAsAskedIsNamed(t *testing.T) {
	tier.Full(t, "TestArrivalsAtSeveralProcesses of internal/measure and TestAWorkerThatDoesNotSendAsAskedIsNamed of internal/verdict")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	attempt := func() (*rundir.Run, int) {
		p, workers, _ := withWorkers(t, path, "--target", srv.URL(), "--rate", "2400", "--batch", "1", "--threads", "60", "--duration", "6s", "--payload", "64")
		require.NoError(t, measured(p.out, 1))
		for range 16 {
			require.NoError(t, workers[1].Process.Signal(syscall.SIGSTOP))
			time.Sleep(150 * time.Millisecond)
			require.NoError(t, workers[1].Process.Signal(syscall.SIGCONT))
			time.Sleep(100 * time.Millisecond)
		}
		require.Equal(t, 0, p.end(t), p.text(t))
		return &p.folder(t).Run, workers[1].Process.Pid
	}
	run, pid := attempt()
	uneven := func(a rundir.Arrivals) bool { return a.Asked < 0.5 || a.Asked > 1.5 }
	for range 10 { // a machine that stops or wakes workers late itself moves what is due, until it has less to do
		if slices.Contains(run.Verdict.Causes, "arrivals") &&
			!slices.ContainsFunc(run.Workers, func(w rundir.Worker) bool { return slices.ContainsFunc(w.Arrivals, uneven) }) {
			break
		}
		run, pid = attempt()
	}
	require.NotEmpty(t, run.Segments[0].Arrivals)
	for _, a := range run.Segments[0].Arrivals {
		assert.InDelta(t, 1, a.Asked, 0.5, "%+v", a) // a standard deviation is less than 0.1
	}
	stopped := 0
	for _, w := range run.Workers {
		require.NotEmpty(t, w.Arrivals, "worker %d", w.Number)
		for _, a := range w.Arrivals {
			assert.InDelta(t, 1, a.Asked, 0.5, "worker %d: %+v", w.Number, a)
			assert.Less(t, a.Mean/a.SpanS, 0.45*2400, "it has a third of the rate")
		}
		if w.PID == pid {
			stopped = w.Number
			assert.Greater(t, w.Arrivals[0].Late, 0.1)
		}
	}
	at := slices.Index(run.Verdict.Causes, "arrivals")
	require.GreaterOrEqual(t, at, 0, "%v", run.Verdict.Reasons)
	assert.Contains(t, run.Verdict.Reasons[at], fmt.Sprintf("worker %d (", stopped))
}

// What a killed worker had of the rate is dealt to the others where that was asked for, who
// make the whole of it.
func TestTheRateOfAKilledWorkerIsDealtToTheOthers(t *testing.T) {
	tier.Full(t, "TestAKilledWorkerIsMissed, and internal/remote without processes")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, lost, dir := dealt(t, path, srv.URL())
	makesAll(t, dir)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, 130, p.end(t), p.text(t))
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	assert.Contains(t, strings.Join(run.Verdict.Reasons, "; "), "its threads and its rate were dealt to the others at ")
	require.Len(t, run.Segments, 1, "the totals are as they were")
	gone := slices.IndexFunc(run.Workers, func(w rundir.Worker) bool { return w.PID == lost })
	for i, w := range run.Workers {
		assert.Equal(t, i == gone, w.DealtS != nil, "worker %d", i+1)
	}
}

// dealt starts a run of 600 entries a second with three workers, one of which is killed, and
// returns once its rate was dealt to the others: the id of its process, and the run's folder.
func dealt(t *testing.T, path, target string) (p *logged, lost int, dir string) {
	t.Helper()
	p, workers, _ := withWorkers(t, path, "--target", target, "--rate", "600", "--duration", "10m", "--payload", "64", "--patience", "2s", "--on-loss", "redeal")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, workers[1].Process.Kill())
	p.says(t, "were dealt to workers ")
	dir, err := rundir.Find(p.out, "latest")
	require.NoError(t, err)
	return p, workers[1].Process.Pid, dir
}

// makesAll waits for a second from now on in which the run makes its whole rate.
func makesAll(t *testing.T, dir string) {
	t.Helper()
	from := len(rates(t, dir))
	require.Eventually(t, func() bool {
		all := rates(t, dir)
		return slices.ContainsFunc(all[min(from, len(all)):], func(n float64) bool { return n > 590 })
	}, 5*time.Minute, 100*time.Millisecond, "two make 600 a second")
}

// rates are the entries of each second that a run in progress has written down.
func rates(t *testing.T, dir string) (out []float64) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "series.csv"))
	require.NoError(t, err)
	whole := data[:bytes.LastIndexByte(data, '\n')+1] // the last line may be half written
	rows, err := csv.NewReader(bytes.NewReader(whole)).ReadAll()
	require.NoError(t, err)
	if len(rows) < 2 {
		return nil
	}
	second, count := slices.Index(rows[0], "t_s"), slices.Index(rows[0], "count")
	require.GreaterOrEqual(t, min(second, count), 0, "%v", rows[0])
	last := ""
	for _, r := range rows[1:] {
		n, err := strconv.ParseFloat(r[count], 64)
		require.NoError(t, err)
		if r[second] != last {
			out, last = append(out, 0), r[second]
		}
		out[len(out)-1] += n
	}
	return out
}

// A run all of whose workers are lost ends with an error, and reports what they had told.
func TestARunEndsWithTheLastOfItsWorkers(t *testing.T) {
	tier.Full(t, "TestAKilledWorkerIsMissed, and internal/remote without processes")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, workers, _ := withWorkers(t, path, "--target", srv.URL(), "--rate", "600", "--duration", "10m", "--payload", "64", "--patience", "1s", "--on-loss", "redeal")
	require.NoError(t, measured(p.out, 1))
	for _, w := range workers {
		require.NoError(t, w.Process.Kill())
	}
	require.Equal(t, 1, p.end(t), p.text(t))
	assert.Contains(t, p.text(t), "all workers were lost")
	run := p.folder(t).Run
	assert.Equal(t, "fault: all workers were lost", run.EndedBy)
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	for _, w := range run.Workers {
		assert.Equal(t, "gone", w.State)
	}
}
