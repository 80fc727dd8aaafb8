package redis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
)

func TestKeysHaveForms(t *testing.T) {
	ours := func(s store.Space, parts []string, k string) bool {
		s.Namespace, s.Name = "ns", "a"
		f, err := formsOf(s, parts)
		require.NoError(t, err)
		return f.of(k) >= 0
	}
	groups := store.Space{Shape: store.Map, Grouped: true}
	assert.True(t, ours(groups, nil, "ns:a:{x17}"))
	assert.True(t, ours(groups, nil, "ns:a:{}"))
	for _, k := range []string{"ns:a", "ns:a:x", "ns:a:{x", "ns:a:{x}y", "ns:ab:{x}", "ns:a:{x}{y}", "ns:a:{{x}}"} {
		assert.False(t, ours(groups, nil, k), k)
	}
	keys := store.Space{Shape: store.Keys, Grouped: true}
	assert.True(t, ours(keys, nil, "ns:a:{0}g:x"), "a record of an older version")
	assert.False(t, ours(keys, nil, "ns:ab:{0}g:x"))
	assert.False(t, ours(keys, nil, "ns:a:b"))
	older := []string{"{*}:u", "{*}:g:*"}
	for _, k := range []string{"ns:a:{0}:g:x:y", "ns:a:{12}:u"} {
		assert.True(t, ours(keys, older, k), k)
	}
	for _, k := range []string{"ns:a:{0}:v", "ns:a:{0}:u2", "ns:a:foreign", "ns:a:{0}", "ns:a:0}:u"} {
		assert.False(t, ours(keys, older, k), k)
	}
	parts := []string{store.FormOf("zset", `\{[0-9]+\}:u`), store.FormOf("hash", `\{([^{}:]+)\}:g:([^{}:]+):.+`), store.Literal("string", "{0}a.c*")}
	for _, k := range []string{"ns:a:{12}:u", "ns:a:{t}:g:t:x\ny", "ns:a:{0}a.c*"} {
		assert.True(t, ours(keys, parts, k), k)
	}
	for _, k := range []string{"ns:a:{x}:u", "ns:a:{1}:u2", "ns:a:{t}:g:s:x", "ns:a:{t}:g:t:", "ns:a:{0}abc*", "ns:a:{0}a.cd"} {
		assert.False(t, ours(keys, parts, k), k)
	}
	_, err := formsOf(keys, []string{"hash ("})
	require.ErrorContains(t, err, "is not a form of keys")
	assert.Equal(t, parts[:1], narrowed(append([]string{"{*}:u"}, parts[0])), "what is covered by a narrower form")
	assert.Equal(t, older, narrowed(older))
	assert.Equal(t, `a\*b\?\[c\]\\d`, globs.Replace(`a*b?[c]\d`))
}
