package redis

import (
	"context"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
)

// keyOf returns the key of a space: "perfbench:eligibility", without a namespace
// "eligibility". A grouped space has one key for each group that begins so.
func keyOf(s store.Space) string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + ":" + s.Name
}

// groupKey returns the key of a group: "perfbench:eligibility:{x17}". The braces
// place all that is kept of one group on one node of a cluster.
func groupKey(key string, group []byte) string {
	b := make([]byte, 0, len(key)+len(group)+3)
	b = append(b, key...)
	b = append(b, ':', '{')
	b = append(b, group...)
	return string(append(b, '}'))
}

// madeKey returns the key of the records of what was made under a namespace.
func madeKey(namespace string) string {
	if namespace == "" {
		return "_perfbench_made"
	}
	return namespace + ":_made"
}

// probeKey returns the key that a probe writes and removes.
func probeKey(namespace string) string {
	if namespace == "" {
		return "_perfbench_probe"
	}
	return namespace + ":_probe"
}

// madeField returns the field of a space in the records.
func madeField(s store.Space) string {
	if s.Grouped {
		return s.Name + ":{}"
	}
	return s.Name
}

var globs = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// groupPattern returns what SCAN is to look for to find the groups of a space.
// isGroup has the last word.
func groupPattern(s store.Space, key string) string {
	if s.Shape == store.Keys {
		return globs.Replace(key) + ":{*}*"
	}
	return globs.Replace(key) + ":{*}"
}

// isGroup says whether k is the key of a group of the space with that key, or one
// of the keys of a space of keys.
func isGroup(s store.Space, key, k string) bool {
	tag, ok := strings.CutPrefix(k, key+":{")
	if !ok {
		return false
	}
	if s.Shape == store.Keys {
		return strings.Contains(tag, "}")
	}
	tag, ok = strings.CutSuffix(tag, "}")
	return ok && !strings.ContainsAny(tag, "{}")
}

// scan calls f with the keys of a grouped space, each once, some at a time, with
// the client of the master that holds them.
func (c *Conn) scan(ctx context.Context, s store.Space, f func(m *goredis.Client, keys []string) error) error {
	key := keyOf(s)
	pattern := groupPattern(s, key)
	seen := map[string]struct{}{} // SCAN may return a key again
	return c.masters(ctx, func(ctx context.Context, m *goredis.Client) error {
		var cursor uint64
		for {
			found, next, err := m.Scan(ctx, cursor, pattern, 1000).Result()
			if err != nil {
				return err
			}
			ours := found[:0]
			for _, k := range found {
				if _, again := seen[k]; !again && isGroup(s, key, k) {
					seen[k] = struct{}{}
					ours = append(ours, k)
				}
			}
			if len(ours) > 0 {
				if err := f(m, ours); err != nil {
					return err
				}
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
}
