package runpage

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
)

// What was asked for is asked for again, and what follows from that is left out.
func TestTheCommandOfARun(t *testing.T) {
	r := &rundir.Run{
		Profile: "ingestion", Target: "redis://h:6379/?tls=1", Seed: 7,
		Settings:   map[string]float64{"threads": 4, "profile.threads": 2, "rate": 0},
		Parameters: map[string]string{"preset": "small", "duration": "60s", "prefix": "it's", "cleanup": "on", "allow-existing": "off", "threads": "4", "testCase": "put"},
		Origins: map[string]string{
			"threads": "flag --threads", "profile.threads": "flag --threads", "rate": "default", "duration": "environment PERFBENCH_DURATION",
			"prefix": "flag --set", "cleanup": "flag --cleanup", "allow-existing": "flag --allow-existing", "testCase": "preset small",
		},
		Changes: []rundir.Change{
			{At: 35.0004, Name: "threads", From: 4, To: 16, Segment: 1},
			{At: 40, Name: "rate", To: 100, Segment: 2, Ramp: 1}, {At: 50, Name: "rate", From: 100, To: 300, Segment: 3, Ramp: 1},
		},
		Verdict: rundir.Verdict{Thresholds: []rundir.Threshold{{Expr: "p99<1ms"}}},
	}
	assert.Equal(t, `perfbench run --profile ingestion --target 'redis://h:6379/?tls=1' --preset small --cleanup --duration 60s `+
		`--set 'prefix=it'\''s' --seed 7 --threads 4 --at 35s:threads=16 --at 40s..50s:rate=100..300 --threshold 'p99<1ms'`, Command(r))
}
