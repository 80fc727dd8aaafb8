package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestFaultsInATimetable(t *testing.T) {
	table, warnings, err := ParseTimetable([]string{"2s..3s:fault=delay:5ms,fault=loss:1%", "3s..4s:fault=delay:6ms", "5s:fault=pause"}, knobPlan(), 0)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	var s workload.Settings
	at := func(moment time.Duration) workload.Faults {
		s.Faults = workload.Faults{}
		for _, a := range table {
			if kind, ok := workload.FaultSetting(a.Knob.Name); ok && a.After <= moment {
				s.Faults[kind] = a.Value
			}
		}
		return s.Faults
	}
	assert.Equal(t, workload.Faults{0: 5, 2: 1}, at(2*time.Second))
	assert.Equal(t, workload.Faults{0: 6}, at(3*time.Second), "what ends comes before what begins")
	assert.Equal(t, workload.Faults{}, at(4*time.Second))
	assert.Equal(t, workload.Faults{6: 1}, at(time.Hour))
	assert.True(t, HasFaults(table))
	lines := TimetableInWords(table, knobPlan())
	require.Len(t, lines, 4)
	assert.Contains(t, lines[0], "from 2s to 3s: a fault, delay of 5ms:")
	assert.Contains(t, lines[3], "from 5s to the end: a fault, pause:")

	for text, want := range map[string]string{
		"1s..4s:fault=delay:5ms 2s..3s:fault=delay:1ms": "has the same fault then",
		"1s:fault=delay:5ms 2s..3s:fault=delay:1ms":     "has the same fault then",
		"1s..2s:fault=dely:5ms":                         `"dely" is not one of`,
		"1s..2s:fault=delay:5ms..6ms":                   "is not a time",
	} {
		_, _, err := ParseTimetable(strings.Fields(text), knobPlan(), 0)
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), text)
	}
}

func TestFaultsWhereTheyCannotBe(t *testing.T) {
	plan := knobPlan()
	table := func(text string) []engine.At {
		out, _, err := ParseTimetable([]string{text}, plan, 0)
		require.NoError(t, err)
		return out
	}
	breakable := func(table []engine.At, d *store.Driver, servers Servers) error {
		return (&allowed{driver: d, proxied: func(bool) bool { return true }, servers: func(bool) Servers { return servers }, plan: plan}).table(table)
	}
	slow, narrow := table("1s..2s:fault=delay:5ms"), table("1s..2s:fault=bandwidth:1KiB/s")
	require.ErrorContains(t, breakable(slow, &store.Driver{Title: "SQLite"}, nil), "SQLite has none")
	require.NoError(t, breakable(slow, &store.Driver{Breaks: store.BreaksCalls}, nil))
	require.ErrorContains(t, breakable(narrow, &store.Driver{Breaks: store.BreaksCalls}, nil), "bandwidth needs a connection")
	require.ErrorContains(t, breakable(table("1s..2s:fault=address"), &store.Driver{Breaks: store.BreaksCalls}, nil), "address needs a connection")
	require.NoError(t, breakable(narrow, &store.Driver{Breaks: store.BreaksConnections}, nil))
	require.NoError(t, breakable(table("1s:threads=2"), &store.Driver{}, nil))
	assert.Nil(t, (&Prepared{Timetable: table("1s:threads=2")}).newProxy(), "there is no proxy without a fault")
	assert.NotNil(t, (&Prepared{Timetable: slow}).newProxy())

	dead := table("1s..2s:fault=kill:primary")
	require.ErrorContains(t, breakable(dead, &store.Driver{}, nil), "kill:primary is for servers of the lab on this machine")
	require.NoError(t, breakable(dead, &store.Driver{}, &fakeServers{}))
	require.ErrorContains(t, breakable(table("1s..2s:fault=pause:replica"), &store.Driver{}, &fakeServers{}), "no replica")
	cut := table("1s..2s:fault=power-cut:primary")
	require.NoError(t, breakable(cut, &store.Driver{}, &fakeServers{}))
	require.ErrorContains(t, breakable(cut, &store.Driver{}, &fakeServers{fails: errors.New("no such file system")}), "no such file system")
	assert.Nil(t, (&Prepared{Timetable: dead}).newProxy(), "the connections are left alone")
	assert.True(t, HasFaults(dead))

	between := table("1s..2s:fault=via.delay:5ms")
	require.ErrorContains(t, breakable(between, &store.Driver{Breaks: store.BreaksConnections}, nil), "via.delay is of a broker between the callers and the store, and this run has none")
	plan.Via = "amqp://localhost"
	require.NoError(t, breakable(between, &store.Driver{Title: "SQLite"}, nil), "whatever the store is")
	require.ErrorContains(t, breakable(table("1s..2s:fault=via.kill:primary"), &store.Driver{}, nil), "via.kill:primary is for servers of the lab on this machine, and what via= names is none")
	p := &Prepared{Timetable: between, Plan: plan}
	assert.Nil(t, p.newProxy(), "the connections to the store are left alone")
	assert.True(t, p.proxied(true))
	assert.False(t, (&Prepared{Timetable: slow, Plan: plan}).proxied(true))
	assert.True(t, (&Prepared{Inputs: workload.Inputs{Breakable: true}, Plan: plan}).proxied(true))
}

