package group

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/perfbench/perfbench/internal/store"
)

// tableShape is the shape of a table with one column a field.
const tableShape store.Shape = "table"

// lay gives every operation the space of its structure; together, maps of parents and
// children lie under the tag of the first parent.
func (s *spec) lay(together bool) {
	related := map[string]bool{}
	if together {
		for _, o := range s.order {
			if o.kind == kindMap && (o.er != nil || o.parent != nil) {
				related[o.target] = true
			}
		}
	}
	for _, o := range s.order {
		if o.table {
			o.space = store.Space{Namespace: s.namespace, Name: o.factory.entity.name, Shape: tableShape}
		} else if o.kind != kindSleep {
			o.space = spaceOf(s.namespace, o.kind, o.target, o.kind == kindMap && related[o.target])
		}
	}
}

// spaces lists the places that the plan touches, each once.
func (s *spec) spaces() []store.Space {
	var out []store.Space
	for _, o := range s.order {
		if o.kind == kindSleep || o.kind == kindTopic || o.kind == kindSTopic || slices.Contains(out, o.space) {
			continue
		}
		out = append(out, o.space)
	}
	return out
}

// delivery is the operation of the tracks that receive: the way of a message from
// the start of its publishing to its receiver.
const delivery = "delivery"

// listening is the receivers of one topic in one step.
type listening struct {
	op    *opSpec
	track string
	step  int
}

// topics lists what is published to in a step, when somebody is to listen.
func (s *spec) topics(step int) []listening {
	var out []listening
	if s.subs == 0 {
		return nil
	}
	for _, o := range s.flow(step) {
		if !o.kind.topic() || slices.ContainsFunc(out, func(l listening) bool { return l.op.kind == o.kind && l.op.target == o.target }) {
			continue
		}
		name := o.target + "-subscribers"
		for i := range step {
			if slices.ContainsFunc(s.topics(i), func(l listening) bool { return l.track == name }) {
				name += "#" + strconv.Itoa(step+1)
				break
			}
		}
		out = append(out, listening{o, name, step})
	}
	return out
}

// reach is how many distinct keys an operation of a group writes or may read, and
// the first and last of their numbers.
func (o *opSpec) reach(g *groupSpec) (first, last int64) {
	n := max(g.invocations(), 1)
	switch {
	case o.act == actPutAll || o.act == actAddAll && o.kind.keyed(), o.act == actGet, o.act == actGetAll, o.act == actQuery:
		return o.start, o.start + o.total - 1
	}
	return o.start, o.start + n - 1
}

// bytes is the volume of values that the plan may store.
func (s *spec) bytes() int64 {
	var sum int64
	type place struct {
		space store.Space
		form  string
	}
	most := map[place]int64{}
	for _, g := range s.groups {
		for _, o := range g.ops {
			if o.kind == kindSleep || o.kind == kindTopic || o.kind == kindSTopic {
				continue
			}
			first, last := o.reach(g)
			n := last - first + 1
			size := int64(o.payload)
			if o.factory != nil {
				size = o.factory.bytes(o.payload)
			}
			switch o.kind {
			case kindSet, kindZSet:
				size = 16
			case kindList, kindQueue, kindRTopic:
				if !o.act.writes() {
					continue
				}
				n = g.invocations() * int64(max(o.batchOf(g, &g.start), 1)) * s.testCount
				if s.trim > 0 && o.kind == kindRTopic {
					n = min(n, s.trim)
				}
			}
			if size > 0 && n > (1<<62)/size {
				return 1 << 62
			}
			key := place{o.space, o.form()}
			most[key] = max(most[key], n*size)
			for c := o.er; c != nil; c = c.child.er {
				n *= c.most
				sum += n * c.child.objectBytes()
			}
		}
	}
	for _, v := range most {
		sum += v
	}
	return max(sum, 0)
}

// pauses says whether an operation or what is done with it is a pause.
func (o *opSpec) pauses() bool {
	return slices.ContainsFunc(o.family(), func(m *opSpec) bool { return m.act == actSleep })
}

// form tells the keys of one operation from those of another on one structure:
// operations of the same form write the same keys for the same numbers.
func (o *opSpec) form() string {
	if f := o.factory; f != nil {
		if d := f.entity.object; d != nil {
			return "object " + d.Name
		}
		if f.random {
			return "random " + f.entity.name
		}
		return fmt.Sprintf("%q %d %t", f.prefix, f.length, f.zeros)
	}
	return fmt.Sprintf("%q", o.prefix)
}
