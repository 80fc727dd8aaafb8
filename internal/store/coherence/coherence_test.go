package coherence_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

func dial(t *testing.T, url string) (*coherence.Conn, error) {
	t.Helper()
	return storetest.Dial(t, coherence.Driver, coherence.Open, url)
}

// patient gives a slow machine time.
const patient = "dial_timeout=60s&read_timeout=60s"

func open(t *testing.T, url string) *coherence.Conn {
	t.Helper()
	c, err := dial(t, storetest.With(url, patient))
	require.NoError(t, err)
	return c
}

func TestShapes(t *testing.T) {
	url := labtest.Coherence(t).URL()
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, url) })
}
