package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// Sessions have the iterations of a track come as those of users. A user comes, makes some
// calls, each once the last was answered and some time to think has passed, and goes. At a
// rate, users come as its arrivals say, whatever the answers, as many as make that rate in
// all; in closed loop, the next comes when one has gone. A worker acts for one user at a
// time: users who come while all are busy wait.
type Sessions struct {
	// Mean is how many iterations a session has on average; 0: they have no end, and at a rate
	// each iteration comes by itself.
	Mean float64
	// Draw returns, for one worker, what draws the length of a session and, in ns, the pause
	// after it in closed loop from random bits. Lengths are Mean if it is nil or they are, and
	// the pause is that within sessions.
	Draw func() (length, pause func(bits uint64) int64)

	op int
}

// SessionOp is the operation as which whole sessions count, from when the user came to the
// last answer, in the unit SessionUnit.
const (
	SessionOp   = "session"
	SessionUnit = "sessions"
)

// Bounds of what users do.
const (
	// MaxSession is the most iterations that a session has; MaxThink the longest mean think time.
	MaxSession = 1_000_000
	MaxThink   = time.Hour
	// longestThink is how many times the mean think time anybody thinks at most.
	longestThink = 10
)

// SessionParams returns the parameters of a profile that has users.
func SessionParams() []Param {
	return []Param{
		{Name: "session", Kind: Integer, Default: "0", Unit: "calls", Min: 0, Max: MaxSession, Help: "calls of a user's session, each of which waits for the last; at a rate, sessions come on schedule and calls in them do not; 0: each call comes by itself"},
		{Name: "think", Kind: Duration, Default: "0s", Help: "how long users think between two calls, on average; in closed loop without session too"},
	}
}

// NoUsers returns what a profile lacks that has no users, because of why.
func NoUsers(profile, why string) map[string]string {
	out := map[string]string{}
	for _, p := range SessionParams() {
		out[p.Name] = profile + " has no users, " + why
	}
	return out
}

// Think returns the knob for the mean think time.
func Think() Knob {
	return Knob{
		Name: "think", Unit: Milliseconds, Help: "how long users think between two calls of a session, on average", Min: 0, Max: float64(MaxThink.Milliseconds()), Step: 10, Log: true,
		Get: func(s Settings) float64 { return s.Think },
		Set: func(s Settings, v float64) Settings { s.Think = v; return s },
	}
}

// Visit has the track's iterations come in sessions, and adds the operation as which whole
// sessions count. It returns a sentence of warning, or an empty one.
func (t *Track) Visit(s Sessions) string {
	t.Pauses, t.Spares = true, true
	if s.Mean > 0 {
		if t.Counted == 0 {
			t.Counted = len(t.Ops)
		}
		for len(t.OpUnits) < len(t.Ops) {
			t.OpUnits = append(t.OpUnits, "")
		}
		s.op = len(t.Ops)
		t.Ops, t.OpUnits = append(slices.Clip(t.Ops), SessionOp), append(slices.Clip(t.OpUnits), SessionUnit)
	}
	t.Sessions = &s
	return t.crowded()
}

// crowded says that the track has fewer workers than users in thought.
func (t *Track) crowded() string {
	come := t.Start.Rate / t.PerArrival(&t.Start)
	inside := come * (t.Sessions.Mean - 1) * t.Start.Think / 1000
	if come <= 0 || t.Sessions.Mean == 0 || inside <= float64(t.Start.Threads) {
		return ""
	}
	return fmt.Sprintf("%s: %.4g sessions a second, with pauses to think of %.4g s in each, are %.4g at a time, each of which takes a thread, and there are %d: more would have to wait, so raise threads",
		t.Name, come, (t.Sessions.Mean-1)*t.Start.Think/1000, math.Ceil(inside), t.Start.Threads)
}

// InSessions reports whether iterations belong to sessions that have an end.
func (t *Track) InSessions() bool { return t.Sessions != nil && t.Sessions.Mean > 0 }

// SessionOp returns the index in Ops of the operation as which whole sessions count; -1: there
// is none.
func (t *Track) SessionOp() int {
	if !t.InSessions() {
		return -1
	}
	return t.Sessions.op
}

// PerIteration returns how many units an iteration of the track covers under some settings.
func (t *Track) PerIteration(s *Settings) int {
	if t.Units == nil {
		return 1
	}
	return max(t.Units(s), 1)
}

// PerArrival returns how many units come at a time in open loop under some settings, on average:
// those of an iteration, or of a session.
func (t *Track) PerArrival(s *Settings) float64 {
	n := float64(t.PerIteration(s))
	if t.InSessions() {
		n *= t.Sessions.Mean
	}
	return n
}

// Thinks returns how long a user thinks, in ns, by how many times as long as the mean that is.
func (s *Settings) Thinks(times float64) int64 {
	return int64(min(times, longestThink) * s.Think * 1e6)
}

// NoThinking returns the error of a plan that has users think at a rate where each call comes by
// itself.
func NoThinking() error {
	return fault.Field("think", fault.Input(errors.New("think: at a rate, each call comes by itself, so nobody thinks between two of them"),
		"add --session 10, say, or leave the rate out"))
}
