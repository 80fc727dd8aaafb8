package eventstore

import (
	"bytes"
	"sort"
	"strconv"
)

// What trees there are, by generationMode.
const (
	modeSingleRoot = "SINGLE_ROOT"
	modeMultiRoot  = "MULTI_ROOT"
	modeMixed      = "MIXED"
)

// What bodies are made of, by bodyKind.
const (
	bodyTable  = "table"
	bodyRandom = "randomText"
)

// shape is what the events of a run look like. It does not change.
type shape struct {
	seed             int64
	book, scope      []byte
	kind             string // of the body
	ratio            float64
	failures         int // per mille
	description      int
	attached         int
	aliases          [][]byte
	group            []byte
	mode             string
	roots            int
	depth, children  int
	compat           bool
	born             int64 // ns since 1970, in the ids
	sequenceOfAlias0 int64
}

// prefixLen is the length of what the ids of one generator have in common.
const prefixLen = 36

// maker makes events that depend on the seed, the generator and their number alone,
// except for their times. It belongs to one goroutine; another with the same number
// makes the same.
type maker struct {
	s      *shape
	key    uint64
	prefix []byte // of ids
	table  *tableBody
	text   randomText
	about  randomText // the description
	arena  []byte     // what the events of a batch consist of
}

func newMaker(s *shape, generator int) *maker {
	d := dice(uint64(s.seed)*0x2545F4914F6CDD1D + uint64(generator) + 1)
	m := &maker{s: s, key: d.next()}
	// A time-based UUID: the time that the run began, and what the seed and the number
	// of the generator say in place of clock and node.
	const gregorian = 0x01B21DD213814000
	t := uint64(s.born/100) + gregorian
	hi := t<<32 | t>>32&0xFFFF<<16 | 0x1000 | t>>48&0x0FFF
	m.prefix = appendUUID(nil, hi, d.next()&^(3<<62)|2<<62)
	return m
}

// begin forgets the batch before.
func (m *maker) begin() { m.arena = m.arena[:0] }

// keep returns what was appended to the arena since at. Growing the arena leaves
// earlier pieces where they were.
func (m *maker) keep(at int) []byte { return m.arena[at:len(m.arena):len(m.arena)] }

// id writes the id of an event.
func (m *maker) id(seq int64) []byte {
	at := len(m.arena)
	m.arena = strconv.AppendInt(append(m.arena, m.prefix...), seq, 10)
	return m.keep(at)
}

// fill makes name, body and status of an event.
func (m *maker) fill(e *event, seq int64, payload int) {
	d := eventDice(m.key, seq)
	at := len(m.arena)
	m.arena = d.appendRandomUUID(m.arena)
	failures := m.s.failures
	if m.s.compat {
		failures++
	}
	e.failed = failures > 0 && d.below(1000) < failures
	if m.s.description > 0 {
		m.about.d = dice(d.next())
		m.about.fill(m.s.description)
		m.arena = m.about.appendPlain(append(m.arena, " - "...))
	}
	e.name = m.keep(at)
	e.kind = eventKind
	at = len(m.arena)
	m.arena = m.appendBody(m.arena, &d, payload)
	e.body = m.keep(at)
}

var eventKind = []byte("woodpecker")

func (m *maker) appendBody(dst []byte, d *dice, payload int) []byte {
	if m.s.kind == bodyTable && m.s.description == 0 {
		return m.template(payload).append(dst, d)
	}
	dst = append(dst, '[')
	if m.s.description > 0 {
		dst = append(appendMessageElement(dst, &m.about), ',')
	}
	if m.s.kind == bodyTable {
		at := len(dst)
		dst = m.template(payload).append(dst, d)
		copy(dst[at:], dst[at+1:]) // its own bracket
		return dst[:len(dst)-1]
	}
	m.text.d = dice(d.next())
	m.text.fill(payload)
	return append(appendMessageElement(dst, &m.text), ']')
}

func (m *maker) template(size int) *tableBody {
	if m.table == nil || m.table.size != size {
		m.table = newTableBody(size, randomChars(size, m.s.ratio))
	}
	return m.table
}

// attach adds the message ids of an event to the batch.
func (m *maker) attach(b *batch, e *event, seq int64) {
	e.from = int32(len(b.messages))
	for i := range m.s.attached {
		alias := m.s.aliases[(int(seq)+i)%len(m.s.aliases)]
		b.messages = append(b.messages, messageID{
			alias: alias, group: m.s.group, book: m.s.book, second: true,
			sequence: m.s.sequenceOfAlias0 + seq*int64(m.s.attached) + int64(i), at: e.id.start,
		})
	}
	e.to = int32(len(b.messages))
}

// same says whether a stored event is the one with this number. The size of its body
// says what was asked for.
func (m *maker) same(e *event, seq int64) bool {
	m.begin()
	var want event
	payload := len(e.body)
	if m.s.kind == bodyTable {
		if m.s.description > 0 {
			payload -= m.describedLen(seq)
		}
		if payload < 2 {
			return false
		}
		m.fill(&want, seq, payload)
		return want.failed == e.failed && bytes.Equal(want.name, e.name) && bytes.Equal(want.body, e.body)
	}
	return m.sameText(e, seq)
}

// describedLen is what the description of an event adds to its body.
func (m *maker) describedLen(seq int64) int {
	d := eventDice(m.key, seq)
	d.next()
	d.next()
	if m.s.failures > 0 || m.s.compat {
		d.next()
	}
	m.about.d = dice(d.next())
	m.about.fill(m.s.description)
	return len(appendMessageElement(nil, &m.about)) + 1
}

// sameText tries how many random bytes were asked for. More bytes make a longer text,
// but for a few at the end that are not yet a whole letter.
func (m *maker) sameText(e *event, seq int64) bool {
	var want event
	try := func(n int) int {
		m.begin()
		m.fill(&want, seq, n)
		return len(want.body)
	}
	at := sort.Search(len(e.body), func(n int) bool { return try(n) >= len(e.body) })
	for n := max(at-4, 0); n <= at+8; n++ {
		if try(n) == len(e.body) && bytes.Equal(want.body, e.body) {
			return want.failed == e.failed && bytes.Equal(want.name, e.name)
		}
	}
	return false
}

// sameLinks says whether these are the message ids attached to the event with this
// number, whatever their order: they are kept by alias.
func (m *maker) sameLinks(got []messageID, seq int64, at stamp) bool {
	if len(got) != m.s.attached {
		return false
	}
	first := m.s.sequenceOfAlias0 + seq*int64(m.s.attached)
	for i := range got {
		n := got[i].sequence - first
		if n < 0 || n >= int64(m.s.attached) || !got[i].second || got[i].at != at {
			return false
		}
		if !bytes.Equal(got[i].alias, m.s.aliases[(int(seq)+int(n))%len(m.s.aliases)]) {
			return false
		}
	}
	return true
}
