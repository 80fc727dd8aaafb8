package group

import (
	"strconv"
	"strings"
	"time"
)

// factory makes data objects in place of blobs: what factory.class and factory.*
// say.
type factory struct {
	// entity is the table: customers, orders …
	entity *entity
	prefix string
	length int64
	zeros  bool
	// random makes each entry keep a random id of 11 characters.
	random bool
	seed   int64
	// coherence has the order draw its customer itself: prefix and number below max.
	coherence      bool
	customerPrefix string
	customerMax    int64
	// born is when rows of a table are made and changed: the start of the run, as the
	// original's Hibernate has it. Zero elsewhere, where objects depend on the seed alone.
	born   time.Time
	joined bool // the key of an order is orderId.customerId: compat of Coherence
	// link is the field of a defined object that holds the key of the parent after which
	// an operation writes it; objects.None when it is written by itself.
	link int
	// today is what defined objects have for now where born is zero.
	today time.Time
}

// key appends the key of number n by the rules of factory.key.*: the bare number,
// the prefix and zeros up to the length, or the prefix and the number.
func (f *factory) key(dst []byte, n int64) []byte {
	if o := f.entity.object; o != nil {
		return o.AppendKey(dst, f.seed, n)
	}
	if f.length <= 0 {
		return strconv.AppendInt(dst, n, 10)
	}
	dst = append(dst, f.prefix...)
	if !f.zeros {
		return strconv.AppendInt(dst, n, 10)
	}
	var room [20]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	for pad := int(f.length) - len(f.prefix) - len(digits); pad > 0; pad-- {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// id returns the key under which the entry of number n is written.
func (f *factory) id(n int64) string {
	if f.random {
		return randomID(f.seed, f.entity.name, n)
	}
	return string(f.key(nil, n))
}

// entityOfClass finds the entity of a Java class by the last part of its name, or
// of one of our own words ("order", "orders"); the names known otherwise.
func entityOfClass(class string) (*entity, []string) {
	last := class[strings.LastIndexByte(class, '.')+1:]
	word := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(last, "Impl"), "Factory"))
	var known []string
	for _, e := range entities {
		if word == e.word || word == e.name {
			return e, nil
		}
		known = append(known, e.class())
	}
	return nil, known
}

// isCoherence says whether a class belongs to the Coherence flavour.
func isCoherence(class string) bool { return strings.Contains(class, "coherence") }
