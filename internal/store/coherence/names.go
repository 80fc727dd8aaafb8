package coherence

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/perfbench/perfbench/internal/store"
)

// byGroup is the suffix of the cache of a grouped space, whose keys begin with their
// group.
const byGroup = ".by-group"

// CacheName returns the name of the cache of a space: "perfbench.eligibility".
func CacheName(s store.Space) string {
	name := s.Name
	if s.Grouped {
		name += byGroup
	}
	return prefixed(s.Namespace, name)
}

func prefixed(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

// madeName is the name of the cache with the records of what was made under a
// namespace.
func madeName(namespace string) string { return prefixed(namespace, "perfbench-made") }

// cacheOf returns the name of the cache of a space; names of our own caches are
// refused.
func cacheOf(s store.Space) (string, error) {
	name := CacheName(s)
	if s.Name == "" || name == madeName(s.Namespace) || strings.HasSuffix(name, "perfbench-probe") {
		return "", refuse("the name "+name+" is taken by perfbench's own cache", "choose another name or --namespace")
	}
	return name, nil
}

// escape precedes keys that are not valid text as they are.
const escape = "\x00"

// textKey encodes a key as JSON text: as it is, or in base64.
func textKey(key []byte) string {
	if utf8.Valid(key) && (len(key) == 0 || key[0] != escape[0]) {
		return string(key)
	}
	return escape + base64.StdEncoding.EncodeToString(key)
}

// groupedKey returns the key of an entry in a grouped space; the length of the group
// separates the two parts.
func groupedKey(group, key []byte) string {
	b := binary.AppendUvarint(make([]byte, 0, len(group)+len(key)+2), uint64(len(group)))
	return textKey(append(append(b, group...), key...))
}

// bytesOf copies a value, and keeps an empty one from being taken for none. The client
// may still be using it when the caller has left.
func bytesOf(b []byte) Value { return append(make(Value, 0, len(b)), b...) }
