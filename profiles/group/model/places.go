package model

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

// tableShape is the shape of a table with one column per field.
const tableShape store.Shape = "table"

// AssignSpaces assigns every operation the space of its structure; if together is set,
// maps of parents and children share the hash tag of the first parent.
func (s *Spec) AssignSpaces(together bool) {
	related := map[string]bool{}
	if together {
		for _, o := range s.Order {
			if o.Kind == KindMap && (o.Children != nil || o.Parent != nil) {
				related[o.Target] = true
			}
		}
	}
	for _, o := range s.Order {
		if o.Table {
			o.Space = store.Space{Namespace: s.Namespace, Name: o.Factory.Entity.Name, Shape: tableShape}
		} else if o.Kind != KindSleep {
			o.Space = spaceOf(s.Namespace, o.Kind, o.Target, o.Kind == KindMap && related[o.Target])
		}
	}
}

// Spaces returns the places that the plan touches, without repetition.
func (s *Spec) Spaces() []store.Space {
	var out []store.Space
	for _, o := range s.Order {
		if o.Kind == KindSleep || o.Kind == KindTopic || o.Kind == KindSTopic || slices.Contains(out, o.Space) {
			continue
		}
		out = append(out, o.Space)
	}
	return out
}

// Reloaded returns the places whose values are deleted and loaded again where an earlier run left them
// with another payload: those that the plan only reads, unless nothing is to be loaded.
func (s *Spec) Reloaded() []store.Space {
	if s.Load == LoadNever {
		return nil
	}
	return slices.DeleteFunc(s.Spaces(), func(at store.Space) bool {
		sized, changed := false, false
		for _, o := range s.Order {
			if o.Kind != KindSleep && o.Space == at {
				sized, changed = sized || o.Sized(), changed || o.Writes() || o.Removes()
			}
		}
		return changed || !sized
	})
}

// Shrinking returns the names of the structures from which operations take, and of those whose entries
// expire.
func (s *Spec) Shrinking() (taken, expiring []string) {
	for _, o := range s.Order {
		if o.Action.Takes() && !slices.Contains(taken, o.Space.Name) {
			taken = append(taken, o.Space.Name)
		}
		if o.TTL > 0 && !slices.Contains(expiring, o.Space.Name) {
			expiring = append(expiring, o.Space.Name)
		}
	}
	return taken, expiring
}

// Delivery is the operation of the tracks that receive: the journey of a message from
// the start of its publishing to its receiver.
const Delivery = "delivery"

// listening describes the receivers of one topic in one step.
type listening struct {
	Op    *Op
	Track string
	step  int
}

// Topics returns the topics that are published to in a step, if somebody is to listen.
func (s *Spec) Topics(step int) []listening {
	var out []listening
	if s.Subscribers == 0 {
		return nil
	}
	for _, o := range s.flow(step) {
		if !o.Kind.Topic() || slices.ContainsFunc(out, func(l listening) bool { return l.Op.Kind == o.Kind && l.Op.Target == o.Target }) {
			continue
		}
		name := o.Target + "-subscribers"
		for i := range step {
			if slices.ContainsFunc(s.Topics(i), func(l listening) bool { return l.Track == name }) {
				name += "#" + strconv.Itoa(step+1)
				break
			}
		}
		out = append(out, listening{o, name, step})
	}
	return out
}

// Reach returns how many distinct keys an operation of a group writes or may read, as
// the first and last of their numbers.
func (o *Op) Reach(g *Group) (first, last int64) {
	n := max(g.Invocations(), 1)
	switch {
	case o.Action == ActPutAll || o.Action == ActAddAll && o.Kind.Keyed(), o.Action == ActGet, o.Action == ActGetAll, o.Action == ActQuery:
		return o.Start, o.Start + o.Total - 1
	}
	return o.Start, o.Start + n - 1
}

// Bytes returns the total size of the values that the plan may store.
func (s *Spec) Bytes() int64 {
	var sum int64
	type place struct {
		space store.Space
		form  string
	}
	most := map[place]int64{}
	for _, g := range s.Groups {
		for _, o := range g.Ops {
			if o.Kind == KindSleep || o.Kind == KindTopic || o.Kind == KindSTopic {
				continue
			}
			first, last := o.Reach(g)
			n := last - first + 1
			if o.Action.Writes() && !s.Wraps(g) && s.Load != LoadOnly {
				n = min(n, g.Invocations()*int64(max(o.BatchOf(g, &g.Start), 1))*s.TestCount)
			}
			size := int64(o.Payload)
			if o.Factory != nil {
				size = o.Factory.Bytes(o.Payload)
			}
			switch o.Kind {
			case KindSet, KindZSet:
				size = 16
			case KindList, KindQueue, KindRTopic:
				if !o.Action.Writes() {
					continue
				}
				n = g.Invocations() * int64(max(o.BatchOf(g, &g.Start), 1)) * s.TestCount
				if s.Trim > 0 && o.Kind == KindRTopic {
					n = min(n, s.Trim)
				}
			}
			if size > 0 && n > (1<<62)/size {
				return 1 << 62
			}
			key := place{o.Space, o.Form()}
			most[key] = max(most[key], n*size)
			for c := o.Children; c != nil; c = c.Child.Children {
				n *= c.Most
				sum += n * c.Child.objectBytes()
			}
		}
	}
	for _, v := range most {
		sum += v
	}
	return max(sum, 0)
}

// Pauses reports whether an operation is a pause, or has one in what it does.
func (o *Op) Pauses() bool {
	return slices.ContainsFunc(o.Family(), func(m *Op) bool { return m.Action == ActSleep })
}

// Form distinguishes the keys of operations on one structure: operations with the same
// form write the same keys for the same numbers.
func (o *Op) Form() string {
	if f := o.Factory; f != nil {
		if d := f.Entity.Object; d != nil {
			return "object " + d.Name
		}
		if f.Random {
			return "random " + f.Entity.Name
		}
		return fmt.Sprintf("%q %d %t", f.Prefix, f.Length, f.Zeros)
	}
	return fmt.Sprintf("%q", o.Prefix)
}

// Says describes what a group does to the store.
func (s *Spec) Says(g *Group) string {
	n := units.Plural(g.Invocations(), "invocation")
	switch {
	case s.Wraps(g):
		n += ", again and again,"
	case s.TestCount > 1:
		n += fmt.Sprintf(", %d times,", s.TestCount)
	}
	text := fmt.Sprintf("group %s: %s by %s", g.Track, n, units.Plural(g.Start.Threads, "thread"))
	seen := []string{}
	for _, o := range g.Ops {
		for _, m := range o.Family() {
			if m.Kind == KindSleep {
				continue
			}
			what := fmt.Sprintf("%s on %s %s", m.Action, m.Kind, m.Target)
			if d := m.Object(); d != nil {
				what = fmt.Sprintf("%s of %s on %s %s", m.Action, d.Name, m.Kind, m.Target)
			}
			if !slices.Contains(seen, what) {
				seen = append(seen, what)
			}
		}
	}
	for i, what := range seen {
		if i == 4 && len(seen) > 5 {
			return text + fmt.Sprintf(", and %d more", len(seen)-4)
		}
		text += map[bool]string{true: ": ", false: ", "}[i == 0] + what
	}
	return text
}
