package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
)

// A server whose process has not been there for as long as it was watched was started again; one that
// took the place of another was not.
func TestServersThatWereStartedAgain(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	var l lives
	add := func(second, up float64, more ...store.Reading) (out []verdict.Restart) {
		l.add(began.Add(time.Duration(second*float64(time.Second))), append(more, store.Reading{Name: store.Uptime, Value: up}))
		for _, r := range l.fresh() {
			out = append(out, r.Restart)
		}
		return out
	}
	assert.Empty(t, add(0, 90))
	assert.Empty(t, add(1.01, 91))
	assert.Empty(t, add(1.99, 91), "it counts whole seconds")
	assert.Equal(t, []verdict.Restart{{Kept: new(int64(0))}}, add(6, 2, store.Reading{Name: store.Began, Value: 0}))
	assert.Empty(t, add(7, 3, store.Reading{Name: store.Began, Value: 0}))
	assert.Empty(t, add(8, 3000), "another server")
	assert.Empty(t, add(9, 40), "another one, which is younger")
	assert.Empty(t, add(15, 40), "it stood still for a while")
	assert.Len(t, add(20, 1), 1, "what it kept is not known")
	assert.Len(t, add(25, 1), 1, "as old as the one before was")
	l.add(began.Add(26*time.Second), []store.Reading{{Node: "b:1", Name: store.Uptime, Value: 1}})
	assert.Empty(t, l.fresh(), "nothing was known of it")
	assert.Equal(t, []verdict.Restart{{AtS: 2, Kept: new(int64(0))}, {AtS: 17}, {AtS: 22}}, l.restarts(began.Add(2*time.Second)))
	l.add(began.Add(27100*time.Millisecond), []store.Reading{{Node: "b:1", Name: store.Uptime, Value: 0}})
	assert.Equal(t, 26600*time.Millisecond, l.fresh()[0].when.Sub(began), "in the second in which it was started, and not in the one in which that was noticed")
}

// A restart is told as of the second in which it is marked, also if it was noticed after the end.
func TestRestartsAreToldWhenTheyAreMarked(t *testing.T) {
	t.Parallel()
	list := []verdict.Restart{{AtS: 12}, {AtS: 20}, {AtS: 29}, {AtS: 35}}
	note := list[0].Note()
	marks := markRestarts([]rundir.Mark{{At: 3, Note: "deployed"}, {At: 13.02, Note: note}, {At: 20.9, Note: note}}, list, nil, 30.4)
	assert.Equal(t, []verdict.Restart{{AtS: 13}, {AtS: 20}, {AtS: 29}, {AtS: 35}}, list)
	assert.Equal(t, []rundir.Mark{{At: 3, Note: "deployed"}, {At: 13.02, Note: note}, {At: 20.9, Note: note}, {At: 29, Note: note}}, marks, "none of what was after the end")
}

// Of a store that tells whole seconds, a restart lies where the outage that it ended does, if that ended near it.
func TestARestartEndsItsOutage(t *testing.T) {
	t.Parallel()
	list := []verdict.Restart{{AtS: 13}, {AtS: 20}}
	note := list[0].Note()
	marks := markRestarts([]rundir.Mark{{At: 13.9, Note: note}, {At: 14.2, Note: "deployed"}, {At: 20, Note: note}}, list, []verdict.Outage{{From: 7.4, To: 14.5}, {From: 15, To: 18.9}}, 30)
	assert.Equal(t, []verdict.Restart{{AtS: 14}, {AtS: 20}}, list)
	assert.Equal(t, []rundir.Mark{{At: 14.2, Note: "deployed"}, {At: 14.5, Note: note}, {At: 20, Note: note}}, marks)
}
