package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Every driver's ways to be encrypted without knowing by whom are told, and none
// that checks it.
func TestCautions(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"rediss://h?insecure=1":                       "(insecure=1)",
		"rediss+cluster://h?insecure=yes":             "(insecure=yes)",
		"rediss+sentinel://h/m?insecure":              "(insecure)",
		"redis://h?tls=1&insecure=1":                  "(insecure=1)",
		"cassandra://h?tls=1&insecure=1":              "(insecure=1)",
		"mysql://h?tls=1&insecure=true":               "(insecure=true)",
		"mariadb://h?tls=1&insecure=on":               "(insecure=on)",
		"mysql://h?tls=1&allowFallbackToPlaintext=on": "is not encrypted where the server does not offer it",
		"postgres://h?sslmode=require":                "(sslmode=require)",
		"postgres://h?tls=1&insecure=1":               "(insecure=1)",
		"postgres://h?sslmode=verify-full&insecure=1": "(insecure=1)",
		"coherence://h?tls=1&insecure=1":              "(insecure=1)",
		"amqps://h?insecure=1":                        "(insecure=1)",
		"postgres://h?sslmode=require&ca=f":           "",
		"postgres://h?sslmode=require&insecure=0":     "",
		"postgres://h?sslmode=verify-full":            "",
		"postgres://h":                                "",
		"rediss://h?insecure=0":                       "",
		"rediss://h?ca=f":                             "",
	} {
		tg, err := store.ParseTarget(target)
		require.NoError(t, err, target)
		got := tg.Cautions("the connection to h")
		if want == "" {
			assert.Empty(t, got, target)
			continue
		}
		require.Len(t, got, 1, target)
		assert.Contains(t, got[0], want, target)
		assert.True(t, strings.HasPrefix(got[0], "the connection to h is "), got[0])
	}
}

// Words of other programs that would leave encryption away in silence are refused
// with what to write instead.
func TestWordsOfOthersForHalfAnEncryption(t *testing.T) {
	t.Parallel()
	for target, hint := range map[string]string{"mysql://h?tls=skip-verify": "tls=1&insecure=1", "mysql://h?tls=preferred": "write tls=1"} {
		tg, err := store.ParseTarget(target)
		require.NoError(t, err)
		_, err = store.TLSConfig(tg)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), target)
		assert.Contains(t, fault.HintOf(err), hint, target)
	}
	for _, mode := range []string{"prefer", "allow"} {
		tg, err := store.ParseTarget("postgres://h?sslmode=" + mode)
		require.NoError(t, err)
		assert.Contains(t, fault.HintOf(tg.BadSSLMode([]string{"require"})), "write verify-full, require or disable")
	}
}
