package ownership

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
)

// dies is a claim of a run with two workers whose process has died.
func dies(t *testing.T, c *memory.Conn) *Claim {
	t.Helper()
	w := want("r1", "a")
	w.Workers = 2
	claim := take(t, c, w)
	claim.lease.stop()
	claim.lease.beating.Wait()
	gone := claim.lease.as()
	gone.Born = "1" // another process has its number by now
	done, err := c.Swap(t.Context(), ns, claim.lease.as(), gone, TTL)
	require.NoError(t, err)
	require.True(t, done)
	return claim
}

// While workers of a run whose coordinator has died may write, nobody else gets the
// namespace, and whoever asks is told until when.
func TestWorkersKeepTheNamespaceOfTheirRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		dies(t, c)
		until := time.Now().Add(time.Minute)
		ask := func() {
			gone, err := Ask(t.Context(), c, ns, "r1", until)
			require.NoError(t, err)
			require.NoError(t, gone)
		}
		other := want("r2", "a")
		said := ""
		other.Say = func(sentence string) { said = sentence }
		go func() {
			time.Sleep(2 * time.Second)
			ask() // a worker has noticed
		}()
		err := refused(t, c, other)
		require.ErrorContains(t, err, "they have lost their coordinator, and may write until "+moment(until.Add(time.Second)))
		assert.Contains(t, fault.HintOf(err), "wait until then")
		assert.Contains(t, said, "waiting until "+moment(time.Now().Add(TTL-2*time.Second)))
		for range 5 { // they keep it
			time.Sleep(TTL / 2)
			ask()
		}
		refused(t, c, other)
		time.Sleep(TTL) // the last of them has ended
		take(t, c, other)
		gone, err := Ask(t.Context(), c, ns, "r1", until)
		require.NoError(t, err)
		require.ErrorContains(t, gone, "was taken over by r2 (process ")
	})
}

// Whoever finds nobody at work any more where a coordinator with workers has died waits
// until its lease has lapsed.
func TestALeaseOfWorkersThatDiedIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		dies(t, c)
		began := time.Now()
		take(t, c, want("r2", "a"))
		assert.InDelta(t, TTL, time.Since(began), float64(settling))
	})
}

// The coordinator that goes on in the place of one that died has the lease at once.
func TestWhoGoesOnHasTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		first := dies(t, c)
		gone, err := Ask(t.Context(), c, ns, "r1", time.Now().Add(time.Minute))
		require.NoError(t, errors.Join(gone, err))
		w := want("r1", "a")
		w.Workers = 2
		began := time.Now()
		claim, err := Resume(t.Context(), c, w, first.Held())
		require.NoError(t, err)
		assert.Equal(t, began, time.Now())
		gone, err = Ask(t.Context(), c, ns, "r1", time.Time{})
		require.NoError(t, errors.Join(gone, err))
		require.NoError(t, claim.Release(t.Context()))
	})
}

// A coordinator that was cut off from its workers has its lease as before, and can end it for
// them; a lease that was given up they do not bring back.
func TestTheCoordinatorEndsTheLeaseForItsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		w := want("r1", "a")
		w.Workers = 2
		claim := take(t, c, w)
		ask := func() error {
			gone, err := Ask(t.Context(), c, ns, "r1", time.Now().Add(time.Minute))
			require.NoError(t, err)
			return gone
		}
		require.NoError(t, ask())
		time.Sleep(2 * TTL)
		require.NoError(t, claim.Err())
		require.NoError(t, ask())
		require.NoError(t, claim.End(t.Context()))
		require.ErrorContains(t, ask(), "is ending without this worker")
		time.Sleep(2 * TTL)
		require.ErrorContains(t, ask(), "is ending without this worker")
		require.NoError(t, claim.Release(t.Context()))
		require.ErrorContains(t, ask(), "its coordinator has ended")
		_, held, err := c.Holder(t.Context(), ns)
		require.NoError(t, err)
		assert.False(t, held)
	})
}

// A run that was stopped while another one came and went stops, although nobody has the
// lease: what the other has stored is not its own.
func TestARunThatSleptThroughAnotherIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		first := take(t, c, want("r1", "a"))
		put(t, c, space("a"))
		require.NoError(t, c.Free(t.Context(), ns, first.lease.as())) // as if it had lapsed
		second := take(t, c, want("r2", "a"))
		require.NoError(t, second.Release(t.Context()))
		require.NoError(t, first.Confirm(t.Context(), c))
		require.ErrorContains(t, first.Err(), `was used by r2 meanwhile`)
		require.Error(t, first.Cleanup(t.Context()))
		n, err := c.Count(t.Context(), space("a"))
		require.NoError(t, err)
		assert.EqualValues(t, 1, n)
	})
}

// Nothing is removed on the strength of a lease that may have lapsed: the store is asked.
func TestWhatIsRemovedIsStillOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		first := take(t, c, want("r1", "a"))
		put(t, c, space("a"))
		first.lease.stop() // as if the process had been stopped
		first.lease.beating.Wait()
		time.Sleep(TTL)
		other := self("r2")
		_, how, err := c.Hold(t.Context(), ns, other, time.Hour)
		require.NoError(t, err)
		require.Equal(t, store.Taken, how)
		require.ErrorContains(t, first.Cleanup(t.Context()), "was taken over by r2")
		n, err := c.Count(t.Context(), space("a"))
		require.NoError(t, err)
		assert.EqualValues(t, 1, n)
	})
}

// Once the time is up that workers have said, they are not said to write any more: whoever
// comes waits until their lease has lapsed.
func TestALeaseOfWorkersThatHaveEndedIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "")
		dies(t, c)
		gone, err := Ask(t.Context(), c, ns, "r1", time.Now().Add(2*time.Second))
		require.NoError(t, errors.Join(gone, err))
		time.Sleep(5 * time.Second)
		other, said := want("r2", "a"), ""
		other.Say = func(sentence string) { said = sentence }
		began := time.Now()
		take(t, c, other)
		assert.InDelta(t, TTL-5*time.Second, time.Since(began), float64(settling))
		assert.Contains(t, said, "with 2 workers")
		assert.Contains(t, said, "which have ended: waiting until ")
	})
}

// A start that was interrupted, and its connection closed, gives its lease up by another: also
// where a worker that does not hear it has said in the lease until when it writes.
func TestAnInterruptedStartKeepsNobodyOut(t *testing.T) {
	for name, begun := range map[string]bool{"before workers were told to begin": false, "afterwards": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t, "")
				w := want("r1", "a")
				w.Workers = 2
				claim := take(t, c, w)
				ask := func() error {
					gone, err := Ask(t.Context(), c, ns, "r1", time.Now().Add(5*time.Minute))
					require.NoError(t, err)
					return gone
				}
				require.NoError(t, ask())
				require.NoError(t, claim.Cede(t.Context(), c, begun))
				gone, wait := ask(), time.Duration(0)
				if begun {
					require.ErrorContains(t, gone, "is ending without this worker")
					wait = TTL
				} else {
					require.ErrorContains(t, gone, "its coordinator has ended")
				}
				time.Sleep(wait)
				require.NoError(t, claim.Release(t.Context()))
				take(t, c, want("r2", "a"))
			})
		})
	}
}
