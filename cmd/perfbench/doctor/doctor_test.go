package doctor

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/verdict"
)

// about is the finding of that name; it must be there.
func about(t *testing.T, s Section, name string) Finding {
	t.Helper()
	for _, f := range s.Findings {
		if f.About == name {
			return f
		}
	}
	require.Fail(t, "nothing is said about "+name, "%+v", s)
	return Finding{}
}

// kernel is a machine of which these files are known.
func kernel(files map[string]string) Machine {
	return Machine{System: "linux", CPUs: 8, Files: 65536, Kernel: func(path string) string { return files[path] }}
}

func TestAMachineInOrder(t *testing.T) {
	m := kernel(map[string]string{
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc", "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999",
	})
	m.Seen = verdict.Observed{ClockCost: 40, ClockTick: 1, WakeP50: 60_000, WakeP90: 90_000, CPU: 0.1, Machine: 0.5}
	s := m.Section()
	assert.Equal(t, Good, Worst([]Section{s}), "%+v", s)
	assert.Equal(t, "28232 are free to connect from (32768 to 60999)", about(t, s, "ports").Found)
}

func TestWhatSpoilsAMachineIsNamedWithWhatToDo(t *testing.T) {
	m := kernel(map[string]string{
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet", "proc/sys/net/ipv4/ip_local_port_range": "50000 50100",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave",
	})
	m.CPUs, m.Files = 1, 256
	m.Seen = verdict.Observed{ClockCost: 900, WakeP50: 2e6, WakeP90: 5e6, CPU: 0.1, Machine: 0.9, Quota: 0.5, Throttled: 3, Stolen: 0.2}
	s := m.Section()
	for _, name := range []string{"processors", "CPU quota", "other work", "hypervisor", "frequency", "clock source", "clock", "timers", "open files", "ports"} {
		f := about(t, s, name)
		assert.Equal(t, Doubt, f.State, name)
		assert.NotEmpty(t, f.Do, name)
	}
	assert.Contains(t, about(t, s, "open files").Do, "ulimit -n")
}

func TestWhatIsNotKnownIsNoFault(t *testing.T) {
	m := kernel(nil)
	m.Files = 0
	s := m.Section()
	assert.Equal(t, Unknown, about(t, s, "open files").State)
	assert.Equal(t, Unknown, about(t, s, "timers").State)
	assert.Equal(t, Good, Worst([]Section{s}))
}

func TestTheKernelBesideAServer(t *testing.T) {
	m := kernel(map[string]string{
		"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never", "proc/sys/vm/overcommit_memory": "0",
		"proc/sys/net/core/somaxconn": "128", "proc/sys/vm/max_map_count": "65530", "proc/swaps": "Filename Type\n/swap file",
	})
	for driver, want := range map[string][]string{
		"redis": {"huge pages", "overcommit", "backlog", "swap"}, "cassandra": {"huge pages", "memory maps", "swap"}, "postgres": {"huge pages", "backlog"}, "sqlite": nil,
	} {
		var l list
		m.beside(&l, driver)
		var got []string
		for _, f := range l {
			got = append(got, f.About)
			assert.Equal(t, Doubt, f.State, f.About)
		}
		assert.Equal(t, want, got, driver)
	}
	var l list
	kernel(map[string]string{"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never"}).beside(&l, "redis")
	assert.Equal(t, list{{"huge pages", Good, "transparent huge pages are madvise", ""}}, l)
}

func TestTerminals(t *testing.T) {
	good := Terminal{Is: true, Width: 120, Kind: "xterm-256color", Colours: colorprofile.ANSI256, Locale: "C.UTF-8"}.Section()
	assert.Equal(t, Good, Worst([]Section{good}))
	poor := Terminal{Is: true, Width: 60, Kind: "dumb", Poor: true}.Section()
	for _, name := range []string{"terminal", "width", "colours", "letters"} {
		assert.Equal(t, Doubt, about(t, poor, name).State, name)
	}
	assert.Equal(t, Good, Worst([]Section{Terminal{}.Section()}), "a pipe is no fault")
}

var testDrivers = store.Drivers{memory.Driver, redis.Driver, sqlstore.SQLite}

func TestAStoreThatAnswers(t *testing.T) {
	s, err := Open(testDrivers, "memory:")
	require.NoError(t, err)
	s.Namespace, s.Write, s.Options = "perfbench", true, store.OpenOptions{Threads: 1, Log: slog.New(slog.DiscardHandler)}
	sec, info, err := s.Examine(t.Context(), kernel(nil))
	require.NoError(t, err)
	require.NotNil(t, info)
	assert.Equal(t, Doubt, about(t, sec, "figures").State, "it is no server")
	assert.Equal(t, Good, about(t, sec, "writing").State)
}

func TestAStoreThatIsAway(t *testing.T) {
	s, err := Open(testDrivers, "redis://127.0.0.1:1") // nobody listens there
	require.NoError(t, err)
	s.Target.Password, s.Options = "s3cret-word", store.OpenOptions{Threads: 1, Log: slog.New(slog.DiscardHandler)}
	sec, info, err := s.Examine(t.Context(), kernel(map[string]string{"proc/sys/vm/overcommit_memory": "0"}))
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.Nil(t, info)
	assert.Contains(t, about(t, sec, "reach").Do, "perfbench lab up")
	assert.Equal(t, Wrong, about(t, sec, "log in").State)
	for _, f := range sec.Findings {
		assert.NotContains(t, f.Found+f.Do, "s3cret-word")
	}
}

func TestAFileThatIsMissingIsNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	s, err := Open(testDrivers, "sqlite:"+path)
	require.NoError(t, err)
	s.Namespace, s.Options = "perfbench", store.OpenOptions{Threads: 1, Log: slog.New(slog.DiscardHandler)}
	sec, info, err := s.Examine(t.Context(), kernel(nil))
	require.NoError(t, err)
	assert.Nil(t, info)
	assert.Equal(t, path+" is missing, and was not made: a run creates it, and so does --write", about(t, sec, "file").Found)
	assert.NoFileExists(t, path)
	s.Write = true
	sec, _, err = s.Examine(t.Context(), kernel(nil))
	require.NoError(t, err)
	assert.Equal(t, Good, about(t, sec, "writing").State)
	assert.FileExists(t, path)

	s, err = Open(testDrivers, "sqlite:"+filepath.Join(t.TempDir(), "nowhere", "none.db"))
	require.NoError(t, err)
	_, _, err = s.Examine(t.Context(), kernel(nil))
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestAMachineIsLookedAt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no beats: what else is seen needs no time
	m := LookAround(ctx, fstest.MapFS{"proc/sys/vm/overcommit_memory": {Data: []byte("1\n")}})
	assert.Equal(t, "1", m.Kernel("proc/sys/vm/overcommit_memory"))
	assert.Empty(t, m.Kernel("proc/missing"))
	assert.Positive(t, m.CPUs)
	assert.Positive(t, m.Seen.ClockCost+m.Seen.ClockTick)
}
