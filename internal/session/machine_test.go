package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestSettingsWithoutRoomAreRefused(t *testing.T) {
	const gib = 1 << 30
	start := workload.Settings{Threads: 4, Payload: 1 << 10, Batch: 10}
	one := func(s *workload.Settings) int { return 1 }
	p := &workload.Plan{Bytes: 4000 << 10, Phases: []workload.Phase{
		{Tracks: []workload.Track{{Name: "batches", Start: start}, {Name: "singles", Start: start, Units: one}}},
		{Tracks: []workload.Track{{Name: "later", Start: start}}},
	}}
	of := func(payload int) []workload.Settings {
		s := start
		s.Payload = payload
		return []workload.Settings{s, s, start}
	}
	require.NoError(t, roomFor(p, nil, of(1<<10), 8*gib, 4*gib))
	require.NoError(t, roomFor(p, of(1<<10), of(1<<19), 8*gib, 4*gib), "2 GiB of data")
	require.NoError(t, roomFor(p, of(1<<10), of(512<<20), 0, 0), "nobody tells")

	err := roomFor(p, of(256<<20), of(512<<20), 8*gib, 0)
	require.ErrorContains(t, err, "22 GiB would be under way at once, and this machine has 8 GiB free")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	require.NoError(t, roomFor(p, of(1<<30), of(512<<20), 8*gib, 0), "less than now")
	require.ErrorContains(t, roomFor(p, nil, of(512<<20), 8*gib, 0), "under way at once", "before the run begins")

	err = roomFor(p, of(1<<20), of(4<<20), 1024*gib, 4*gib)
	require.ErrorContains(t, err, "of data, and the store has room for 4 GiB")
}

// A timetable is looked through before the run begins: what it comes to has to have room,
// whichever of its entries it is together with.
func TestATimetableWithoutRoomIsRefused(t *testing.T) {
	const gib = 1 << 30
	start := workload.Settings{Threads: 4, Payload: 1 << 20, Batch: 10}
	p := &workload.Plan{Bytes: 100 << 20, Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "a", Start: start}, {Name: "b", Start: start}}}}}
	at := func(after time.Duration, track int, k workload.Knob, v float64) engine.At {
		return engine.At{After: after, Track: track, Knob: k, Value: v}
	}
	table := []engine.At{
		at(time.Second, workload.AllTracks, workload.Threads(), 400),
		at(2*time.Second, workload.AllTracks, engine.At{}.Knob, 1), // a pause
		at(3*time.Second, 1, workload.Payload(), 4<<20),
	}
	require.NoError(t, foresee(p, table, 32*gib, 8*gib))
	err := foresee(p, table, 16*gib, 8*gib)
	require.ErrorContains(t, err, "at: 3s: payload: 9.77 GiB would be under way at once, and this machine has 16 GiB free")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.Equal(t, "at", fault.FieldOf(err))
	require.ErrorContains(t, foresee(p, table, 6*gib, 8*gib), "at: 1s: ")
	require.ErrorContains(t, foresee(p, table, 0, 200<<20), "at: 3s: payload: 250 MiB of data, and the store has room for 200 MiB")
	require.ErrorContains(t, foresee(p, nil, 1<<20, 0), "payload: 80 MiB would be under way")
}
