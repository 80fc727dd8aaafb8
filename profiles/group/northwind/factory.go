package northwind

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Factory makes data objects instead of opaque values, as configured by factory.class
// and factory.*.
type Factory struct {
	// Entity is the table: customers, orders …
	Entity *Entity
	Prefix string
	Length int64
	Zeros  bool
	// Random gives each entry a random id of 11 characters.
	Random bool
	Seed   int64
	// Coherence makes the order draw its customer itself: prefix and a number below
	// max.
	Coherence      bool
	CustomerPrefix string
	CustomerMax    int64
	// Born is when rows of a table are created and changed: the start of the run, as
	// with the original's Hibernate. Zero elsewhere, where objects depend on the seed
	// alone.
	Born   time.Time
	Joined bool // the key of an order is orderId.customerId: compat of Coherence
	// Link is the field of a defined object that holds the key of the parent after
	// which an operation writes it; objects.None if it is written on its own.
	Link int
	// Today is the value of the generator now in defined objects if Born is zero.
	Today time.Time
}

// Key appends the key with number n by the rules of factory.key.*: the bare number, the
// prefix and zeros up to the length, or the prefix and the number.
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

// KeyPattern is a regular expression that each key and id has. Those of defined objects may
// be anything without braces.
func (f *Factory) KeyPattern() string {
	if f.Entity.Object != nil {
		return `[^{}]+`
	}
	p := `-?[0-9]+`
	if f.Length > 0 {
		p = regexp.QuoteMeta(f.Prefix) + p
	}
	if f.Random {
		p = `(?:` + p + `|[0-9]{3}-[0-9]{2}-[0-9]{4})`
	}
	if f.Joined {
		p += `(?:\.[^{}]+)?`
	}
	return p
}

// ID returns the key under which the entry with number n is written.
func (f *Factory) ID(n int64) string {
	if f.Random {
		return randomID(f.Seed, f.Entity.Name, n)
	}
	return string(f.Key(nil, n))
}

// EntityOfClass finds the entity for a Java class by the last part of its name, or for
// one of our own words ("order", "orders"); otherwise it returns the known names.
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

// IsCoherence reports whether a class belongs to the Coherence flavour.
func IsCoherence(class string) bool { return strings.Contains(class, "coherence") }
