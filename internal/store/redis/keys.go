package redis

import (
	"context"
	"fmt"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
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

// probeName draws the name that a probe writes under.
func probeName(namespace string) string {
	if namespace == "" {
		return "_perfbench_probe:" + store.Unlikely()
	}
	return "_probe:" + store.Unlikely()
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

// typeOf is Redis's word for the type that the keys of a space have by its shape, as the
// shapes of plain structures name themselves; "" if it may be any.
func typeOf(shape store.Shape) string {
	switch shape {
	case store.Map, "mcache", "hash":
		return "hash"
	case "list", "queue":
		return "list"
	case "bucket":
		return "string"
	case "rtopic":
		return "stream"
	case "rset":
		return "set"
	case "zset":
		return "zset"
	}
	return ""
}

// groups returns the form of the groups of a space.
func groups(shape store.Shape) store.Form {
	form, _ := store.ParseForm(store.FormOf("hash", `\{[^{}]*\}`)) // which is one
	form.Kind = typeOf(shape)
	return form
}

// forms are what makes a key one of a grouped space: its forms if it is one of keys, or
// else being the hash of a group.
type forms struct {
	key   string // how all keys begin
	texts []string
	all   []store.Form
}

// formsOf reads the forms of a grouped space: of one that is not of keys and names none,
// its groups, whatever their names. The error says which form of a record is none.
func formsOf(s store.Space, parts []string) (forms, error) {
	f := forms{key: KeyOf(s)}
	switch {
	case s.Shape != store.Keys && len(parts) == 0:
		f.texts, f.all = []string{""}, []store.Form{groups(s.Shape)}
		return f, nil
	case len(parts) == 0:
		parts = []string{anyTag}
	}
	for _, text := range parts {
		form, err := store.ParseForm(text)
		if err != nil {
			return f, fault.Store(fmt.Errorf("redis: the record of %s: %w", f.key, err), "use another --namespace")
		}
		f.texts, f.all = append(f.texts, text), append(f.all, form)
	}
	return f, nil
}

// of returns the position of the form that makes k a key of the space, or -1: it belongs
// to others.
func (f forms) of(k string) int {
	rest, ok := strings.CutPrefix(k, f.key+":")
	if !ok {
		return -1
	}
	return slices.IndexFunc(f.all, func(form store.Form) bool { return form.Has(rest) })
}

// kinds asks for the types of keys on a node, in one trip.
func kinds(ctx context.Context, m link.Client, keys []string) ([]string, error) {
	pipe := m.Pipeline()
	cmds := make([]*goredis.StatusCmd, len(keys))
	for i, k := range keys {
		cmds[i] = pipe.Type(ctx, k)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	out := make([]string, len(keys))
	for i, cmd := range cmds {
		out[i] = cmd.Val()
	}
	return out, nil
}

// scan calls f with the keys that begin with that of a grouped space and a colon, each
// key once, several at a time, along with the client of the master that holds them.
func (v *servers) scan(ctx context.Context, s store.Space, f func(m link.Client, keys []string) error) error {
	return v.scanFor(ctx, globs.Replace(KeyOf(s))+":*", f)
}

// scanFor is scan for the keys that match a pattern.
func (v *servers) scanFor(ctx context.Context, pattern string, f func(m link.Client, keys []string) error) error {
	seen := map[string]struct{}{} // SCAN may return a key again
	return v.masters(ctx, func(ctx context.Context, m link.Client) error {
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
func (v *servers) own(ctx context.Context, s store.Space, parts []string, f func(m link.Client, forms forms, keys []string) error) error {
	forms, err := formsOf(s, parts)
	if err != nil {
		return err
	}
	return v.scan(ctx, s, func(m link.Client, keys []string) error {
		keys = slices.DeleteFunc(keys, func(k string) bool { return forms.of(k) < 0 })
		if len(keys) == 0 {
			return nil
		}
		return f(m, forms, keys)
	})
}

// typed returns those of the keys on a node that have the type of their form.
func (f forms) typed(ctx context.Context, m link.Client, keys []string) ([]string, error) {
	types, err := kinds(ctx, m, keys)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, k := range keys {
		if want := f.all[f.of(k)].Kind; want == "" || types[i] == want {
			out = append(out, k)
		}
	}
	return out, nil
}
