package ownership

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
)

func TestOneAtATime(t *testing.T) {
	c := open(t, "")
	first := take(t, c, want("r1", "a"))
	err := refused(t, c, want("r2", "b"))
	require.ErrorContains(t, err, `the namespace "ns" is in use by r1 (process `)
	assert.ErrorContains(t, err, " since 20")
	_, err = Hold(t.Context(), c, ns, "perfbench data delete")
	require.ErrorContains(t, err, "is in use by r1")
	who, err := Holder(t.Context(), c, ns)
	require.NoError(t, err)
	assert.Contains(t, who, "r1 (process ")

	// Who is at work there comes before what is wrong with what he has made so far.
	require.NoError(t, c.Record(t.Context(), store.Made{Space: space("b")}))
	put(t, c, space("theirs"))
	require.ErrorContains(t, refused(t, c, want("r2", "theirs")), "is in use by r1")

	other := want("r2")
	s := space("a")
	s.Namespace = "other"
	other.Namespace, other.Spaces = "other", []Space{{Space: s}}
	take(t, c, other)
	require.NoError(t, first.Release(t.Context()))
	take(t, c, want("r2", "b"))
}

func TestALeaseIsRenewedAndLapses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		first := take(t, c, want("r1", "a"))
		time.Sleep(10 * TTL)
		refused(t, c, want("r2", "a"))
		assert.NoError(t, first.Err())

		first.lease.stop() // as if the process had died
		first.lease.beating.Wait()
		time.Sleep(TTL - Renewal - time.Millisecond)
		refused(t, c, want("r2", "a"))
		time.Sleep(Renewal + time.Millisecond)
		second := take(t, c, want("r2", "a"))
		assert.NoError(t, second.Release(t.Context()))
	})
}

// deaf is a store whose lease takes a minute to renew, whatever becomes of the context.
type deaf struct {
	*memory.Conn
	taken bool
}

func (d *deaf) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	if d.taken {
		time.Sleep(time.Minute)
	}
	d.taken = true
	return d.Conn.Hold(ctx, namespace, l, ttl)
}

// Giving a lease up takes no longer than its context, even while a renewal hangs.
func TestAStoreThatHangsHoldsUpNoRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		claim := take(t, &deaf{Conn: open(t, "")}, want("r1", "a"))
		time.Sleep(Renewal + time.Second) // it is being renewed
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, claim.Release(ctx), context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

// late is a store that carries out what it was asked for a second later, whether the
// asker waits for it or not.
type late struct {
	*memory.Conn
	taken bool
}

func (d *late) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (holder store.Lease, how store.Hold, err error) {
	if !d.taken {
		d.taken = true
		return d.Conn.Hold(ctx, namespace, l, ttl)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(time.Second)
		holder, how, err = d.Conn.Hold(context.WithoutCancel(ctx), namespace, l, ttl)
	}()
	select {
	case <-done:
		return holder, how, err
	case <-ctx.Done():
		return l, store.Denied, ctx.Err()
	}
}

// unheard is a store that does what it is asked for, and whose first answers are lost.
type unheard struct {
	*memory.Conn
	held, freed int
}

func (u *unheard) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	holder, how, err := u.Conn.Hold(ctx, namespace, l, ttl)
	if u.held++; u.held == 1 && err == nil {
		return l, store.Denied, context.DeadlineExceeded
	}
	return holder, how, err
}

func (u *unheard) Free(ctx context.Context, namespace string, l store.Lease) error {
	err := u.Conn.Free(ctx, namespace, l)
	if u.freed++; u.freed == 1 && err == nil {
		return context.DeadlineExceeded
	}
	return err
}

// A lease whose answer was lost is asked for again: it may be ours.
func TestALeaseWhoseAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unheard{Conn: open(t, "")}
		claim := take(t, u, want("r1", "a"))
		assert.Contains(t, refused(t, u, want("r2", "a")).Error(), "is in use by r1 ")
		require.NoError(t, claim.Release(t.Context()))
		take(t, u, want("r2", "a"))
	})
}

// A lease that was given up is free, also when a renewal of it was under way.
func TestALeaseGivenUpIsNotRenewedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := open(t, "")
		claim := take(t, &late{Conn: conn}, want("r1", "a"))
		time.Sleep(Renewal + time.Second/2) // it is being renewed
		require.NoError(t, claim.Release(t.Context()))
		time.Sleep(2 * time.Second)
		held, err := Holder(t.Context(), conn, ns)
		require.NoError(t, err)
		assert.Empty(t, held)
	})
}

func TestAClaimThatWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		first := take(t, c, want("r1", "a"))
		put(t, c, space("a"))
		// As after a suspension: the lease has lapsed, and another run came first.
		require.NoError(t, c.Free(t.Context(), ns, first.lease.as()))
		other := self("r2")
		other.Host = "elsewhere"
		_, how, err := c.Hold(t.Context(), ns, other, time.Hour)
		require.NoError(t, err)
		require.Equal(t, store.Taken, how)
		<-first.Lost()
		require.ErrorContains(t, first.Err(), `the namespace "ns" was taken over by r2 (process `)
		assert.Equal(t, fault.CodeOther, fault.CodeOf(first.Err()))
		require.Error(t, first.Cleanup(t.Context()))
		require.Error(t, first.Update(t.Context(), space("a"), nil))
		require.NoError(t, first.Release(t.Context()))
		n, err := c.Count(t.Context(), space("a"))
		require.NoError(t, err)
		assert.EqualValues(t, 1, n, "it is no longer ours to drop")
		_, held, err := c.Holder(t.Context(), ns)
		require.NoError(t, err)
		assert.True(t, held)
	})
}

func TestAStoreThatLostEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		claim := take(t, c, want("r1", "a"))
		_, err := c.Drop(t.Context(), space("a"), nil)
		require.NoError(t, err)
		require.NoError(t, c.Free(t.Context(), ns, claim.lease.as()))
		time.Sleep(Renewal + time.Millisecond)
		synctest.Wait()
		assert.Len(t, made(t, c), 1, "it is recorded again with the lease")
		require.NoError(t, claim.Err())
		require.NoError(t, claim.Release(t.Context()))
	})
}

func TestTheDeadAreKnown(t *testing.T) {
	l := self("r")
	assert.False(t, dead(l))
	if machine() == "" {
		t.Skip("this system does not tell")
	}
	gone := l
	gone.Born = "1"
	assert.True(t, dead(gone), "another process has its number by now")
	gone.Machine = "elsewhere"
	assert.False(t, dead(gone))

	c := open(t, "")
	gone.Machine = l.Machine
	_, _, err := c.Hold(t.Context(), ns, gone, time.Hour)
	require.NoError(t, err)
	claim := take(t, c, want("r2", "a"))
	assert.NoError(t, claim.Err())
}
