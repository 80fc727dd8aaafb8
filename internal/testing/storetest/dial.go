package storetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
)

// dialLimit is how long a slow machine may take to open a connection.
const dialLimit = time.Minute

// Dial opens a connection to a URL as the program does: its parameters are checked
// against those of the driver. The connection is closed at the end of the test.
func Dial[C store.Conn](t *testing.T, d store.Driver, open func(context.Context, store.Target, store.OpenOptions) (C, error), url string) (C, error) {
	t.Helper()
	return DialAgent(t, d, open, url, "")
}

// DialAgent is Dial for a Java server that has an agent.
func DialAgent[C store.Conn](t *testing.T, d store.Driver, open func(context.Context, store.Target, store.OpenOptions) (C, error), url, agent string) (C, error) {
	t.Helper()
	target, err := store.ParseTarget(url)
	require.NoError(t, err)
	require.NoError(t, store.CheckParams(target, d.Params))
	ctx, cancel := context.WithTimeout(t.Context(), dialLimit)
	defer cancel()
	c, err := open(ctx, target, store.OpenOptions{Threads: 4, Agent: agent})
	if err == nil {
		t.Cleanup(func() { assert.NoError(t, c.Close()) })
	}
	return c, err
}

// With adds parameters to a URL: "connections=1&tls=1".
func With(url, params string) string {
	if strings.Contains(url, "?") {
		return url + "&" + params
	}
	return url + "?" + params
}