// What can be broken is slower, which a run says; a store without connections has no proxy.
func TestARunThroughTheProxySaysSo(t *testing.T) {
	for breaks, says := range map[store.Breaks]bool{store.BreaksConnections: true, store.BreaksCalls: false} {
		for _, on := range []bool{true, false} {
			p := &Prepared{Inputs: workload.Inputs{Breakable: on}, Plan: knobPlan(), Driver: store.Driver{Breaks: breaks}}
			g := &opening{p: p, o: &Opened{Prepared: p}}
			g.o.heap.info = &g.o.Info
			assert.Equal(t, on && says, slices.Contains(g.notices(t.Context()), rundir.ThroughProxy))
		}
	}
}

// A fault of what stands between is of its servers, and not of those of the target.
func TestWhatStandsBetweenIsBroken(t *testing.T) {
	target, between := &fakeServers{primary: "store"}, &fakeServers{primary: "broker"}
	b := &breaker{mark: func(string) {}, hand: &serverHand{servers: func(via bool) Servers {
		if via {
			return between
		}
		return target
	}}}
	b.set(faultsOf(t, "via.power-cut:torn", "kill:primary"))
	b.set(workload.Faults{})
	assert.Empty(t, b.wait())
	assert.Equal(t, []string{"tear broker", "restart broker"}, between.did)
	assert.Equal(t, []string{"kill store", "restart store"}, target.did)
}

// A command is run where the command line allows it, and is there.
func TestCommandsHaveToBeAllowed(t *testing.T) {
	plan := knobPlan()
	table, _, err := ParseTimetable([]string{`1s..2s:fault=exec:/bin/sh -c 'echo a, b',heal=exec:/bin/sh -c "exit 0",threads=3..4`, "3s..4s:fault=exec:./none-of-that-name"}, plan, 0)
	require.NoError(t, err)
	assert.Equal(t, []workload.Command{{Run: []string{"/bin/sh", "-c", "echo a, b"}, Heal: []string{"/bin/sh", "-c", "exit 0"}}, {Run: []string{"./none-of-that-name"}}}, plan.Commands.All())
	lines := TimetableInWords(table, plan)
	assert.Contains(t, lines, "from 1s to 2s: a fault, exec of /bin/sh -c 'echo a, b': this command is run, and at its end /bin/sh -c 'exit 0'")
	a := &allowed{driver: &store.Driver{}, plan: plan}
	err = a.table(table[:1])
	require.ErrorContains(t, err, `exec takes --allow-exec on the command line, since it runs a command on this machine: /bin/sh -c 'echo a, b'`)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	a.exec = true
	err = a.table(table)
	require.ErrorContains(t, err, "the command ./none-of-that-name of a fault cannot be run: ")
	assert.NotContains(t, err.Error(), "/bin/sh")
	assert.Nil(t, (&Prepared{Timetable: table}).newProxy())

	for text, want := range map[string]string{
		"1s..2s:fault=exec":                           "the command of exec is missing",
		"1s..2s:fault=exec: ":                         "the command of exec is missing",
		"1s..2s:fault=exec:'./a":                      "a quote is not closed",
		"1s:fault=exec:./a,heal=exec:./b":             "the fault has no end at which to heal it",
		"1s..2s:fault=exec:./a,heal=./b":              `heal: "./b" is no command`,
		"1s..2s:fault=delay:5ms,heal=exec:./b":        "heal is for exec, and delay ends by itself",
		"1s..2s:heal=exec:./b":                        "heal",
		"1s..4s:fault=exec:./a 2s..3s:fault=exec:./b": "has the same fault then",
	} {
		var entries []string
		for entry := range strings.SplitSeq(text, " 2s") {
			if len(entries) > 0 {
				entry = "2s" + entry
			}
			entries = append(entries, entry)
		}
		_, _, err := ParseTimetable(entries, knobPlan(), 0)
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), text)
	}
}

