package datagen

import (
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"
)

// Dice generate the values of one object. The same seed, kind and number give the same
// values, on any thread and in any order. The generator is our own: a few lists of
// words are enough here, and a library's lists would change the data of old seeds with
// each of its releases. Dice belong to one goroutine.
type Dice struct {
	rnd rand.PCG
}

// NewDice returns the dice for an object: for its kind, its number, and the purpose for
// which they are used.
func NewDice(seed int64, kind string, n int64, what string) *Dice {
	d := &Dice{}
	d.throw(seed, hashOf(kind, what), n)
	return d
}

// hashOf returns the part of the dice's seed that is the same for all objects.
func hashOf(kind, what string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind)) // never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(what))
	return h.Sum64()
}

// throw restarts the dice for the values of one object.
func (d *Dice) throw(seed int64, hash uint64, n int64) {
	d.rnd.Seed(uint64(seed)*0x9E3779B97F4A7C15^hash, uint64(n)*0xD1B54A32D192ED03+1)
}

// Bits returns 64 random bits.
func (d *Dice) Bits() uint64 { return d.rnd.Uint64() }

// Below returns a number in [0, n).
func (d *Dice) Below(n int64) int64 { return int64(d.rnd.Uint64() % uint64(n)) } // the bias of the remainder is below n/2^64

// Between returns a number in [lo, hi].
func (d *Dice) Between(lo, hi int64) int64 { return lo + d.Below(hi-lo+1) }

// unit returns a number in [0, 1).
func (d *Dice) unit() float64 { return float64(d.rnd.Uint64()>>11) / (1 << 53) }

// Zipf returns 1 most often, 2 half as often, 3 a third as often … up to n.
func (d *Dice) Zipf(n int64) int64 {
	sum := 0.0
	for k := int64(1); k <= n; k++ {
		sum += 1 / float64(k)
	}
	at := d.unit() * sum
	for k := int64(1); k < n; k++ {
		if at -= 1 / float64(k); at < 0 {
			return k
		}
	}
	return n
}

// One returns a random element of a list.
func (d *Dice) One(list []string) string { return list[d.Below(int64(len(list)))] }

// Digits replaces each # by a random digit.
func (d *Dice) Digits(pattern string) string { return string(appendDigits(nil, d, pattern)) }

func appendDigits(dst []byte, d *Dice, pattern string) []byte {
	for i := range len(pattern) {
		c := pattern[i]
		if c == '#' {
			c = byte('0' + d.Below(10))
		}
		dst = append(dst, c)
	}
	return dst
}

