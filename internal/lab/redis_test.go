//go:build linux || darwin

package lab

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfLinesFollowTheServersRule(t *testing.T) {
	t.Parallel()
	got, err := confLines([]string{"--save", "60", "1", "--appendonly", "yes", "--requirepass", `a"b\c` + "\n"})
	require.NoError(t, err)
	assert.Equal(t, []string{`save "60" "1"`, `appendonly "yes"`, `requirepass "a\"b\\c\x0a"`}, got)
}
