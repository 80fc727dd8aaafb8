package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/verdict"
)

func TestProcessesAreShown(t *testing.T) {
	f := store()
	assert.NotContains(t, printed(t, f, "text"), "Processes", "nobody has watched any")
	f.Run.Observed = &verdict.Observed{
		Processes: []verdict.Process{
			{Role: "perfbench", PID: 7, Name: "pb", CPU: new(0.5), CPUMost: new(1.25), RSSMost: new(int64(3 << 20)), NetIn: new(2048.0), NetOut: new(1024.0)},
			{Role: "redis", PID: 8, Name: "redis-server"},
			{Role: "cassandra", Note: "it is on another machine"},
		},
		Store: &verdict.Used{CPU: new(1.5), Calls: new(int64(12)), Kind: "scripts", Received: new(int64(1 << 20)), Sent: new(int64(0))},
	}
	markdown := printed(t, f, "markdown")
	assert.Contains(t, markdown, "| perfbench | pb | 7 | 0.50 | 1.25 | 3 MiB | 2 KiB | 1 KiB |")
	assert.Contains(t, markdown, "| redis | redis-server | 8 | - | - | - | - | - |")
	assert.Contains(t, markdown, "Nothing could be measured of cassandra: it is on another machine.")
	assert.Contains(t, markdown, "By its own counters, the store used 1.50 s of processor time, counted 12 scripts, received 1 MiB and sent 0 B.")
}
