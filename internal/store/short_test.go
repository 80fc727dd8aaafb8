package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTargetsSideBySideHaveShortNames(t *testing.T) {
	for _, c := range []struct{ targets, want []string }{
		{[]string{"redis://10.0.0.1:6379?connections=4", "cassandra://10.0.0.1/ks"}, []string{"redis", "cassandra"}},
		{[]string{"redis://user@old:6379/0", "redis://new:6379/0"}, []string{"old", "new"}},
		{[]string{"redis+cluster://a:1,b:1", "redis+cluster://c:1,d:1"}, []string{"a", "c"}},
		{[]string{"redis://127.0.0.1:7001?x=1", "redis://127.0.0.1:7002?x=1"}, []string{"127.0.0.1:7001", "127.0.0.1:7002"}},
		{[]string{"postgres://h/one", "postgres://h/two"}, []string{"one", "two"}},
		{[]string{"sqlite:/tmp/a.db", "sqlite:/tmp/b.db"}, []string{"a.db", "b.db"}},
		{[]string{"lab:redis", "lab:postgres"}, []string{"redis", "postgres"}},
		{[]string{"memory:?service=2ms&servers=4", "memory:?service=2ms&servers=8"}, []string{"servers=4", "servers=8"}},
		{[]string{"memory:", "memory:?servers=8"}, []string{"memory:", "memory:?servers=8"}},
		{[]string{"redis://a?token=one", "redis://a?token=two"}, []string{"redis://a?token=one", "redis://a?token=two"}},
		{[]string{"not a target", "redis://a"}, []string{"not a target", "redis://a"}},
	} {
		assert.Equal(t, c.want, ShortNames(c.targets))
	}
}
