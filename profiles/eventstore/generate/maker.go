package generate

import (
	"bytes"
	"sort"
	"strconv"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// Values of generationMode: the trees that there are.
const (
	SingleRoot = "SINGLE_ROOT"
	MultiRoot  = "MULTI_ROOT"
	Mixed      = "MIXED"
)

// EventMode is the value of useTransportMode with which the original makes batches of events.
const EventMode = "EVENT_MODE"

// Values of bodyKind: the content of bodies.
const (
	BodyTable  = "table"
	BodyRandom = "randomText"
)

// Shape describes the events of a run. It is never modified.
type Shape struct {
	Seed             int64
	Book, Scope      []byte
	Kind             string // of the body
	Ratio            float64
	Failures         int // per mille
	Description      int
	Attached         int
	Aliases          [][]byte
	Group            []byte
	Mode             string
	Roots            int
	Depth, Children  int
	Compat           bool
	Born             int64 // ns since 1970, in the ids
	SequenceOfAlias0 int64
}

// Documented returns the shape of the events in the documented run, for tests.
func Documented() *Shape {
	return &Shape{
		Seed: 7, Book: []byte("estore_perf_test_01"), Scope: []byte("qa_session_01"), Kind: BodyTable, Ratio: 5.4, Attached: 1,
		Aliases: [][]byte{[]byte("raw-session-alias_1")}, Group: []byte("raw-group_1"), Mode: SingleRoot,
		Born: 1_790_000_000_123_456_789, SequenceOfAlias0: 1_790_000_000_123_000_000,
	}
}

// PrefixLen is the length of the common prefix of one generator's ids.
const PrefixLen = 36

// Maker makes events that depend only on the seed, the generator and their number,
// except for their times. It belongs to one goroutine; another Maker with the same
// number makes the same events.
type Maker struct {
	s      *Shape
	key    uint64
	Prefix []byte // of ids
	table  *tableBody
	text   randomText
	about  randomText // the description
	arena  []byte     // the contents of a batch's events
}

// NewMaker returns the maker of a generator's events.
func NewMaker(s *Shape, generator int) *Maker {
	d := Dice(uint64(s.Seed)*0x2545F4914F6CDD1D + uint64(generator) + 1)
	m := &Maker{s: s, key: d.Next()}
	// A time-based UUID: the time at which the run began, with the seed and the number
	// of the generator instead of clock and node.
	const gregorian = 0x01B21DD213814000
	t := uint64(s.Born/100) + gregorian
	hi := t<<32 | t>>32&0xFFFF<<16 | 0x1000 | t>>48&0x0FFF
	m.Prefix = AppendUUID(nil, hi, d.Next()&^(3<<62)|2<<62)
	return m
}

// begin discards the previous batch.
func (m *Maker) begin() { m.arena = m.arena[:0] }

// keep returns what was appended to the arena since at. When the arena grows, earlier
// pieces stay where they were.
func (m *Maker) keep(at int) []byte { return m.arena[at:len(m.arena):len(m.arena)] }

// id writes the id of an event.
func (m *Maker) id(seq int64) []byte {
	at := len(m.arena)
	m.arena = strconv.AppendInt(append(m.arena, m.Prefix...), seq, 10)
	return m.keep(at)
}

// fill makes name, body and status of an event.
func (m *Maker) fill(e *wire.Event, seq int64, payload int) {
	d := OfEvent(m.key, seq)
	at := len(m.arena)
	m.arena = d.AppendRandomUUID(m.arena)
	failures := m.s.Failures
	if m.s.Compat {
		failures++
	}
	e.Failed = failures > 0 && d.Below(1000) < failures
	if m.s.Description > 0 {
		m.about.d = Dice(d.Next())
		m.about.fill(m.s.Description)
		m.arena = m.about.appendPlain(append(m.arena, " - "...))
	}
	e.Name = m.keep(at)
	e.Kind = eventKind
	at = len(m.arena)
	m.arena = m.appendBody(m.arena, &d, payload)
	e.Body = m.keep(at)
}

var eventKind = []byte("woodpecker")

func (m *Maker) appendBody(dst []byte, d *Dice, payload int) []byte {
	if m.s.Kind == BodyTable && m.s.Description == 0 {
		return m.template(payload).append(dst, d)
	}
	dst = append(dst, '[')
	if m.s.Description > 0 {
		dst = append(appendMessageElement(dst, &m.about), ',')
	}
	if m.s.Kind == BodyTable {
		at := len(dst)
		dst = m.template(payload).append(dst, d)
		copy(dst[at:], dst[at+1:]) // remove its own bracket
		return dst[:len(dst)-1]
	}
	m.text.d = Dice(d.Next())
	m.text.fill(payload)
	return append(appendMessageElement(dst, &m.text), ']')
}

func (m *Maker) template(size int) *tableBody {
	if m.table == nil || m.table.size != size {
		m.table = newTableBody(size, randomChars(size, m.s.Ratio))
	}
	return m.table
}

// attach adds the message ids of an event to the batch.
func (m *Maker) attach(b *wire.Batch, e *wire.Event, seq int64) {
	e.From = int32(len(b.Messages))
	for i := range m.s.Attached {
		alias := m.s.Aliases[(int(seq)+i)%len(m.s.Aliases)]
		b.Messages = append(b.Messages, wire.MessageID{
			Alias: alias, Group: m.s.Group, Book: m.s.Book, Second: true,
			Sequence: m.s.SequenceOfAlias0 + seq*int64(m.s.Attached) + int64(i), At: e.ID.Start,
		})
	}
	e.To = int32(len(b.Messages))
}

// Same reports whether a stored event is the one with this number. The requested size
// follows from the size of its body.
func (m *Maker) Same(e *wire.Event, seq int64) bool {
	m.begin()
	var want wire.Event
	payload := len(e.Body)
	if m.s.Kind == BodyTable {
		if m.s.Description > 0 {
			payload -= m.describedLen(seq)
		}
		if payload < 2 {
			return false
		}
		m.fill(&want, seq, payload)
		return want.Failed == e.Failed && bytes.Equal(want.Name, e.Name) && bytes.Equal(want.Body, e.Body)
	}
	return m.sameText(e, seq)
}

// describedLen returns how much the description of an event adds to its body.
func (m *Maker) describedLen(seq int64) int {
	d := OfEvent(m.key, seq)
	d.Next()
	d.Next()
	if m.s.Failures > 0 || m.s.Compat {
		d.Next()
	}
	m.about.d = Dice(d.Next())
	m.about.fill(m.s.Description)
	return len(appendMessageElement(nil, &m.about)) + 1
}

// sameText tries how many random bytes were requested. More bytes give a longer text,
// except for a few at the end that do not form a complete letter yet.
func (m *Maker) sameText(e *wire.Event, seq int64) bool {
	var want wire.Event
	try := func(n int) int {
		m.begin()
		m.fill(&want, seq, n)
		return len(want.Body)
	}
	at := sort.Search(len(e.Body), func(n int) bool { return try(n) >= len(e.Body) })
	for n := max(at-4, 0); n <= at+8; n++ {
		if try(n) == len(e.Body) && bytes.Equal(want.Body, e.Body) {
			return want.Failed == e.Failed && bytes.Equal(want.Name, e.Name)
		}
	}
	return false
}

// SameLinks reports whether these are the message ids attached to the event with this
// number, in any order, because they are stored by alias.
func (m *Maker) SameLinks(got []wire.MessageID, seq int64, at wire.Stamp) bool {
	if len(got) != m.s.Attached {
		return false
	}
	first := m.s.SequenceOfAlias0 + seq*int64(m.s.Attached)
	for i := range got {
		n := got[i].Sequence - first
		if n < 0 || n >= int64(m.s.Attached) || !got[i].Second || got[i].At != at {
			return false
		}
		if !bytes.Equal(got[i].Alias, m.s.Aliases[(int(seq)+int(n))%len(m.s.Aliases)]) {
			return false
		}
	}
	return true
}
