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

func TestKeysHaveForms(t *testing.T) {
	ours := func(s store.Space, parts []string, k string) bool {
		_, ok := formOf(s, parts, "ns:a", k)
		return ok
	}
	assert.True(t, ours(store.Space{}, nil, "ns:a:{x17}"))
	assert.True(t, ours(store.Space{}, nil, "ns:a:{}"))
	for _, k := range []string{"ns:a", "ns:a:x", "ns:a:{x", "ns:a:{x}y", "ns:ab:{x}", "ns:a:{x}{y}", "ns:a:{{x}}"} {
		assert.False(t, ours(store.Space{}, nil, k), k)
	}
	keys := store.Space{Shape: store.Keys, Grouped: true}
	assert.True(t, ours(keys, nil, "ns:a:{0}g:x"), "a record of an older version")
	assert.False(t, ours(keys, nil, "ns:ab:{0}g:x"))
	assert.False(t, ours(keys, nil, "ns:a:b"))
	parts := []string{"{*}:u", "{*}:g:*"}
	form, ok := formOf(keys, parts, "ns:a", "ns:a:{0}:g:x:y")
	assert.True(t, ok)
	assert.Equal(t, "{*}:g:*", form)
	assert.True(t, ours(keys, parts, "ns:a:{12}:u"))
	for _, k := range []string{"ns:a:{0}:v", "ns:a:{0}:u2", "ns:a:foreign", "ns:a:{0}", "ns:a:0}:u"} {
		assert.False(t, ours(keys, parts, k), k)
	}
	assert.Equal(t, `a\*b\?\[c\]\\d`, globs.Replace(`a*b?[c]\d`))
}