// fakeServers have one server, and note what happens to it.
type fakeServers struct {
	primary string
	did     []string
	fails   error
	next    string // takes over from a primary that has ended
}

func (s *fakeServers) do(what, name string) error {
	s.did = append(s.did, what+" "+name)
	return s.fails
}

func (s *fakeServers) Check(role string) error {
	if role != "primary" {
		return errors.New("no " + role)
	}
	return nil
}
func (s *fakeServers) Find(context.Context, string) (string, error) { return s.primary, nil }
func (s *fakeServers) Kill(_ context.Context, name string) error    { return s.do("kill", name) }
func (s *fakeServers) Restart(_ context.Context, name string) error { return s.do("restart", name) }
func (s *fakeServers) TakeOver(context.Context) (string, error)     { return s.next, nil }
func (s *fakeServers) SlowSync(_ context.Context, by time.Duration) error {
	return s.do("slow", by.String())
}
func (s *fakeServers) CanCut() error { return s.fails }
func (s *fakeServers) Cut(_ context.Context, name string, torn bool) error {
	return s.do(map[bool]string{true: "tear", false: "cut"}[torn], name)
}
func (s *fakeServers) HasSetting(string) error                       { return s.fails }
func (s *fakeServers) Anew(context.Context, map[string]string) error { return s.do("anew", s.primary) }
func (s *fakeServers) Pause(_ context.Context, name string) error    { return s.do("pause", name) }
func (s *fakeServers) Resume(_ context.Context, name string) error   { return s.do("resume", name) }

func faultsOf(t *testing.T, texts ...string) (f workload.Faults) {
	t.Helper()
	for _, text := range texts {
		kind, v, err := workload.ParseFault(text, "", &workload.Commands{})
		require.NoError(t, err)
		f[kind] = v
	}
	return f
}

// What is broken is put right on the server that was broken, whoever has its role by then.
func TestServersAreBrokenAndPutRight(t *testing.T) {
	s := &fakeServers{primary: "master"}
	var marks []string
	b := &breaker{hand: &serverHand{servers: func(bool) Servers { return s }}, mark: func(note string) { marks = append(marks, note) }}
	b.set(faultsOf(t, "delay:5ms", "kill:primary"))
	assert.Empty(t, b.wait())
	s.primary = "replica"
	b.set(faultsOf(t, "delay:5ms", "kill:primary")) // as it is
	b.set(faultsOf(t, "pause:primary"))
	b.set(faultsOf(t, "pause"))
	b.set(workload.Faults{})
	assert.Empty(t, b.wait())
	b.set(faultsOf(t, "power-cut:primary"))
	b.set(faultsOf(t, "slow-fsync:50ms"))
	b.set(faultsOf(t, "power-cut:torn"))
	b.set(workload.Faults{})
	assert.Empty(t, b.wait())
	assert.Equal(t, []string{"kill master", "restart master", "pause replica", "resume replica", "cut replica", "restart replica", "slow 50ms", "slow 0s", "tear replica", "restart replica"}, s.did)
	require.Len(t, marks, 10)
	assert.Equal(t, "the primary (replica) lost its power in the middle of what it wrote", marks[8])
	assert.Equal(t, "fsync of the primary (replica) takes 50 ms longer", marks[6])
	assert.Equal(t, "fsync of the primary (replica) is as before", marks[7])
	assert.Equal(t, "the primary (replica) lost its power", marks[4])
	assert.Equal(t, "the primary (master) was killed", marks[0])
	assert.Contains(t, marks[1], "the primary (master) is up again, after ")
	assert.Equal(t, "the primary (replica) goes on", marks[3])
}

// Where servers leave it to others, another takes over from a killed primary, and from no paused one.
func TestAnotherServerTakesOver(t *testing.T) {
	s := &fakeServers{primary: "node-1", next: "node-2"}
	var marks []string
	b := &breaker{hand: &serverHand{servers: func(bool) Servers { return s }}, mark: func(note string) { marks = append(marks, note) }}
	b.set(faultsOf(t, "kill:primary"))
	b.set(faultsOf(t, "pause:primary"))
	b.set(workload.Faults{})
	assert.Empty(t, b.wait())
	require.Len(t, marks, 5)
	assert.Equal(t, "the primary (node-1) was killed", marks[0])
	assert.Contains(t, marks[1], "node-2 took over, after ")
	assert.Equal(t, []string{"kill node-1", "restart node-1", "pause node-1", "resume node-1"}, s.did)
}

