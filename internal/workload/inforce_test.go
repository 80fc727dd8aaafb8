package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
)

// A fault is in force from its beginning to its end, which is known where it is planned, whoever began it.
func TestWhatIsInForceIsNamed(t *testing.T) {
	p := &Plan{Commands: &Commands{}}
	kind, v, err := ParseFault("exec:./failover.sh --to 2", "", p.Commands)
	assert.NoError(t, err)
	exec := FaultKinds()[kind].Setting()
	changes := []measure.Change{
		{At: time.Second, Name: "threads", To: 8},
		{At: 2 * time.Second, Name: "fault-pause", To: 1}, {At: 3 * time.Second, Name: "fault-pause"},
		{At: 4 * time.Second, Name: "fault-delay", To: 5}, {At: 5 * time.Second, Name: exec, To: v},
	}
	planned := []measure.Change{{At: 3 * time.Second, Name: "fault-pause"}, {At: 20 * time.Second, Name: "fault-delay"}, {At: 30 * time.Second, Name: "fault-delay", To: 7}}
	at := 8 * time.Second
	var words []string
	for _, f := range p.InForce(changes, planned, at) {
		words = append(words, f.String())
	}
	assert.ElementsMatch(t, []string{"delay:5ms, 12 s left", "exec:./failover.sh --to 2"}, words)
	assert.Empty(t, p.InForce(changes[:3], planned, at))
	left := p.InForce(changes[:4], planned, 20*time.Second-time.Millisecond)
	assert.Equal(t, "delay:5ms, 1 s left", left[0].String(), "never none")
}
