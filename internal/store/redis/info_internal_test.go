package redis

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/store"
)

// What servers say about themselves, by the fields that tell them apart.
func TestProducts(t *testing.T) {
	for want, told := range map[string]map[string]string{
		"redis 7.0.15":     {"redis_version": "7.0.15", "executable": "/usr/bin/redis-server"},
		"valkey 8.1.0":     {"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "8.1.0"},
		"valkey 7.2.4":     {"redis_version": "7.2.4", "server_name": "valkey"},
		"dragonfly 1.40.1": {"redis_version": "7.4.0", "dragonfly_version": "df-v1.40.1"},
		"garnet 1.0.52":    {"garnet_version": "1.0.52", "redis_version": "7.4.3"},
		"kvrocks 2.11.1":   {"redis_version": "4.0.0", "kvrocks_version": "2.11.1"},
		"keydb 6.3.4":      {"redis_version": "6.3.4", "executable": "/data/keydb-server", "mvcc_depth": "0"},
		"redis ":           {}, // it may not tell
	} {
		info := store.Info{Name: "redis"}
		identify(&info, told)
		assert.Equal(t, want, info.Name+" "+info.Version)
	}
}
