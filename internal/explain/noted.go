package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/verdict"
)

// Kind is a kind of entry in a store's own log: the longest one, and how often there
// was one.
type Kind struct {
	verdict.Noted
	Times int
}

// Kinds groups log entries of a store by what they are about, with the kind that took
// longest first.
func Kinds(list []verdict.Noted) (out []Kind) {
	type of struct{ node, event, command, key string }
	at := map[of]int{}
	for _, n := range list {
		key := of{n.Node, n.Event, n.Command, n.Key}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, Kind{Noted: n})
		}
		k := &out[i]
		if k.Times++; n.ForMs > k.ForMs {
			k.Noted = n
		}
	}
	slices.SortStableFunc(out, func(a, b Kind) int { return cmp.Compare(b.ForMs, a.ForMs) })
	return out
}

// What describes the kind: "HSET perfbench:profile", "fork".
func (k Kind) What() string {
	switch {
	case k.Event != "":
		return k.Event
	case k.Key != "":
		return k.Command + " " + k.Key
	}
	return k.Command
}

// longest returns the longest log entry of the store in the period's seconds, among
// those for which is holds; false if there is none.
func (s *stretch) longest(is func(verdict.Noted) bool) (Kind, bool) {
	o := s.f.Run.Observed
	if o == nil {
		return Kind{}, false
	}
	var list []verdict.Noted
	for _, n := range o.Noted {
		if n.AtS >= s.first && n.AtS < s.first+s.n && is(n) {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return Kind{}, false
	}
	return Kinds(list)[0], true
}

// describe says how long something that a store logged took.
func (k Kind) describe() string {
	text := k.What() + " took it " + duration(k.ForMs*1e6)
	if k.Times > 1 {
		text += fmt.Sprintf(" at most, %d times", k.Times)
	}
	return text
}
