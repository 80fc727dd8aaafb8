// Package generate makes the events of a run: trees, and batches below their leaves. An
// event depends only on the seed, its generator and its number, so that verification
// can make it again.
package generate

import (
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// Generator makes the batches of one worker. It belongs to that worker.
type Generator struct {
	Number int
	m      *Maker
	dice   Dice // chooses parents
	Batch  wire.Batch
	// Next is the sequence number of the next event.
	Next   int64
	made   int64 // batches, after the tree
	Leaves []Node
	enc    wire.Encoder
	// size is the encoded length of the previous batch.
	size int
}

// Node is an event that is the parent of others.
type Node struct {
	ID    []byte
	Start wire.Stamp
}

// TreeLimit is how many events all trees of a generator may have together.
const TreeLimit = 1_000_000

// TreeSize returns how many events one tree has: (c^(d+1) - 1) / (c - 1).
func TreeSize(depth, children int) int {
	size, level := 1, 1
	for range depth {
		if level *= children; level == 0 {
			break
		}
		if size += level; size > TreeLimit {
			return TreeLimit + 1
		}
	}
	return size
}

// New returns the generator with this number.
func New(s *Shape, number int) *Generator {
	g := &Generator{Number: number, m: NewMaker(s, number), Next: 1}
	g.dice = Dice(g.m.key ^ 0xA5A5A5A5)
	return g
}

// Trees returns how many trees there are.
func (s *Shape) Trees() int {
	if s.Mode == SingleRoot {
		return 1
	}
	return s.Roots
}

// add makes the next event of the batch. parent may be nil.
func (g *Generator) add(now wire.Stamp, parent *Node, payload int) *wire.Event {
	s := g.m.s
	seq := g.Next
	g.Next++
	g.Batch.Events = append(g.Batch.Events, wire.Event{})
	e := &g.Batch.Events[len(g.Batch.Events)-1]
	e.ID = wire.EventID{ID: g.m.id(seq), Book: s.Book, Scope: s.Scope, Start: now, Set: true}
	if parent != nil {
		e.Parent = wire.EventID{ID: parent.ID, Book: s.Book, Scope: s.Scope, Start: parent.Start, Set: true}
	}
	e.End = now
	g.m.fill(e, seq, payload)
	g.m.attach(&g.Batch, e, seq)
	return e
}

// begin empties the batch.
func (g *Generator) begin() (first int64) {
	g.m.begin()
	g.Batch.Reset()
	return g.Next
}

// Plant makes the trees of the generator as single events, in batches without a parent,
// because only a single event may have children outside its own batch. send is called
// with each batch; parents come before their children. In compat the nodes are made
// without being sent: the first batch contains them.
func (g *Generator) Plant(now wire.Stamp, payload, most int, send func(first int64) error) error {
	s := g.m.s
	g.Leaves = g.Leaves[:0]
	first := g.begin()
	for range s.Trees() {
		level := []Node{g.sprout(now, nil, payload)}
		for range s.Depth {
			var below []Node
			for i := range level {
				for range s.Children {
					if len(g.Batch.Events) >= most && send != nil {
						if err := send(first); err != nil {
							return err
						}
						first = g.begin()
					}
					below = append(below, g.sprout(now, &level[i], payload))
				}
			}
			if len(below) == 0 {
				break
			}
			level = below
		}
		g.Leaves = append(g.Leaves, level...)
	}
	if send == nil {
		return nil
	}
	return send(first)
}

// sprout makes one node of a tree, whose id outlives the batch.
func (g *Generator) sprout(now wire.Stamp, parent *Node, payload int) Node {
	e := g.add(now, parent, payload)
	return Node{append([]byte(nil), e.ID.ID...), e.ID.Start}
}

// empty returns the parent of the first batch in the original: an id with an empty
// text.
func (g *Generator) empty(now wire.Stamp) wire.EventID {
	return wire.EventID{Book: g.m.s.Book, Scope: g.m.s.Scope, Start: now, Set: true}
}

// Fill makes a batch of n events under a random leaf; with MIXED, every tenth batch
// consists of single events without parents. In compat the first batch contains the
// trees, and has a parent with an empty id.
func (g *Generator) Fill(now wire.Stamp, n, payload int) (first int64) {
	if g.first() {
		return g.fillFirst(now, n, payload)
	}
	first, parent := g.lead()
	for range n {
		g.add(now, parent, payload)
	}
	return first
}

// first begins another batch after the tree, and reports whether it is the one that is
// special in compat.
func (g *Generator) first() bool {
	g.made++
	return g.m.s.Compat && g.made == 1
}

// fillFirst makes the first batch of compat.
func (g *Generator) fillFirst(now wire.Stamp, n, payload int) (first int64) {
	first = g.Next
	_ = g.Plant(now, payload, n, nil) // cannot fail, since nothing is sent
	for len(g.Batch.Events) < n {
		g.add(now, &g.Leaves[g.dice.Below(len(g.Leaves))], payload)
	}
	g.Batch.Parent = g.empty(now)
	return first
}

// lead empties the batch, and chooses the parent of its events; nil: they have none.
func (g *Generator) lead() (first int64, parent *Node) {
	s := g.m.s
	first = g.begin()
	if s.Mode == Mixed && g.made%10 == 0 {
		return first, nil
	}
	parent = &g.Leaves[g.dice.Below(len(g.Leaves))]
	g.Batch.Parent = wire.EventID{ID: parent.ID, Book: s.Book, Scope: s.Scope, Start: parent.Start, Set: true}
	return first, parent
}

// Encode appends the batch in wire format to dst.
func (g *Generator) Encode(dst []byte) []byte {
	at := len(dst)
	dst = g.enc.Events(g.enc.Begin(g.grow(dst), &g.Batch), &g.Batch)
	g.size = len(dst) - at
	return dst
}

// Make appends a batch to dst in wire format, the one that Fill and Encode would make, and
// returns how many events are in it. Each event is encoded as soon as it is made, while it
// is in the processor's nearest cache; afterwards only the last one is in Batch.
func (g *Generator) Make(dst []byte, now wire.Stamp, n, payload int) (batch []byte, first int64, events int) {
	if g.first() {
		first = g.fillFirst(now, n, payload)
		return g.Encode(dst), first, len(g.Batch.Events)
	}
	at := len(dst)
	first, parent := g.lead()
	dst = g.enc.Begin(g.grow(dst), &g.Batch)
	for range n {
		g.m.begin()
		g.Batch.Events, g.Batch.Messages = g.Batch.Events[:0], g.Batch.Messages[:0]
		g.add(now, parent, payload)
		dst = g.enc.Events(dst, &g.Batch)
	}
	g.size = len(dst) - at
	return dst, first, n
}

// grow makes room for another batch like the last one.
func (g *Generator) grow(dst []byte) []byte {
	if cap(dst)-len(dst) < g.size {
		dst = append(make([]byte, 0, len(dst)+g.size+g.size/16), dst...)
	}
	return dst
}
