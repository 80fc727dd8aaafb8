package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/verdict"
)

// Kind is what a store noted of one kind: the longest, and how often.
type Kind struct {
	verdict.Noted
	Times int
}

// Kinds sorts notes of a store by what they are about, that which took longest first.
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

// What names it: "HSET perfbench:profile", "fork".
func (k Kind) What() string {
	switch {
	case k.Event != "":
		return k.Event
	case k.Key != "":
		return k.Command + " " + k.Key
	}
	return k.Command
}

// longest is what took a store longest of what it noted from a second on and before
// another, of those for which is holds; false of nothing.
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

// tell says how long something took that a store noted.
func (k Kind) tell() string {
	text := k.What() + " took it " + duration(k.ForMs*1e6)
	if k.Times > 1 {
		text += fmt.Sprintf(" at most, %d times", k.Times)
	}
	return text
}
