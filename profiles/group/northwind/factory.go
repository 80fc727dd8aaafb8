package northwind

import (
	"strconv"
	"strings"
	"time"
)

// Factory makes data objects in place of blobs: what factory.class and factory.*
// say.
type Factory struct {
	// Entity is the table: customers, orders …
	Entity *Entity
	Prefix string
	Length int64
	Zeros  bool
	// Random makes each entry keep a random id of 11 characters.
	Random bool
	Seed   int64
	// Coherence has the order draw its customer itself: prefix and number below max.
	Coherence      bool
	CustomerPrefix string
	CustomerMax    int64
	// Born is when rows of a table are made and changed: the start of the run, as the
	// original's Hibernate has it. Zero elsewhere, where objects depend on the seed alone.
	Born   time.Time
	Joined bool // the key of an order is orderId.customerId: compat of Coherence
	// Link is the field of a defined object that holds the key of the parent after which
	// an operation writes it; objects.None when it is written by itself.
	Link int
	// Today is what defined objects have for now where born is zero.
	Today time.Time
}

// Key appends the key of number n by the rules of factory.key.*: the bare number,
// the prefix and zeros up to the length, or the prefix and the number.
func (f *Factory) Key(dst []byte, n int64) []byte {
	if o := f.Entity.Object; o != nil {
		return o.AppendKey(dst, f.Seed, n)
	}
	if f.Length <= 0 {
		return strconv.AppendInt(dst, n, 10)
	}
	dst = append(dst, f.Prefix...)
	if !f.Zeros {
		return strconv.AppendInt(dst, n, 10)
	}
	var room [20]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	for pad := int(f.Length) - len(f.Prefix) - len(digits); pad > 0; pad-- {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// ID returns the key under which the entry of number n is written.
func (f *Factory) ID(n int64) string {
	if f.Random {
		return randomID(f.Seed, f.Entity.Name, n)
	}
	return string(f.Key(nil, n))
}

// EntityOfClass finds the entity of a Java class by the last part of its name, or
// of one of our own words ("order", "orders"); the names known otherwise.
func EntityOfClass(class string) (*Entity, []string) {
	last := class[strings.LastIndexByte(class, '.')+1:]
	word := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(last, "Impl"), "Factory"))
	var known []string
	for _, e := range entities {
		if word == e.Word || word == e.Name {
			return e, nil
		}
		known = append(known, e.class())
	}
	return nil, known
}

// IsCoherence says whether a class belongs to the Coherence flavour.
func IsCoherence(class string) bool { return strings.Contains(class, "coherence") }
