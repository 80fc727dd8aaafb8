package coherence_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) }

func dial(t *testing.T, url string) (*coherence.Conn, error) {
	t.Helper()
	target, err := store.ParseTarget(url)
	require.NoError(t, err)
	require.NoError(t, store.CheckParams(target, coherence.Driver.Params))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := coherence.Open(ctx, target, store.OpenOptions{Threads: 4})
	if err == nil {
		t.Cleanup(func() { assert.NoError(t, c.Close()) })
	}
	return c, err
}

// patient gives a slow machine time.
const patient = "dial_timeout=60s&read_timeout=60s"

func open(t *testing.T, url string) *coherence.Conn {
	t.Helper()
	c, err := dial(t, with(url, patient))
	require.NoError(t, err)
	return c
}

// with adds parameters to a URL.
func with(url, params string) string {
	if strings.Contains(url, "?") {
		return url + "&" + params
	}
	return url + "?" + params
}

func TestShapes(t *testing.T) {
	url := labtest.Coherence(t).URL()
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, url) })
}
