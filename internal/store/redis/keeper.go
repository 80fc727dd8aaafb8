package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Records are what was made under each namespace, in a hash next to the data.
type Records struct {
	servers *servers
	maps    *Maps
}

// Inspect looks at a space: at what is under its key, or under any key of its groups.
func (r *Records) Inspect(ctx context.Context, s store.Space, parts ...string) (store.Found, error) {
	key := KeyOf(s)
	if s.Grouped {
		return r.inspectGroups(ctx, s, parts)
	}
	kind, err := r.servers.client.Type(ctx, key).Result()
	if err != nil {
		return store.Found{}, fmt.Errorf("type %s: %w", key, err)
	}
	if kind == "none" {
		return store.Found{}, nil
	}
	size, err := r.sizeOf(ctx, key, kind)
	if err != nil {
		return store.Found{}, fmt.Errorf("size of %s: %w", key, err)
	}
	return store.Found{Exists: true, Kind: kind, Size: size}, nil
}

func (r *Records) sizeOf(ctx context.Context, key, kind string) (int64, error) {
	switch kind {
	case "hash":
		return r.servers.client.HLen(ctx, key).Result()
	case "list":
		return r.servers.client.LLen(ctx, key).Result()
	case "set":
		return r.servers.client.SCard(ctx, key).Result()
	case "zset":
		return r.servers.client.ZCard(ctx, key).Result()
	case "stream":
		return r.servers.client.XLen(ctx, key).Result()
	case "string":
		return 1, nil
	}
	return -1, nil
}

// maxStrangers is how many keys of others are listed.
const maxStrangers = 10

// inspectGroups looks at all keys that begin with the key of a space, and separates the
// space's own from those of others. The entries of groups are counted, giving -1 if one
// is not a hash; those of a space of keys are not counted. Types are compared unless the
// space is ours by its record; those of strings always, as what others have put in the place
// of one would be overwritten without an error.
func (r *Records) inspectGroups(ctx context.Context, s store.Space, parts []string) (store.Found, error) {
	forms, err := formsOf(s, parts)
	if err != nil {
		return store.Found{}, err
	}
	record, recorded, err := r.recordOf(ctx, s)
	if err != nil {
		return store.Found{}, err
	}
	found, first, typed := store.Found{}, "", !recorded || record.Shared
	err = r.servers.scan(ctx, s, func(m link.Client, keys []string) error {
		var ours []string
		for _, k := range keys {
			switch at := forms.of(k); {
			case at < 0 && len(found.Strangers) < maxStrangers:
				found.Strangers = append(found.Strangers, k)
			case at >= 0:
				if found.Exists = true; first == "" {
					first = k
				}
				if text := forms.texts[at]; text != "" && found.Keys[text] == "" {
					if found.Keys == nil {
						found.Keys = map[string]string{}
					}
					found.Keys[text] = k
				}
				ours = append(ours, k)
			}
		}
		if !typed {
			ours = slices.DeleteFunc(ours, func(k string) bool { return forms.all[forms.of(k)].Kind != "string" })
		}
		if found.Odd != "" || len(ours) == 0 {
			return nil
		}
		types, err := kinds(ctx, m, ours)
		for i, is := range types {
			if want := forms.all[forms.of(ours[i])].Kind; want != "" && is != want && is != "none" && found.Odd == "" {
				found.Odd = fmt.Sprintf("%s already exists and is a %s, not a %s", ours[i], is, want)
			}
		}
		return err
	})
	if err != nil {
		return store.Found{}, fmt.Errorf("scan %s: %w", forms.key, err)
	}
	for _, form := range parts {
		if found.Keys[form] != "" {
			found.Parts = append(found.Parts, form)
		}
	}
	if found.Strangers, err = r.strangers(ctx, s, found.Strangers); err != nil {
		return found, err
	}
	if found.Exists {
		if found.Kind, err = r.servers.client.Type(ctx, first).Result(); err != nil {
			return store.Found{}, fmt.Errorf("type %s: %w", first, err)
		}
	}
	switch {
	case s.Shape != store.Keys && (found.Exists || len(found.Strangers) > 0): // groups of others count as long as they are there
		if found.Size, err = r.maps.Count(ctx, s); Classify(err) == store.WrongType {
			found.Size, err = -1, nil
		}
	case found.Exists:
		found.Size = -1
	}
	return found, err
}

// strangers leaves out keys that belong to other spaces of ours.
func (r *Records) strangers(ctx context.Context, s store.Space, keys []string) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	made, err := r.Made(ctx, s.Namespace)
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	for _, m := range made {
		has := func(k string) bool { return k == KeyOf(m.Space) }
		if m.Grouped {
			forms, err := formsOf(m.Space, m.Parts)
			if err != nil {
				return nil, err
			}
			has = func(k string) bool { return m.Name != s.Name && forms.of(k) >= 0 }
		}
		keys = slices.DeleteFunc(keys, has)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return keys, nil
}

// recordOf returns the record of a space, false if there is none.
func (r *Records) recordOf(ctx context.Context, s store.Space) (m store.Made, ok bool, err error) {
	made := madeKey(s.Namespace)
	text, err := r.servers.client.HGet(ctx, made, store.RecordKey(s)).Bytes()
	if errors.Is(err, goredis.Nil) {
		return m, false, nil
	}
	if err != nil {
		return m, false, recordError(made, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, false, store.NotOurs(fmt.Sprintf("redis: %s: %q", made, store.RecordKey(s)), "record")
	}
	return m, true, nil
}

// Record records that we made a space, in a hash next to the data.
func (r *Records) Record(ctx context.Context, m store.Made) error {
	key := madeKey(m.Namespace)
	m.Parts = narrowed(m.Parts)
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("record of %s: %w", m.Name, err)
	}
	return recordError(key, r.servers.client.HSet(ctx, key, store.RecordKey(m.Space), text).Err())
}

