package ingestion

import (
	"fmt"
	"strconv"
	"strings"
)

// maxKeySets limits the record; further sets are combined into one.
const maxKeySets = 32

// keySet names the set of keys that a plan writes into a map: plans with the same name
// write the same keys.
func (m *mapSpec) keySet(s *spec) string {
	p := strconv.QuoteToASCII(s.prefix)
	p = strings.NewReplacer("=", `\x3d`, ";", `\x3b`).Replace(p)
	if !m.elig {
		return "profile/" + p
	}
	last := m.shares[len(m.shares)-1]
	return fmt.Sprintf("elig/%s/%d/%d/%d/%d/%d", p, s.base, s.members, len(m.shares), last.First, m.shares[0].Entries)
}

// keySets is a list of sets of keys, with upper bounds of their sizes.
type keySets struct {
	names []string
	sizes []int64
}

// add adds a set. Of two with the same name, the larger contains the other.
func (k *keySets) add(name string, size int64) {
	for i, n := range k.names {
		if n == name {
			k.sizes[i] = max(k.sizes[i], size)
			return
		}
	}
	if len(k.names) == maxKeySets {
		k.sizes[0] += k.sizes[1]
		k.names[0] = "more"
		k.names = append(k.names[:1], k.names[2:]...)
		k.sizes = append(k.sizes[:1], k.sizes[2:]...)
	}
	k.names, k.sizes = append(k.names, name), append(k.sizes, size)
}

func (k *keySets) total() int64 {
	var n int64
	for _, v := range k.sizes {
		n += v
	}
	return n
}

// String formats the list for parseKeySets.
func (k *keySets) String() string {
	parts := make([]string, len(k.names))
	for i, n := range k.names {
		parts[i] = n + "=" + strconv.FormatInt(k.sizes[i], 10)
	}
	return strings.Join(parts, ";")
}

func parseKeySets(text string) *keySets {
	k := &keySets{}
	for part := range strings.SplitSeq(text, ";") {
		name, size, ok := strings.Cut(part, "=")
		n, err := strconv.ParseInt(size, 10, 64)
		if !ok || err != nil || n < 0 {
			continue
		}
		k.names, k.sizes = append(k.names, name), append(k.sizes, n)
	}
	return k
}
