package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
)

// Whoever gives a rate and no more gets independent arrivals, except where the plan imitates
// another pacing; without a rate there are none to speak of, unless something may set one.
func TestHowCallsComeUnlessAsked(t *testing.T) {
	evenly := func(e session.Env) session.Env {
		like := tiny
		like.Design = func(in workload.Inputs) (*workload.Plan, error) {
			p, err := designTiny(in)
			p.Evenly = "compat=on"
			return p, err
		}
		e.Profiles = []workload.Profile{like}
		return e
	}
	shown := func(e session.Env, r session.Request) string {
		p := prepare(t, e, r)
		said := text(p.Preview().Run, "arrivals")
		if kept, ok := p.Model().Parameters["arrivals"]; ok {
			assert.Equal(t, kept, p.Inputs.Arrivals.String())
		} else {
			assert.Equal(t, "absent", said)
		}
		return said
	}
	rated := asked(t, "rate", "100")
	assert.Equal(t, "poisson from default", shown(env(t), rated))
	assert.Equal(t, "even from default with compat=on", shown(evenly(env(t)), rated))
	assert.Contains(t, prepare(t, evenly(env(t)), rated).Warnings,
		"compat=on: calls come evenly, as in what it imitates; with --arrivals poisson they come independently, as from many users")
	assert.Equal(t, "poisson from flag --arrivals", shown(evenly(env(t)), asked(t, "rate", "100", "arrivals", "poisson")))
	assert.Equal(t, "even from flag --arrivals", shown(env(t), asked(t, "rate", "100", "arrivals", "even")))
	assert.Equal(t, "absent", shown(env(t), asked(t)))
	later := asked(t)
	later.Timetable = []string{"1s:rate=100"}
	assert.Equal(t, "poisson from default", shown(env(t), later))
	live := asked(t)
	live.MaxThreads = 10 // as the workbench and a search have it
	assert.Equal(t, "poisson from default", shown(env(t), live))
}