// padded appends a number with zeros in front up to a width.
func padded(dst []byte, n int64, width int) []byte {
	var room [20]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	if n < 0 {
		dst, digits = append(dst, '-'), digits[1:]
	}
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// SSN returns an id of 11 characters in the form of a Swedish personal number that
// cannot be a real one: its month is above 12.
func (d *Dice) SSN() string {
	sign := byte('-')
	if d.Below(2) == 0 {
		sign = '+'
	}
	b := make([]byte, 0, 11)
	b = padded(b, d.Below(100), 2)
	b = padded(b, d.Between(13, 99), 2)
	b = padded(b, d.Below(100), 2)
	return string(padded(append(b, sign), d.Below(10000), 4))
}

// Last returns a last name.
func (d *Dice) Last() string { return d.One(lastNames) }

// First returns a first name.
func (d *Dice) First() string { return d.One(firstNames) }

// Company returns the name of a company.
func (d *Dice) Company() string { return string(appendCompany(nil, d)) }

func appendCompany(dst []byte, d *Dice) []byte {
	switch d.Below(6) {
	case 0:
		dst = append(append(dst, d.Last()...), '-')
		return append(dst, d.Last()...)
	case 1:
		dst = append(append(dst, d.Last()...), ", "...)
		dst = append(append(dst, d.Last()...), " and "...)
		return append(dst, d.Last()...)
	}
	dst = append(append(dst, d.Last()...), ' ')
	return append(dst, d.One(companyEnds)...)
}

// Title returns a job title.
func (d *Dice) Title() string { return string(appendTitle(nil, d)) }

func appendTitle(dst []byte, d *Dice) []byte {
	field, position := d.One(fields), d.One(positions)
	if d.Below(3) > 0 {
		dst = append(append(dst, d.One(ranks)...), ' ')
	}
	return append(append(append(dst, field...), ' '), position...)
}

// City returns the name of a town.
func (d *Dice) City() string { return string(appendCity(nil, d)) }

func appendCity(dst []byte, d *Dice) []byte {
	switch d.Below(3) {
	case 0:
		dst = append(append(dst, d.One(cityPrefixes)...), ' ')
		dst = append(dst, d.First()...)
		return append(dst, d.One(citySuffixes)...)
	case 1:
		dst = append(append(dst, d.One(cityPrefixes)...), ' ')
		return append(dst, d.Last()...)
	}
	dst = append(dst, d.Last()...)
	return append(dst, d.One(citySuffixes)...)
}

// CityPrefix returns a prefix of town names.
func (d *Dice) CityPrefix() string { return d.One(cityPrefixes) }

// State returns one of the United States, in two letters.
func (d *Dice) State() string { return d.One(states) }

// StateOf returns the state for a number, wrapping around.
func StateOf(n int64) string { return states[uint64(n)%uint64(len(states))] }

// Country returns the name of a country.
func (d *Dice) Country() string { return d.One(countries) }

// Zip returns a postal code of the United States.
func (d *Dice) Zip() string { return string(appendZip(nil, d)) }

func appendZip(dst []byte, d *Dice) []byte {
	if d.Below(2) == 0 {
		return appendDigits(dst, d, "#####")
	}
	return appendDigits(dst, d, "#####-####")
}

// Address returns a postal address in one line.
func (d *Dice) Address() string { return string(appendAddress(nil, d)) }

func appendAddress(dst []byte, d *Dice) []byte {
	switch d.Below(4) {
	case 0:
		dst = appendDigits(dst, d, "Apt. ### ")
	case 1:
		dst = appendDigits(dst, d, "Suite ### ")
	}
	dst = append(strconv.AppendInt(dst, d.Between(100, 99999), 10), ' ')
	dst = append(append(dst, d.Last()...), ' ')
	dst = append(append(dst, d.One(streets)...), ", "...)
	dst = append(appendCity(dst, d), ", "...)
	return appendZip(append(append(dst, d.State()...), ' '), d)
}

// Phone returns a telephone number of the United States; if extensions is set, some
// have one.
func (d *Dice) Phone(extensions bool) string { return string(appendPhone(nil, d, extensions)) }

func appendPhone(dst []byte, d *Dice, extensions bool) []byte {
	form := phoneForms[d.Below(int64(len(phoneForms)))]
	dst = strconv.AppendInt(append(dst, form[0]...), d.Between(201, 989), 10)
	dst = strconv.AppendInt(append(dst, form[1]...), d.Between(200, 999), 10)
	dst = padded(append(dst, form[2]...), d.Below(10000), 4)
	if extensions && d.Below(3) == 0 {
		dst = appendDigits(dst, d, extensionForms[d.Below(3)])
	}
	return dst
}

// Money returns an amount with two decimals, up to most.
func (d *Dice) Money(most int64) float64 { return float64(d.Below(most*100+1)) / 100 }

// After returns a moment up to that many days after t, in whole milliseconds.
func (d *Dice) After(t time.Time, days int64) time.Time {
	return t.Add(time.Duration(d.Below(days*24*3600*1000)+1) * time.Millisecond)
}

// Words returns n words separated by spaces.
func (d *Dice) Words(n int64) string { return string(appendWords(nil, d, n)) }

func appendWords(dst []byte, d *Dice, n int64) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, d.One(goods)...)
	}
	return dst
}
