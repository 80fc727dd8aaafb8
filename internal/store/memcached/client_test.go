package memcached

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
)

func TestExpirationsAreWholeSecondsOrMoments(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for ttl, want := range map[time.Duration]int32{
		0: 0, time.Millisecond: 1, time.Second: 1, 1500 * time.Millisecond: 2, longest: 30 * 24 * 3600,
		longest + time.Second: 1_800_000_000 + 30*24*3600 + 1, // the server takes what is longer for a time of day
	} {
		assert.Equal(t, want, expiration(ttl, now), ttl)
	}
}

// noting is a connection that notes its deadlines.
type noting struct {
	net.Conn
	set []time.Time
}

func (c *noting) SetDeadline(t time.Time) error {
	c.set = append(c.set, t)
	return nil
}

func TestDeadlinesThatAreLateEnoughAreKept(t *testing.T) {
	t.Parallel()
	to := &noting{}
	c := &lenient{Conn: to, slack: time.Second}
	from := time.Unix(1_800_000_000, 0)
	for _, ms := range []time.Duration{0, 1, 999, 1000, 1001, 1500} {
		require.NoError(t, c.SetDeadline(from.Add(ms*time.Millisecond)))
	}
	assert.Equal(t, []time.Time{from.Add(time.Second), from.Add(2001 * time.Millisecond)}, to.set)
}

// A key is one allocation: the text that the client wants.
func TestKeysAreMadeInPlace(t *testing.T) {
	s := store.Space{Namespace: "a:b", Name: "mix-record", Shape: store.Map}
	key := []byte(strings.Repeat("k", 20))
	assert.Equal(t, "a%3ab:mix-record:kkkkkkkkkkkkkkkkkkkk", keyOf(s, nil, key))
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() { kept = keyOf(s, nil, key) }))
}

var kept string