// A fault that did not happen, and what could not be put right, are said.
func TestWhatCannotBeBrokenOrPutRightIsSaid(t *testing.T) {
	s := &fakeServers{primary: "primary"}
	var marks []string
	b := &breaker{hand: &serverHand{servers: func(bool) Servers { return s }}, mark: func(note string) { marks = append(marks, note) }}
	b.set(faultsOf(t, "kill:primary"))
	assert.Empty(t, b.wait())
	s.fails = errors.New("no such process")
	b.set(faultsOf(t, "pause:primary"))
	b.set(workload.Faults{})
	assert.ElementsMatch(t, []string{
		"the primary could not be started again: no such process; perfbench lab heal tries once more.",
		"The fault pause:primary did not happen: no such process.",
	}, b.wait())
	assert.Len(t, marks, 3)
}

// What a command came to is said: its exit code and the first line of its output, or that it was
// killed with all that it had started.
func TestCommandsAreRun(t *testing.T) {
	plan := knobPlan()
	plan.Commands = &workload.Commands{}
	var marks []string
	pidFile := filepath.Join(t.TempDir(), "pid")
	hand := &commandHand{ctx: t.Context(), plan: plan, environ: []string{"COLOUR=blue", "FILE=" + pidFile}, limit: time.Minute}
	b := &breaker{hand: hand, mark: func(note string) { marks = append(marks, note) }}
	during := func(run, heal string) []string {
		marks = nil
		kind, v, err := workload.ParseFault("exec:"+run, heal, plan.Commands)
		require.NoError(t, err)
		var f workload.Faults
		f[kind] = v
		f[0] = 5 // of others
		b.set(f)
		b.set(workload.Faults{})
		return b.wait()
	}
	assert.Empty(t, during(`/bin/sh -c 'echo; printf "a\033[31m %s.\nb\n" "$COLOUR"'`, "/bin/sh -c true"))
	require.Len(t, marks, 2)
	assert.Regexp(t, `^/bin/sh -c '.*' ended with exit code 0 after [0-9.]+ ?m?s: a\[31m blue$`, marks[0])
	assert.Regexp(t, `^/bin/sh -c true ended with exit code 0 after `, marks[1])

	failed := during(`/bin/sh -c "echo no such node >&2; exit 3"`, "./none-of-that-name")
	require.Len(t, failed, 2, "what failed is healed all the same")
	assert.Regexp(t, `^The command /bin/sh -c '.*' ended with exit code 3 after .*: no such node\.$`, failed[0])
	assert.Regexp(t, `^The command ./none-of-that-name was not run: .*\.$`, failed[1])

	owed := []string{}
	hand.owe = func(broke, heal []string) (func(), error) {
		owed = append(owed, "owed "+strings.Join(heal, " "))
		return func() { owed = append(owed, "settled") }, nil
	}
	assert.Len(t, during("true", "true"), 2, "those of before")
	during("true", "false")
	during("true", "")
	assert.Equal(t, []string{"owed true", "settled", "owed false"}, owed, "what has failed is still owed")
	hand.owe = func([]string, []string) (func(), error) { return nil, errors.New("the disk is full") }
	failed = during("./none-of-that-name", "true")
	assert.Contains(t, failed[len(failed)-1], "was not run, as the one that puts it right could not be noted: the disk is full")
	hand.owe = nil
	before := len(failed)

	hand.limit = 10 * time.Millisecond
	failed = during("/bin/sh -c 'sleep 1000'", "")[before:]
	require.Len(t, failed, 1)
	assert.Regexp(t, `^The command .* was killed, as it had not ended after 10 ms\.$`, failed[0])

	hand.limit = time.Hour
	ctx, kill := context.WithCancel(t.Context())
	hand.ctx = ctx
	pid := make(chan int)
	go func() {
		defer kill()
		for {
			data, _ := os.ReadFile(pidFile) // it is not there yet
			if n, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && strings.HasSuffix(string(data), "\n") {
				kill()
				pid <- n
				return
			}
		}
	}()
	failed = during(`/bin/sh -c 'sleep 1000 & echo $! >"$FILE"; wait'`, "")[before+1:]
	require.Len(t, failed, 1)
	assert.Regexp(t, `^The command .* was killed, as the run was\.$`, failed[0])
	child := <-pid
	assert.Eventually(t, func() bool { return !lab.IsAlive(lab.Process{PID: child, Birth: lab.Birth(child)}) }, time.Minute, 10*time.Millisecond, "what it has started is gone, too")
}
