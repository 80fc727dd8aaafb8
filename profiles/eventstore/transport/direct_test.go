package transport

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a receiver that crashed had not settled is delivered again, and nothing else.
func TestDirectDeliversAgain(t *testing.T) {
	ctx := context.Background()
	now := int64(0)
	d := NewDirect(func() int64 { now++; return now }, 3, 1000)
	confirmed := 0
	p, err := d.Publisher(ctx, 0, func(Meta, error) { confirmed++ })
	require.NoError(t, err)
	for i := range 3 {
		e := NewEnvelope()
		e.Body = append(e.Body, byte(i))
		e.First, e.Count = int64(i), 1
		require.NoError(t, p.Publish(ctx, e))
	}
	full, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, p.Publish(full, NewEnvelope()), context.Canceled, "there is no room")
	assert.Equal(t, 3, confirmed)
	r, err := d.Receiver(ctx, 2)
	require.NoError(t, err)
	a, err := r.Receive(ctx)
	require.NoError(t, err)
	b, err := r.Receive(ctx)
	require.NoError(t, err)
	_, err = r.Receive(full)
	require.ErrorIs(t, err, context.Canceled, "as many as prefetch are out")
	require.NoError(t, r.Ack(a))
	require.NoError(t, r.Close())
	require.NoError(t, r.Ack(b), "too late")
	r, err = d.Receiver(ctx, 9)
	require.NoError(t, err)
	got := map[byte]bool{}
	for range 2 {
		m, err := r.Receive(ctx)
		require.NoError(t, err)
		got[m.Body[0]] = m.Redelivered
		require.NoError(t, r.Ack(m))
	}
	assert.Equal(t, map[byte]bool{1: true, 2: false}, got)
	depth, err := d.Depth(ctx)
	require.NoError(t, err)
	assert.Equal(t, Depth{}, depth)
}
