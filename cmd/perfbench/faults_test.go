package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// Who may answer an encrypted connection that nobody checks is told wherever
// results are read.
func TestUncheckedEncryptionIsToldEverywhere(t *testing.T) {
	path := binary(t)
	for name, tt := range map[string]struct {
		target func() string
		how    string
	}{
		"redis":    {func() string { return with(labtest.RedisTLS(t, labtest.TLSOptions{}).URL(), "insecure=1") }, "insecure=1"},
		"postgres": {func() string { return with(labtest.PostgresTLS(t, labtest.TLSOptions{}).URL(), "sslmode=require") }, "sslmode=require"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, path, "--target", tt.target(), "--count", "100", "--threads", "2")
			require.Equal(t, 0, p.end(t), p.stderr.String())
			want := "is encrypted, but nobody checks who answers (" + tt.how + ")"
			assert.Contains(t, p.stderr.String(), "warning: the connection to ")
			assert.Contains(t, p.stderr.String(), want)
			assert.Contains(t, p.stdout.String(), want)
			for _, format := range []string{"text", "markdown", "html", "json"} {
				report := exec.Command(path, "report", "latest", "--format", format, "--out", "-")
				report.Dir = p.Dir
				out, err := report.Output()
				require.NoError(t, err, format)
				assert.Contains(t, string(out), want, format)
			}
		})
	}
}

// with is the URL of a server with parameters of the test's own.
func with(url, params string) string {
	bare, _, _ := strings.Cut(url, "?")
	return bare + "?" + params
}