// narrowed leaves out the forms of an older version if there are others: these cover all
// that any version of the profile makes.
func narrowed(parts []string) []string {
	if !slices.ContainsFunc(parts, func(text string) bool { return !older(text) }) {
		return parts
	}
	return slices.DeleteFunc(slices.Clone(parts), older)
}

// older reports whether a form comes from a version that knew neither types nor patterns.
func older(text string) bool {
	f, err := store.ParseForm(text)
	return err == nil && f.Older()
}

// recordError says what is wrong with the hash of records.
func recordError(key string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("record of what was made (%s): %w", key, err)
	if Classify(err) == store.WrongType {
		return fault.Store(err, "something else is under this key; use another --namespace")
	}
	return err
}

// Made lists what is recorded under a namespace, by name.
func (r *Records) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	key := madeKey(namespace)
	fields, err := r.servers.client.HGetAll(ctx, key).Result()
	if err != nil {
		return nil, recordError(key, err)
	}
	all, wrong := store.AppendRecords([]store.Made{}, namespace, fields, store.RecordKey)
	if wrong != "" {
		return nil, store.NotOurs(fmt.Sprintf("redis: %s: %q", key, wrong), "record")
	}
	return all, nil
}

// Drop removes the keys of a space recorded as ours, and its record. For a grouped
// space these are the existing keys that have one of the forms named by the record, and
// its type. What others have put next to them, or in their place, stays. It returns how
// many keys were removed.
func (r *Records) Drop(ctx context.Context, s store.Space, progress func(done int64)) (int64, error) {
	key, made := KeyOf(s), madeKey(s.Namespace)
	m, recorded, err := r.recordOf(ctx, s)
	if err != nil {
		return 0, err
	}
	if !recorded {
		return 0, fault.Input(fmt.Errorf("redis: %s was not made by perfbench", key), "only what perfbench made is deleted")
	}
	if progress == nil {
		progress = func(int64) {}
	}
	var gone int64
	s.Shape = m.Shape
	if err := r.wide(ctx, m); err != nil {
		return 0, err
	}
	if s.Grouped {
		gone, err = r.dropGroups(ctx, s, m.Parts, progress)
	} else {
		gone, err = r.dropKey(ctx, key, typeOf(s.Shape))
		progress(gone)
	}
	if err != nil {
		return gone, fmt.Errorf("unlink %s: %w", key, err)
	}
	// Removing the last field removes the hash.
	return gone, recordError(made, r.servers.client.HDel(ctx, made, store.RecordKey(s)).Err())
}

// wide refuses to drop what a record of an older version names by forms that fit keys of
// others as well, if there is any such key.
func (r *Records) wide(ctx context.Context, m store.Made) error {
	if m.Shape != store.Keys || !m.Grouped || len(m.Parts) > 0 && !slices.ContainsFunc(m.Parts, older) {
		return nil
	}
	any := false
	err := r.servers.own(ctx, m.Space, m.Parts, func(link.Client, forms, []string) error {
		any = true
		return nil
	})
	if err == nil && any {
		err = fault.Input(fmt.Errorf("redis: an older version recorded %s by what may be keys of others too", KeyOf(m.Space)),
			"run its profile once more in this namespace, which records the keys as they are, and then delete")
	}
	return err
}

// dropKey removes a key of a type; "" is any.
func (r *Records) dropKey(ctx context.Context, key, kind string) (int64, error) {
	is, err := r.servers.client.Type(ctx, key).Result()
	if err != nil || kind != "" && is != kind {
		return 0, err
	}
	return unlink(ctx, r.servers.client, key)
}

func (r *Records) dropGroups(ctx context.Context, s store.Space, parts []string, progress func(int64)) (int64, error) {
	var gone int64
	err := r.servers.own(ctx, s, parts, func(m link.Client, forms forms, keys []string) error {
		ours, err := forms.typed(ctx, m, keys)
		if err != nil || len(ours) == 0 {
			return err
		}
		n, err := unlink(ctx, m, ours...)
		gone += n
		progress(gone)
		return err
	})
	return gone, err
}

// unlink removes keys in one pipeline but one by one, since keys of a node lie in
// different slots. Servers older than UNLINK get DEL.
func unlink(ctx context.Context, m link.Client, keys ...string) (int64, error) {
	gone, err := remove(ctx, m, goredis.Pipeliner.Unlink, keys)
	if err != nil && strings.HasPrefix(err.Error(), "ERR unknown command") {
		return remove(ctx, m, goredis.Pipeliner.Del, keys)
	}
	return gone, err
}

func remove(ctx context.Context, m link.Client, how func(goredis.Pipeliner, context.Context, ...string) *goredis.IntCmd, keys []string) (int64, error) {
	pipe := m.Pipeline()
	cmds := make([]*goredis.IntCmd, len(keys))
	for i, k := range keys {
		cmds[i] = how(pipe, ctx, k)
	}
	_, err := pipe.Exec(ctx)
	var gone int64
	for _, cmd := range cmds {
		gone += cmd.Val()
	}
	if errors.Is(err, goredis.Nil) {
		err = nil
	}
	return gone, err
}
