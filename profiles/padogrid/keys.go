package padogrid

import (
	"regexp"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// Base returns the date from which eligibility keys count: the start of 13 June 2019 in
// the client's time zone. Keys written in one zone are therefore not found from
// another.
func Base(zone *time.Location) time.Time { return time.Date(2019, 6, 13, 0, 0, 0, 0, zone) }

// EligibilityKey identifies one entry of the eligibility map. Its member number equals
// the group number, and its term date the effective date.
type EligibilityKey struct {
	// Group is the number in the group's name, Entry the index in the map; both from 1.
	Group, Entry int64
	// Effective is the effective date in Unix milliseconds.
	Effective int64
}

// Person returns the person number: the index truncated to a signed 16-bit number.
func (k EligibilityKey) Person() int16 { return int16(k.Entry) }

// AppendGroup appends the name of group n: the prefix and the number. It is also a
// client profile key, whose three fields are this text.
func AppendGroup(dst []byte, prefix string, n int64) []byte {
	return strconv.AppendInt(append(dst, prefix...), n, 10)
}

// GroupForms are the forms of the groups of a space, on a store of keys that has one of its
// own for each: those that AppendGroup names. A space that is not grouped has none.
func GroupForms(s store.Space, prefix string) []string {
	if !s.Grouped {
		return nil
	}
	return []string{store.FormOf("hash", `\{`+regexp.QuoteMeta(prefix)+`-?[0-9]+\}`)}
}

// AppendMember appends the part of the key that distinguishes members of a group:
// "83:1560384016002:1560384016002", the person number, effective and term date.
func (k EligibilityKey) AppendMember(dst []byte) []byte {
	dst = strconv.AppendInt(dst, int64(k.Person()), 10)
	dst = strconv.AppendInt(append(dst, ':'), k.Effective, 10)
	return strconv.AppendInt(append(dst, ':'), k.Effective, 10)
}

// AppendText appends the whole key as text: the group's name, a colon, and what
// AppendMember writes.
func (k EligibilityKey) AppendText(dst []byte, prefix string) []byte {
	return k.AppendMember(append(AppendGroup(dst, prefix, k.Group), ':'))
}

// Share is the part of a map's keys that one thread writes. Threads are counted from 0
// here.
type Share struct {
	// First is the number of entries before it, FirstGroup the number of groups before
	// it.
	First, FirstGroup int64
	// Entries is how many it has.
	Entries int64
	// Size is the number of members of a group.
	Size int64
	// Base is the date of Base in Unix milliseconds.
	Base int64
}

// EligibilityKey returns the key of the share's i-th eligibility entry, from 0: one
// whole group after the other, a second apart, with members a millisecond apart.
func (s Share) EligibilityKey(i int64) EligibilityKey {
	k, m := i/s.Size, i%s.Size
	return EligibilityKey{Group: s.FirstGroup + k + 1, Entry: s.First + i + 1, Effective: s.Base + (s.First+k)*1000 + m}
}

// Profile returns the number of the share's i-th profile, from 0.
func (s Share) Profile(i int64) int64 { return s.First + i + 1 }

// EligibilityShare returns the keys of thread t, from 0, if each thread is to write
// count entries, in groups of size members, in batches of batch; batch 0 means single
// puts. Whole groups are always written, batch by batch, so Entries may exceed count.
func EligibilityShare(t int, count, size, batch, base int64) Share {
	groups := up(count, size)
	if batch > 0 {
		groups = count/batch*up(batch, size) + up(count%batch, size)
	}
	first := int64(t) * count
	return Share{First: first, FirstGroup: first / size, Entries: groups * size, Size: size, Base: base}
}

// ProfileShare returns the keys of thread t if each thread has count entries.
func ProfileShare(t int, count int64) Share {
	return Share{First: int64(t) * count, Entries: count, Size: 1}
}

func up(n, size int64) int64 { return (n + size - 1) / size }
