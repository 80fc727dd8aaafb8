package session

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
)

// lives finds out, from successive readings of a store's servers, which of them were started again
// in between. Its methods may be called from any goroutine.
type lives struct {
	mu   sync.Mutex
	last map[string]life // by node
	list []restart
	told int // how many of them fresh has returned
}

// life is for how long a server had been there at a moment.
type life struct {
	at time.Time
	up time.Duration
}

// follows reports whether it is another process than one before. That has not been there for longer
// than it was not asked, as a process of another server that took its place may have been, and either
// for less time than the one before, or it began later.
func (l life) follows(before life) bool {
	passed := l.at.Sub(before.at)
	return l.up <= passed+slack && (l.up < before.up || l.up+slack < before.up+passed)
}

// restart is a server that was started again, and when.
type restart struct {
	when time.Time
	verdict.Restart
}

// slack is by how much what a server says may be off, as it counts whole seconds.
const slack = time.Second

// add takes the readings of a moment.
func (l *lives) add(now time.Time, told []store.Reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := map[string]*int64{}
	for _, r := range told {
		if r.Name == store.Began {
			kept[r.Node] = new(int64(r.Value))
		}
	}
	if l.last == nil {
		l.last = map[string]life{}
	}
	for _, r := range told {
		if r.Name != store.Uptime {
			continue
		}
		before, known := l.last[r.Node]
		one := life{now, time.Duration(r.Value * float64(time.Second))}
		l.last[r.Node] = one
		if known && one.follows(before) {
			when := now.Add(-one.up)
			if when.Before(before.at) {
				when = before.at // when the one before was still there
			} else if one.up < slack/2 {
				when = now.Add(-slack / 2) // in the middle of the second that it does not tell
			}
			l.list = append(l.list, restart{when, verdict.Restart{Node: r.Node, Kept: kept[r.Node]}})
		}
	}
}

// fresh returns the servers that it has not returned before.
func (l *lives) fresh() []restart {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.list[l.told:len(l.list):len(l.list)]
	l.told = len(l.list)
	return out
}

// restarts returns all servers that were started again, in order; times count from when measurement
// began.
func (l *lives) restarts(measured time.Time) (out []verdict.Restart) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.list {
		r := x.Restart
		r.AtS = math.Floor(x.when.Sub(measured).Seconds()) // as its mark
		out = append(out, r)
	}
	return out
}

// LookAgain asks the store once more, after the end, for servers that were started again since the
// last second.
func (s *Sampler) LookAgain(ctx context.Context) {
	if !s.reports {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	told, _ := s.o.Server.Readings(ctx) // a store that is away says nothing of the kind
	s.lives.add(time.Now(), told)
}
