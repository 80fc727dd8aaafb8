package datagen

import "strconv"

// Keywords for how a value is generated.
const (
	genSequence = "sequence"
	genInteger  = "integer"
	genFloat    = "float"
	genDecimal  = "decimal"
	genText     = "text"
	genWords    = "words"
	genPick     = "pick"
	genUUID     = "uuid"
	genDate     = "date"
	genTime     = "time"
	genNow      = "now"
	genBoolean  = "boolean"
	genTemplate = "template"
	genParent   = "parent"
)

// How children that are written on their own are distributed over parents.
const (
	spreadSequential = "sequential"
	spreadUniform    = "uniform"
	spreadZipf       = "zipf"
)

// generator describes one of the keywords.
type generator struct {
	name string
	kind Kind
	// keys are those allowed for the field besides type, index and unique.
	keys []string
	make func(m *Maker, f *Field, n int64)
	// room is the greatest length of a text in characters; 0 if the definition
	// determines it.
	room int
}

// generators are all the keywords, in the order of messages and of the documentation.
var generators = []generator{
	{genSequence, Integer, []string{"pattern", "start", "step"}, makeSequence, 0},
	{genInteger, Integer, []string{"range"}, makeInteger, 0},
	{genFloat, Float, []string{"range"}, makeFloat, 0},
	{genDecimal, Decimal, []string{"range", "decimals"}, makeInteger, 0},
	{genText, Text, []string{"length", "payload"}, makeText, 0},
	{genWords, Text, []string{"length"}, makeWords, 0},
	{genPick, Text, []string{"values", "weights"}, makePick, 0},
	{genUUID, Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = appendUUID(m.buf, &m.dice) }, 36},
	{genDate, Date, []string{"range"}, makeDate, 0},
	{genTime, Time, []string{"range"}, makeTime, 0},
	{genNow, Time, nil, func(m *Maker, f *Field, _ int64) { m.cells[f.self].i = m.now }, 0},
	{genBoolean, Boolean, []string{"share"}, makeBoolean, 0},
	{genTemplate, Text, []string{"template"}, makeTemplate, 0},
	{genParent, Text, []string{"parent", "spread", "among", "first", "skew", "each", "children", "childrenSpread", "foreignKey"}, makeParent, 0},
	{"first", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = append(m.buf, m.dice.First()...) }, 20},
	{"last", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = append(m.buf, m.dice.Last()...) }, 20},
	{"name", Text, nil, makeName, 40},
	{"company", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = appendCompany(m.buf, &m.dice) }, 50},
	{"title", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = appendTitle(m.buf, &m.dice) }, 50},
	{"address", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = appendAddress(m.buf, &m.dice) }, 100},
	{"city", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = appendCity(m.buf, &m.dice) }, 50},
	{"state", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = append(m.buf, m.dice.State()...) }, 2},
	{"country", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = append(m.buf, m.dice.Country()...) }, 50},
	{"zip", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = appendZip(m.buf, &m.dice) }, 10},
	{"phone", Text, nil, func(m *Maker, _ *Field, _ int64) { m.buf = appendPhone(m.buf, &m.dice, false) }, 30},
}

func generatorOf(name string) *generator {
	for i := range generators {
		if generators[i].name == name {
			return &generators[i]
		}
	}
	return nil
}

func generatorNames() []string {
	out := make([]string, len(generators))
	for i, g := range generators {
		out[i] = g.name
	}
	return out
}

func makeSequence(m *Maker, f *Field, n int64) {
	m.cells[f.self].i = f.start + (n-1)*f.step
	if f.Kind == Text {
		m.buf = f.appendSequence(m.buf, n)
	}
}

func makeInteger(m *Maker, f *Field, _ int64) { m.cells[f.self].i = m.dice.Between(f.lo, f.hi) }

func makeFloat(m *Maker, f *Field, _ int64) {
	m.cells[f.self].f = f.flo + m.dice.unit()*(f.fhi-f.flo)
}

func makeText(m *Maker, f *Field, _ int64) {
	n := int64(m.payload)
	if !f.Payload {
		n = m.dice.Between(f.lo, f.hi)
	}
	m.buf = appendText(m.buf, &m.dice, n)
}

func makeWords(m *Maker, f *Field, _ int64) {
	m.buf = appendWords(m.buf, &m.dice, m.dice.Between(f.lo, f.hi))
}

func makePick(m *Maker, f *Field, _ int64) {
	i := weighted(&m.dice, f.upTo)
	switch c := &m.cells[f.self]; f.Kind {
	case Integer:
		c.i = f.ints[i]
	case Float:
		c.f = f.floats[i]
	default:
		m.buf = append(m.buf, f.list[i]...)
	}
}

const dayMS = 24 * 3600 * 1000

func makeDate(m *Maker, f *Field, _ int64) {
	m.cells[f.self].i = f.lo + m.dice.Below((f.hi-f.lo)/dayMS+1)*dayMS
}

func makeTime(m *Maker, f *Field, _ int64) { m.cells[f.self].i = m.dice.Between(f.lo, f.hi) }

func makeBoolean(m *Maker, f *Field, _ int64) {
	m.cells[f.self].i = 0
	if m.dice.unit() < f.share {
		m.cells[f.self].i = 1
	}
}

func makeName(m *Maker, _ *Field, _ int64) {
	m.buf = append(append(m.buf, m.dice.First()...), ' ')
	m.buf = append(m.buf, m.dice.Last()...)
}

func makeTemplate(m *Maker, f *Field, _ int64) {
	for _, p := range f.parts {
		if p.field < 0 {
			m.buf = append(m.buf, p.text...)
			continue
		}
		m.buf = m.appendPlain(m.buf, p.field)
	}
}

// makeParent refers to a parent drawn from the distribution.
func makeParent(m *Maker, f *Field, n int64) {
	var k int64
	switch f.spread {
	case spreadUniform:
		k = m.dice.Below(f.hi)
	case spreadZipf:
		k = m.zipfs[f.zipf].Next()
	default:
		k = (n - 1) / f.each
		if f.hi > 0 {
			k %= f.hi
		}
	}
	m.buf = f.Parent.AppendKey(m.buf, m.seed, f.first+max(k, 0))
}

// appendPlain appends a value as people write it.
func (m *Maker) appendPlain(dst []byte, i int) []byte {
	f, c := m.o.Fields[i], &m.cells[i]
	switch f.Kind {
	case Integer:
		return appendInt(dst, c.i)
	case Float:
		return strconv.AppendFloat(dst, c.f, 'g', -1, 64)
	case Decimal:
		return strconv.AppendFloat(dst, float64(c.i)/float64(f.scale), 'f', f.digits, 64)
	case Boolean:
		return strconv.AppendBool(dst, c.i != 0)
	case Date:
		return stamp(c.i).AppendFormat(dst, dateForm)
	case Time:
		return stamp(c.i).AppendFormat(dst, timeForm)
	}
	return append(dst, m.buf[c.from:c.to]...)
}

const (
	dateForm = "2006-01-02"
	timeForm = "2006-01-02T15:04:05.000Z"
)
