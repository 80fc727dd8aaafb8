// Package capturetest makes captures of logs in tests, and prints what is in captures.
package capturetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
)

// Converted makes a capture of a log with a text, by a function that converts such logs, and
// returns where it is.
func Converted(t *testing.T, convert func(ctx context.Context, log, path string, o capture.Options) (capture.Tally, error), log string, o capture.Options) (path string, tally capture.Tally, err error) {
	t.Helper()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "log"), filepath.Join(dir, "x.capture")
	require.NoError(t, os.WriteFile(from, []byte(log), 0o600))
	tally, err = convert(t.Context(), from, to, o)
	return to, tally, err
}

// Lines returns the calls of a capture, a line each, as a function prints them, which may not keep
// the call; and the reader, which has been closed.
func Lines(t *testing.T, path string, line func(*capture.Call) string) (out []string, r *capture.Reader) {
	t.Helper()
	data, err := os.ReadFile(path) //nolint:gosec // a test's
	require.NoError(t, err)
	r, err = capture.NewReader(path, bytes.NewReader(data))
	require.NoError(t, err)
	defer r.Close()
	var c capture.Call
	for {
		err := r.Next(&c)
		if errors.Is(err, io.EOF) {
			return out, r
		}
		require.NoError(t, err)
		out = append(out, line(&c))
	}
}
