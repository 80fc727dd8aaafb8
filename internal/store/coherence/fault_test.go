package coherence_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// soon is how long a slow machine may take for what is to happen.
const soon = 150 * time.Second

func TestBadTargets(t *testing.T) {
	for url, hint := range map[string]string{
		"coherence://u:geheim@localhost":                         "cert=FILE",
		"coherence://localhost/db":                               "leave it out",
		"coherence://localhost?read_timeout=1s&write_timeout=2s": "one of them",
		"coherence://localhost?connections=0":                    "",
		"coherence://localhost?dial_timeout=3":                   "unit",
		"coherence://localhost?ca=x":                             "tls=1",
		"coherence://localhost?tls=1&ca=/nowhere/ca.pem":         "PEM",
	} {
		_, err := dial(t, url)
		require.Error(t, err, url)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), url)
		assert.Contains(t, fault.HintOf(err), hint, url)
		assert.NotContains(t, err.Error(), "geheim")
	}
}

func TestNobodyAndAStrangerAnswer(t *testing.T) {
	_, err := dial(t, "coherence://"+labtest.Nobody(t))
	require.Error(t, err)
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.Contains(t, err.Error(), "cannot be reached")
	assert.Contains(t, fault.HintOf(err), "perfbench lab up coherence")

	_, err = dial(t, "coherence://"+labtest.Redis(t).Addr()+"?dial_timeout=2s")
	require.Error(t, err)
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err), "%v", err)
}

func TestTLS(t *testing.T) {
	tier.Full(t, "TLS on Redis")
	srv := labtest.CoherenceTLS(t, labtest.TLSOptions{ClientAuth: true})
	c := open(t, srv.URL())
	s := store.Space{Namespace: "tls", Name: "a", Shape: store.Map}
	require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))

	other := labtest.Certificates(t)
	for name, tt := range map[string]struct{ params, says string }{
		"in the clear":   {"", "tls=1"},
		"another signer": {"tls=1&ca=" + other.CA + "&cert=" + srv.Cert + "&key=" + srv.Key, "ca=FILE"},
		"no certificate": {"tls=1&ca=" + srv.CA, "cert=FILE"},
		"another name":   {"tls=1&servername=elsewhere&ca=" + srv.CA + "&cert=" + srv.Cert + "&key=" + srv.Key, "servername="},
	} {
		_, err := dial(t, storetest.With("coherence://"+srv.Addr(), tt.params+"&dial_timeout=30s"))
		require.Error(t, err, name)
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err), name)
		assert.Contains(t, fault.HintOf(err), tt.says, "%s: %v", name, err)
	}
	open(t, "coherence://"+srv.Addr()+"?tls=1&insecure=1&cert="+srv.Cert+"&key="+srv.Key)
	_, err := dial(t, "coherence://"+srv.Addr()+"?tls=1&ca="+filepath.Join(t.TempDir(), "none"))
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestFaults(t *testing.T) {
	tier.Full(t, "profiles/ingestion's TestOnCoherence, on one that is killed")
	srv := labtest.ToKill(t, "coherence")
	t.Run("frozen", func(t *testing.T) { frozen(t, srv) })
	t.Run("killed and restarted", func(t *testing.T) { killed(t, srv) })
}

// killed: a server that is killed ends the calls under way, and is used again when
// it is back. Nothing is left behind.
func killed(t *testing.T, srv *labtest.Server) {
	t.Helper()
	before := runtime.NumGoroutine()
	c, err := dial(t, srv.URL()+"?"+patient+"&connections=3")
	require.NoError(t, err)
	s := store.Space{Namespace: "kill", Name: "a", Shape: store.Map}
	near, err := c.OpenNear(t.Context(), []store.Space{s})
	require.NoError(t, err)
	require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))
	ok, err := near.Get(t.Context(), s, []byte("k"))
	require.NoError(t, err)
	assert.True(t, ok)

	stop := make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[store.Class]int{}
	for w := range 8 {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				class := c.Classify(c.Maps.Put(t.Context(), s, fmt.Appendf(nil, "k%d-%d", w, i), []byte("v")))
				mu.Lock()
				seen[class]++
				mu.Unlock()
				if class != store.Worked {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	count := func(class store.Class) int {
		mu.Lock()
		defer mu.Unlock()
		return seen[class]
	}
	reached := func(class store.Class, n int) {
		t.Helper()
		require.Eventually(t, func() bool { return count(class) >= n }, soon, 10*time.Millisecond, "%v of %d", class, n)
	}
	reached(store.Worked, 50)
	srv.Kill()
	reached(store.Unreachable, 20)
	assert.Zero(t, count(store.Timeout), "calls under way do not wait for their time-out")
	_, err = near.Get(t.Context(), s, []byte("k2"))
	assert.Equal(t, store.Unreachable, c.Classify(err), "%v", err)
	srv.Restart()
	reached(store.Worked, count(store.Worked)+50)
	close(stop)
	all.Wait()
	assert.Zero(t, count(store.Other), "%v", seen)
	require.Eventually(t, func() bool { return c.Pool().Open == 3 }, soon, 10*time.Millisecond)
	require.Eventually(t, func() bool { _, err := near.Get(t.Context(), s, []byte("k")); return err == nil }, soon, 10*time.Millisecond)

	require.NoError(t, near.Close())
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+8 }, soon, 50*time.Millisecond, "goroutines are left")
	assert.Equal(t, store.Unreachable, c.Classify(c.Maps.Set(t.Context(), s, []byte("k"), []byte("v"))))
}

// frozen: a server that does not answer any more makes time-outs, and what was cut
// short does not lock the session up.
func frozen(t *testing.T, srv *labtest.Server) {
	t.Helper()
	c, err := dial(t, srv.URL()+"?dial_timeout=90s&read_timeout=1s&connections=1")
	require.NoError(t, err)
	s := store.Space{Namespace: "frozen", Name: "a", Shape: store.Map}
	works := func() bool { return c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")) == nil }
	require.Eventually(t, works, soon, time.Millisecond)
	srv.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	assert.Equal(t, store.Timeout, c.Classify(c.Maps.Set(ctx, s, []byte("k"), []byte("v"))))
	err = c.Maps.Set(t.Context(), s, []byte("k"), []byte("v"))
	assert.Contains(t, []store.Class{store.Timeout, store.Unreachable}, c.Classify(err), "given up when nothing has come for long: %v", err)
	srv.Resume()
	require.Eventually(t, works, soon, time.Millisecond)
}

// Calls that their callers leave at any moment do no harm to others.
func TestCallsCutShort(t *testing.T) {
	tier.Full(t, inPlace)
	c, err := dial(t, storetest.With(labtest.Coherence(t).URL(), patient+"&connections=1"))
	require.NoError(t, err)
	s := store.Space{Namespace: "short", Name: "a", Shape: store.Map}
	require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 60 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*(w+1)*50)*time.Microsecond)
				err := c.Maps.Put(ctx, s, fmt.Appendf(nil, "k%d", i), []byte("v"))
				cancel()
				assert.Contains(t, []store.Class{store.Worked, store.Timeout}, c.Classify(err), "%v", err)
			}
		})
	}
	all.Wait()
	for range 20 {
		require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))
	}
	assert.Equal(t, 1, c.Pool().Open)
}

// What a member says before it ends for want of heap is told as that.
func TestAMemberWithoutHeapIsNamed(t *testing.T) {
	err := status.Error(codes.Internal, "java.lang.OutOfMemoryError: Java heap space")
	assert.Equal(t, store.OutOfMemory, coherence.Classify(err))
}
