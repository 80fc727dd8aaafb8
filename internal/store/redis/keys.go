package redis

import (
	"context"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
)

// KeyOf returns the key of a space: "perfbench:eligibility", or "eligibility" without a
// namespace. A grouped space has one key per group, which begins with this.
func KeyOf(s store.Space) string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + ":" + s.Name
}

// groupKey returns the key of a group: "perfbench:eligibility:{x17}". The braces keep
// everything of one group on one node of a cluster.
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

// leaseKey returns the key of the lease of a namespace.
func leaseKey(namespace string) string {
	if namespace == "" {
		return "_perfbench_lease"
	}
	return namespace + ":_lease"
}

var globs = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// anyTag is the form of all keys that have a hash tag, which is what a record of an
// older version stands for.
const anyTag = "{*}*"

// formOf returns which of its forms makes k a key of a grouped space, where key is how
// they all begin. Unless the space is one of keys, the forms are its groups. If there
// is none, k belongs to others.
func formOf(s store.Space, parts []string, key, k string) (form string, ours bool) {
	rest, ok := strings.CutPrefix(k, key+":")
	switch {
	case !ok:
		return "", false
	case s.Shape != store.Keys:
		tag, ok := strings.CutPrefix(rest, "{")
		if ok {
			tag, ok = strings.CutSuffix(tag, "}")
		}
		return "", ok && !strings.ContainsAny(tag, "{}")
	case len(parts) == 0:
		return "", like(anyTag, rest)
	}
	i := slices.IndexFunc(parts, func(form string) bool { return like(form, rest) })
	if i < 0 {
		return "", false
	}
	return parts[i], true
}

// like reports whether a text matches a form, in which * stands for any text.
func like(form, text string) bool {
	pieces := strings.Split(form, "*")
	rest, ok := strings.CutPrefix(text, pieces[0])
	if !ok || len(pieces) == 1 {
		return ok && rest == ""
	}
	last := len(pieces) - 1
	for _, p := range pieces[1:last] {
		at := strings.Index(rest, p)
		if at < 0 {
			return false
		}
		rest = rest[at+len(p):]
	}
	return strings.HasSuffix(rest, pieces[last])
}

// scan calls f with the keys that begin with that of a grouped space and a colon, each
// key once, several at a time, along with the client of the master that holds them.
func (c *Conn) scan(ctx context.Context, s store.Space, f func(m *goredis.Client, keys []string) error) error {
	pattern := globs.Replace(KeyOf(s)) + ":*"
	seen := map[string]struct{}{} // SCAN may return a key again
	return c.masters(ctx, func(ctx context.Context, m *goredis.Client) error {
		var cursor uint64
		for {
			found, next, err := m.Scan(ctx, cursor, pattern, 1000).Result()
			if err != nil {
				return err
			}
			fresh := found[:0]
			for _, k := range found {
				if _, again := seen[k]; !again {
					seen[k] = struct{}{}
					fresh = append(fresh, k)
				}
			}
			if len(fresh) > 0 {
				if err := f(m, fresh); err != nil {
					return err
				}
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
}

// own calls f with those keys of a grouped space that have one of its forms.
func (c *Conn) own(ctx context.Context, s store.Space, parts []string, f func(m *goredis.Client, keys []string) error) error {
	key := KeyOf(s)
	return c.scan(ctx, s, func(m *goredis.Client, keys []string) error {
		keys = slices.DeleteFunc(keys, func(k string) bool {
			_, ours := formOf(s, parts, key, k)
			return !ours
		})
		if len(keys) == 0 {
			return nil
		}
		return f(m, keys)
	})
}
