//go:build trust

package bench

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

var table = flag.Bool("table", false, "write the table of lateness in docs/measurement.md again")

const (
	// prompt is the most that operations may start late at the median, from 50/s to promptTo.
	prompt   = 30 * time.Microsecond
	promptTo = 5_000
	// tableHead is the first line of the table.
	tableHead = "| rate | lateness on Redis | on `null:` | processor | by the runtime's timer | processor |"
)

// In open loop, operations on a real Redis and on null: start at most 30 µs late at the
// median, from 50 to 5,000 a second: of three runs of a second or more each, the median. Its
// figures are those of the machine: run it on one that has nothing else to do.
func TestLatenessIsSmall(t *testing.T) {
	binary, srv := build(t), labtest.Redis(t)
	rows := []string{tableHead, "| ---: | ---: | ---: | ---: | ---: | ---: |"}
	for _, name := range []string{"50/s", "100/s", "500/s", "5,000/s", "20,000/s", "50,000/s"} {
		rate, err := strconv.ParseFloat(strings.NewReplacer(",", "", "/s", "").Replace(name), 64)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			figures := map[string][]float64{}
			for range 3 {
				r := ran(t, binary, srv.URL(), clientFault{flags: []string{"--threads=8", "--arrivals=even", fmt.Sprintf("--rate=%.0f", rate)}}, 5)
				require.NotEmpty(t, r.Operations)
				figures["redis"] = append(figures["redis"], float64(r.Operations[0].Lateness.P50))
				ours, cpu := paced(t, rate, 8, false)
				timer, timerCPU := paced(t, rate, 8, true)
				figures["null"], figures["cpu"] = append(figures["null"], float64(ours.P50)), append(figures["cpu"], cpu)
				figures["timer"], figures["timer cpu"] = append(figures["timer"], float64(timer.P50)), append(figures["timer cpu"], timerCPU)
			}
			of := func(name string) float64 { return Median(figures[name]) }
			row := fmt.Sprintf("| %s | %.0f µs | %.0f µs | %.2g %% | %.0f µs | %.2g %% |", name, of("redis")/1e3, of("null")/1e3, 100*of("cpu"), of("timer")/1e3, 100*of("timer cpu"))
			rows = append(rows, row)
			t.Log(row)
			if rate <= promptTo {
				assert.LessOrEqual(t, time.Duration(of("redis")), prompt, "on Redis")
				assert.LessOrEqual(t, time.Duration(of("null")), prompt, "on null:")
			}
		})
	}
	if !*table || t.Failed() {
		return
	}
	const page = "../../../docs/measurement.md"
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(data), tableHead+"\n")
	require.True(t, found, "%s has no table with the head %s", page, tableHead)
	_, after, _ := strings.Cut(rest, "\n\n")
	require.NoError(t, os.WriteFile(page, []byte(before+strings.Join(rows, "\n")+"\n\n"+after), 0o644))
}
