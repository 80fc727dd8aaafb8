package redis

import (
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// The library tells of a buffer that is too small by a message only.
func TestTooSmallReadsTheMessageOfTheLibrary(t *testing.T) {
	client := goredis.NewClient(&goredis.Options{Addr: labtest.Redis(t).Addr(), DisableIdentity: true})
	defer client.Close()
	require.NoError(t, client.Set(t.Context(), "k", "0123456789", 0).Err())
	cmd := goredis.NewZeroCopyStringCmd(t.Context(), make([]byte, 3), "get", "k")
	require.Error(t, client.Process(t.Context(), cmd))
	n, yes := tooSmall(cmd.Err())
	assert.True(t, yes)
	assert.Equal(t, 10, n)
	_, yes = tooSmall(nil)
	assert.False(t, yes)
	_, yes = tooSmall(goredis.ErrClosed)
	assert.False(t, yes)
	assert.Equal(t, "0123456789", client.Get(t.Context(), "k").Val(), "the connection stays usable")
}

func TestGlobsAreEscaped(t *testing.T) {
	assert.Equal(t, `a\*b\?\[c\]\\d:{*}`, groupPattern(store.Space{}, `a*b?[c]\d`))
	assert.True(t, isGroup(store.Space{}, "ns:a", "ns:a:{x17}"))
	assert.True(t, isGroup(store.Space{}, "ns:a", "ns:a:{}"))
	for _, k := range []string{"ns:a", "ns:a:x", "ns:a:{x", "ns:a:{x}y", "ns:ab:{x}", "ns:a:{x}{y}", "ns:a:{{x}}"} {
		assert.False(t, isGroup(store.Space{}, "ns:a", k), k)
	}
	keys := store.Space{Shape: store.Keys, Grouped: true}
	assert.Equal(t, `a:{*}*`, groupPattern(keys, "a"))
	assert.True(t, isGroup(keys, "ns:a", "ns:a:{0}g:x"))
	assert.False(t, isGroup(keys, "ns:a", "ns:ab:{0}g:x"))
	assert.False(t, isGroup(keys, "ns:a", "ns:a:b"))
}
