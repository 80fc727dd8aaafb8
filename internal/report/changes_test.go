package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

func TestWhatChangedWhen(t *testing.T) {
	var runs []*rundir.Run
	for i := range 12 {
		rate, version := 10_000+float64(10*(i%3)), "7.0"
		if i >= 8 {
			rate, version = rate*0.9, "7.2"
		}
		runs = append(runs, &rundir.Run{
			ID: fmt.Sprintf("run-%02d", i), Profile: "tx", Unit: "transactions", Target: "redis://here", MeasuredS: 30, EndedBy: "duration",
			Started: time.Date(2026, 3, 1+i, 0, 0, 0, 0, time.UTC), Verdict: rundir.Verdict{State: verdict.Valid}, Store: rundir.Store{Name: "redis", Version: version},
			Operations: []rundir.Operation{{Track: "a", Op: "b", Count: int64(30 * rate), Calls: 30_000, Throughput: &rate, Response: rundir.Latency{P50: 1e6, P99: 4e6}}},
		})
	}
	list := compare.Changed(runs)
	text := Changed(list)
	assert.Contains(t, text, "12 runs, from run-00 to run-11.")
	assert.Regexp(t, `run-08 +transactions/s +worse +−10\.0 % +version 7\.0 → 7\.2`, text)
	page := string(ChangedHTML(list))
	assert.Contains(t, page, "transactions per second of each run")
	assert.Contains(t, page, "transactions/s: worse, −10.0 % from run-08 on; differs: version 7.0 → 7.2")
	data, err := ChangedJSON(list)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"from_run": "run-08"`)
	assert.Equal(t, map[string]string{"run-08": "from this run on transactions/s 10k → 9.01k: worse; what else differs: version 7.0 → 7.2"}, ChangedAt(list))
	assert.Contains(t, Changed(nil), "No plan has 6 runs")
}

// What differs is wrapped where it is long, and never cut.
func TestWordsOfATableAreWrapped(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("payload 512 B → 8 KiB, ", 9))
	table := Table{Left: 2, Columns: []string{"from run", "what else differs there"}}
	table.Add("run-08", long)
	text := table.Text()
	assert.NotContains(t, text, "…")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, long, strings.Join(strings.Fields(strings.Join(lines[1:], " "))[1:], " "))
	for _, l := range lines[2:] {
		assert.True(t, strings.HasPrefix(l, strings.Repeat(" ", 10)), l)
		assert.LessOrEqual(t, len([]rune(l)), 100)
	}
}
