package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// A record of what was made is kept next to the data, as JSON under a key of its own among
// those of its namespace. Where that is, and how it is written there, is up to the store.

// LeaseKey is the key of a lease that is kept among the records, or how the keys of several
// begin; no space has such a key.
const LeaseKey = "\x00lease"

// RecordKey returns the key of a space among the records.
func RecordKey(s Space) string {
	if s.Grouped {
		return s.Name + ":{}"
	}
	return s.Name
}

// AppendRecords appends to out the records of a namespace, given by their keys, in the order
// of these; key tells the key of a space. If one is no record of ours, wrong is its key.
func AppendRecords[T ~string | ~[]byte](out []Made, namespace string, texts map[string]T, key func(Space) string) (all []Made, wrong string) {
	for _, k := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasPrefix(k, LeaseKey) {
			continue
		}
		var m Made
		if err := json.Unmarshal([]byte(texts[k]), &m); err != nil || key(m.Space) != k {
			return nil, k
		}
		m.Namespace = namespace
		out = append(out, m)
	}
	return out, ""
}

// NotOurs refuses what is in the place of a record or a lease of ours.
func NotOurs(where, what string) error {
	return fault.Store(fmt.Errorf("%s is not a %s of perfbench", where, what), "use another --namespace")
}

// InPlace calls f once put has put in place what f needs, and both again while absent says of
// an error that somebody else removed it in the meantime, up to five times.
func InPlace(put, f func() error, absent func(error) bool) error {
	for try := 1; ; try++ {
		err := put()
		if err == nil {
			err = f()
		}
		if err == nil || !absent(err) || try == 5 {
			return err
		}
	}
}
