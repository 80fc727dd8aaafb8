package redis

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/store"
)

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
