package histories

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/datagen"
)

// judged is what becomes of a history whose windows are checked.
func judged(t *testing.T, all ...Event) *Outcome {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), checkFor)
	defer stop()
	l := &Outcome{}
	checkHistory(ctx, all, l)
	return l
}

func TestHistories(t *testing.T) {
	put := func(v datagen.Version, call, back int64) Event {
		return Event{Version: v, Call: call, Back: back, Write: true}
	}
	get := func(v datagen.Version, call, back int64) Event { return Event{Version: v, Call: call, Back: back} }
	lost := func(v datagen.Version, call, back int64) Event {
		return Event{Version: v, Call: call, Back: back, Write: true, Failed: true}
	}
	for name, c := range map[string]struct {
		history []Event
		wrong   int64
	}{
		"the new value and then the old one, while the write is under way": {[]Event{get(1, 0, 1), put(2, 2, 100), get(2, 10, 11), get(1, 12, 13)}, 1},
		"the old value and then the new one, while the write is under way": {[]Event{get(1, 0, 1), put(2, 2, 100), get(1, 10, 11), get(2, 12, 13)}, 0},
		"two writes at a time, seen in two orders":                         {[]Event{put(1, 0, 10), put(2, 1, 11), get(1, 20, 21), get(2, 22, 23)}, 1},
		"a failed write that is read much later":                           {[]Event{put(1, 0, 1), lost(2, 2, 3), get(1, 4, 5), get(2, 6, 7), get(2, 8, 9)}, 0},
		"a failed write that is read and then undone":                      {[]Event{put(1, 0, 1), lost(2, 2, 3), get(2, 4, 5), get(1, 6, 7)}, 1},
		"a failed write that nobody reads":                                 {[]Event{put(1, 0, 1), lost(2, 2, 3), get(1, 4, 5), get(1, 6, 7)}, 0},
		"a record that was written and is not there":                       {[]Event{put(1, 0, 1), get(Missing, 4, 5)}, 1},
		"a value that is read before it is written":                        {[]Event{put(1, 0, 1), get(2, 2, 3), put(2, 4, 5)}, 1},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.wrong, judged(t, c.history...).Violated) })
	}
}

// TestWindowsKnowWhatWasBefore cuts a long history, and finds what is stale across a cut.
func TestWindowsKnowWhatWasBefore(t *testing.T) {
	var all []Event
	for i := range int64(10 * fewInWindow) {
		all = append(all, Event{Version: datagen.Version(i + 1), Call: 4 * i, Back: 4*i + 1, Write: true}, Event{Version: datagen.Version(i + 1), Call: 4*i + 2, Back: 4*i + 3})
	}
	l := judged(t, all...)
	assert.Zero(t, l.Violated)
	assert.Greater(t, l.Windows, int64(10))
	for i := 3; i < len(all); i += 2 {
		was := all[i].Version
		all[i].Version--
		assert.EqualValues(t, 1, judged(t, all...).Violated, "call %d", i)
		all[i].Version = was
	}
}

// TestReadsThatNeverRest has a read under way at all times, so that no window could end.
func TestReadsThatNeverRest(t *testing.T) {
	var all []Event
	for i := range int64(2 * mostInWindow) {
		all = append(all, Event{Version: datagen.Version(i + 1), Call: 4 * i, Back: 4*i + 1, Write: true}, Event{Version: datagen.Version(i + 1), Call: 4*i + 2, Back: 4*i + 7})
	}
	l := judged(t, all...)
	assert.Zero(t, l.Violated)
	assert.Greater(t, l.Windows, int64(1))
	assert.Positive(t, l.LeftOut)
	all[len(all)-1].Version -= 3
	assert.EqualValues(t, 1, judged(t, all...).Violated)
}
