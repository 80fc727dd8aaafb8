package eventstore

// generator makes the batches of one worker. It belongs to that worker.
type generator struct {
	number int
	m      *maker
	d      dice // chooses parents
	b      batch
	// next is the sequence number of the next event.
	next   int64
	made   int64 // batches, after the tree
	leaves []node
	// size is how long the batch before was when encoded.
	size int
}

// node is an event that others have as their parent.
type node struct {
	id    []byte
	start stamp
}

// treeLimit is how many events all trees of a generator may have.
const treeLimit = 1_000_000

// treeSize is how many events one tree has: (c^(d+1) - 1) / (c - 1).
func treeSize(depth, children int) int {
	size, level := 1, 1
	for range depth {
		if level *= children; level == 0 {
			break
		}
		if size += level; size > treeLimit {
			return treeLimit + 1
		}
	}
	return size
}

func newGenerator(s *shape, number int) *generator {
	g := &generator{number: number, m: newMaker(s, number), next: 1}
	g.d = dice(g.m.key ^ 0xA5A5A5A5)
	return g
}

// trees is how many trees there are.
func (s *shape) trees() int {
	if s.mode == modeSingleRoot {
		return 1
	}
	return s.roots
}

// add makes the next event of the batch. parent may be nil.
func (g *generator) add(now stamp, parent *node, payload int) *event {
	s := g.m.s
	seq := g.next
	g.next++
	g.b.events = append(g.b.events, event{})
	e := &g.b.events[len(g.b.events)-1]
	e.id = eventID{id: g.m.id(seq), book: s.book, scope: s.scope, start: now, set: true}
	if parent != nil {
		e.parent = eventID{id: parent.id, book: s.book, scope: s.scope, start: parent.start, set: true}
	}
	e.end = now
	g.m.fill(e, seq, payload)
	g.m.attach(&g.b, e, seq)
	return e
}

// begin empties the batch.
func (g *generator) begin() (first int64) {
	g.m.begin()
	g.b.reset()
	return g.next
}

// plant makes the trees of the generator as single events, in batches without a
// parent: only a single event may have children outside its own batch. send is
// called with each batch; parents come before their children. In compat the nodes
// are made without being sent: the first batch brings them.
func (g *generator) plant(now stamp, payload, most int, send func(first int64) error) error {
	s := g.m.s
	g.leaves = g.leaves[:0]
	first := g.begin()
	for range s.trees() {
		level := []node{g.grow(now, nil, payload)}
		for range s.depth {
			var below []node
			for i := range level {
				for range s.children {
					if len(g.b.events) >= most && send != nil {
						if err := send(first); err != nil {
							return err
						}
						first = g.begin()
					}
					below = append(below, g.grow(now, &level[i], payload))
				}
			}
			if len(below) == 0 {
				break
			}
			level = below
		}
		g.leaves = append(g.leaves, level...)
	}
	if send == nil {
		return nil
	}
	return send(first)
}

// grow makes one node of a tree, with an id that outlives the batch.
func (g *generator) grow(now stamp, parent *node, payload int) node {
	e := g.add(now, parent, payload)
	return node{append([]byte(nil), e.id.id...), e.id.start}
}

// empty is the parent of the first batch as the original makes it: an id without a
// text.
func (g *generator) empty(now stamp) eventID {
	return eventID{book: g.m.s.book, scope: g.m.s.scope, start: now, set: true}
}

// fill makes a batch of n events under a random leaf; every tenth of MIXED is one of
// single events without parents. In compat the first batch holds the trees, and a
// parent with an empty id.
func (g *generator) fill(now stamp, n, payload int) (first int64) {
	s := g.m.s
	g.made++
	if s.compat && g.made == 1 {
		first = g.next
		_ = g.plant(now, payload, n, nil) // sends nothing, so nothing fails
		for len(g.b.events) < n {
			g.add(now, &g.leaves[g.d.below(len(g.leaves))], payload)
		}
		g.b.parent = g.empty(now)
		return first
	}
	first = g.begin()
	if s.mode == modeMixed && g.made%10 == 0 {
		for range n {
			g.add(now, nil, payload)
		}
		return first
	}
	parent := &g.leaves[g.d.below(len(g.leaves))]
	g.b.parent = eventID{id: parent.id, book: s.book, scope: s.scope, start: parent.start, set: true}
	for range n {
		g.add(now, parent, payload)
	}
	return first
}

// Encode appends the batch in wire format to dst.
func (g *generator) Encode(dst []byte) []byte {
	if cap(dst)-len(dst) < g.size {
		dst = append(make([]byte, 0, len(dst)+g.size+g.size/16), dst...)
	}
	at := len(dst)
	dst = g.b.encode(dst)
	g.size = len(dst) - at
	return dst
}
