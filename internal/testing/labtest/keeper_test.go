package labtest_test

import (
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// kept has the tests of this process share what a keeper has, as those of all packages
// do under testlab. Their servers are redis.
func kept(t *testing.T) *labtest.Keeper {
	t.Helper()
	labtest.Need(t, "redis")
	k, err := labtest.NewKeeper()
	require.NoError(t, err)
	l, err := net.Listen("unix", k.Socket())
	require.NoError(t, err)
	served := make(chan struct{})
	go func() { defer close(served); k.Serve(l) }()
	t.Setenv(labtest.KeeperEnv, k.Socket())
	t.Cleanup(func() {
		assert.NoError(t, l.Close())
		<-served
		assert.NoError(t, k.Close())
		assert.NoFileExists(t, k.Socket())
	})
	return k
}

func TestCommonServerIsOneForAllAndEndsWithItsKeeper(t *testing.T) {
	labtest.Need(t, "redis")
	var addr string
	t.Run("kept", func(t *testing.T) {
		kept(t)
		for _, name := range []string{"one", "two"} {
			t.Run(name, func(t *testing.T) {
				srv := labtest.Common(t, "redis")
				c := open(t, &redis.Options{Addr: srv.Addr()})
				n, err := c.Incr(t.Context(), "tests").Result()
				require.NoError(t, err)
				assert.Equal(t, name == "two", n == 2)
				addr = srv.Addr()
			})
		}
	})
	_, err := net.Dial("tcp", addr)
	assert.Error(t, err)
}

// Tests wait for their turn, and whatever one has done to the server, the next one
// finds it at work.
func TestServerToKillIsHadInTurn(t *testing.T) {
	kept(t)
	var having, had atomic.Int32
	t.Run("at once", func(t *testing.T) {
		for name, leave := range map[string]func(*labtest.Server){
			"dead":      func(s *labtest.Server) { s.Kill() },
			"frozen":    func(s *labtest.Server) { s.Pause() },
			"restarted": func(s *labtest.Server) { s.Kill(); s.Restart() },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				srv := labtest.ToKill(t, "redis")
				assert.EqualValues(t, 1, having.Add(1))
				assert.NoError(t, open(t, &redis.Options{Addr: srv.Addr()}).Ping(t.Context()).Err())
				leave(srv)
				having.Add(-1)
				had.Add(1)
			})
		}
	})
	assert.EqualValues(t, 3, had.Load())
}

// A server that was restarted goes with the keeper, not with who asked for it.
func TestRestartedServerGoesWithItsKeeper(t *testing.T) {
	labtest.Need(t, "redis")
	var addr string
	t.Run("kept", func(t *testing.T) {
		kept(t)
		t.Run("test", func(t *testing.T) {
			srv := labtest.ToKill(t, "redis")
			srv.Kill()
			srv.Restart()
			addr = srv.Addr()
		})
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	})
	_, err := net.Dial("tcp", addr)
	assert.Error(t, err)
}

// fatal notes how a test was ended that should not have been.
type fatal struct {
	testing.TB
	said string
}

func (f *fatal) Helper() {}

func (f *fatal) Fatal(args ...any) {
	f.said = fmt.Sprint(args...)
	runtime.Goexit()
}

// This package has no TestMain: what its tests shared would stay behind.
func TestPackageThatEndsNothingSharesNothing(t *testing.T) {
	f, ended := &fatal{}, make(chan struct{})
	go func() {
		defer close(ended)
		labtest.Shared(f, "redis")
	}()
	<-ended
	assert.Contains(t, f.said, "labtest.Run")
}
