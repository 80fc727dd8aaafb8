package datagen

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// kindWords are the types that a field may name, each with its default generator.
var kindWords = []struct{ word, generator string }{
	{"text", genText}, {"integer", genInteger}, {"float", genFloat}, {"decimal", genDecimal},
	{"boolean", genBoolean}, {"date", genDate}, {"time", genTime}, {"uuid", genUUID},
}

// reading is the state for reading the values of one field.
type reading struct {
	*fieldDraft
	r *values.Reader
	o *Object
}

// fail rejects the value of a key.
func (p *reading) fail(v workload.Value, hint, format string, args ...any) {
	p.r.Fail(hint, "%v", fail(place(v), p.o.Name, p.f.Name, format, args...))
}

// read reads a field; isKey says whether it is the key of its object.
func (d *fieldDraft) read(r *values.Reader, o *Object, isKey bool) {
	p := &reading{d, r, o}
	g := p.generator()
	if g == nil {
		return
	}
	f := d.f
	f.Generator, f.Kind, f.gen = g.name, g.kind, g.make
	known := append([]string{"generator", "type", "index", ""}, g.keys...)
	for _, key := range sortedKeys(d.keys) {
		if v := d.keys[key]; !slices.Contains(known, key) {
			p.fail(v, fault.Suggest(key, known[:len(known)-1]), "the generator %s has no %q", g.name, key)
		}
	}
	p.on("index", &f.Index)
	p.on("payload", &f.Payload)
	p.on("foreignKey", &f.ForeignKey)
	switch g.name {
	case genSequence:
		p.sequence(isKey)
	case genInteger:
		f.lo, f.hi = p.integers("range", 0, math.MaxInt32, math.MinInt64/4, math.MaxInt64/4)
	case genFloat:
		f.flo, f.fhi = p.floats("range", 0, 1)
	case genDecimal:
		p.decimal()
	case genText:
		f.lo, f.hi = p.integers("length", 20, 20, 0, hugeText)
	case genWords:
		f.lo, f.hi = p.integers("length", 3, 3, 1, 1000)
	case genPick:
		p.pick()
	case genDate, genTime:
		p.times()
	case genBoolean:
		f.share = 0.5
		if v, ok := p.keys["share"]; ok {
			f.share = p.float(v, 0, 1)
		}
	case genTemplate:
		p.template()
	}
	p.kind()
}

func sortedKeys(m map[string]workload.Value) []string {
	vs := workload.Values(m)
	return vs.Names()
}

// generator finds the keyword for how the value is generated: the field's own, that of
// its type, or a short form.
func (p *reading) generator() *generator {
	v, ok := p.keys["generator"]
	word := strings.TrimSpace(v.Text)
	if short, given := p.keys[""]; given && !ok {
		v, ok = short, true
		switch word = strings.TrimSpace(short.Text); {
		case strings.Contains(word, "{"):
			p.keys["template"], word = short, genTemplate
		case strings.Contains(word, "#"):
			p.keys["pattern"], word = short, genSequence
		}
	}
	if !ok {
		word = p.implied()
	}
	if word == "" {
		t, typed := p.keys["type"]
		if !typed {
			p.fail(p.at, "one of "+strings.Join(generatorNames(), ", "), "has no generator")
			return nil
		}
		v, word = t, strings.TrimSpace(t.Text)
		i := slices.IndexFunc(kindWords, func(k struct{ word, generator string }) bool { return k.word == word })
		if i < 0 {
			p.unknownType(t)
			return nil
		}
		word = kindWords[i].generator
	}
	g := generatorOf(word)
	if g == nil {
		p.fail(v, fault.Meant(word, generatorNames()), "there is no generator %q: there are %s", word, strings.Join(generatorNames(), ", "))
	}
	return g
}

// implied returns the generator of keys that name none.
func (p *reading) implied() string {
	for _, c := range []struct{ key, word string }{{"parent", genParent}, {"template", genTemplate}, {"values", genPick}, {"pattern", genSequence}} {
		if _, ok := p.keys[c.key]; ok {
			return c.word
		}
	}
	return ""
}

func (p *reading) unknownType(t workload.Value) {
	var words []string
	for _, k := range kindWords {
		words = append(words, k.word)
	}
	p.fail(t, fault.Meant(strings.TrimSpace(t.Text), words), "there is no type %q: there are %s", t.Text, strings.Join(words, ", "))
}

// kind checks the type that a field names against that of its generator.
func (p *reading) kind() {
	t, ok := p.keys["type"]
	if !ok {
		return
	}
	word, f := strings.TrimSpace(t.Text), p.f
	if !slices.ContainsFunc(kindWords, func(k struct{ word, generator string }) bool { return k.word == word }) {
		p.unknownType(t)
		return
	}
	if word == "uuid" && f.Generator == genUUID || word == string(f.Kind) {
		return
	}
	p.fail(t, "leave type out", "type %s does not go with the generator %s, which makes %s", word, f.Generator, f.Kind)
}

func (p *reading) on(key string, to *bool) {
	v, ok := p.keys[key]
	if !ok {
		return
	}
	on, err := v.Bool()
	if err != nil {
		p.fail(v, "on or off", "%s: %q is neither on nor off", key, v.Text)
	}
	*to = on
}

// span reads A..B, or one value for both ends.
func (p *reading) span(key string) (v workload.Value, lo, hi string, ok bool) {
	v, ok = p.keys[key]
	text := strings.TrimSpace(v.Text)
	lo, hi, two := strings.Cut(text, "..")
	if !two {
		hi = lo
	}
	return v, strings.TrimSpace(lo), strings.TrimSpace(hi), ok
}

// integers reads a span of whole numbers or sizes.
func (p *reading) integers(key string, lo, hi, least, most int64) (from, to int64) {
	v, a, b, ok := p.span(key)
	if !ok {
		return lo, hi
	}
	from, err1 := whole(a)
	to, err2 := whole(b)
	switch {
	case err1 != nil || err2 != nil:
		p.fail(v, "for example  "+key+": 1..100", "%s: %q is neither a whole number nor two with .. between", key, v.Text)
	case from > to:
		p.fail(v, "the smaller one first", "%s: %q ends before it begins", key, v.Text)
	case from < least || to > most:
		p.fail(v, "", "%s: %q is not within %d..%d", key, v.Text, least, most)
	default:
		return from, to
	}
	return lo, hi
}

func whole(s string) (int64, error) {
	if n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64); err == nil {
		return n, nil
	}
	return units.ParseSize(s)
}

func (p *reading) float(v workload.Value, lo, hi float64) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	if err != nil || x < lo || x > hi || math.IsNaN(x) {
		_, key, _ := strings.Cut(strings.TrimPrefix(v.Name, prefix), ".fields."+p.f.Name+".")
		p.fail(v, "", "%s: %q is not a number within %g..%g", key, v.Text, lo, hi)
		return lo
	}
	return x
}

func (p *reading) floats(key string, lo, hi float64) (from, to float64) {
	v, a, b, ok := p.span(key)
	if !ok {
		return lo, hi
	}
	from, err1 := strconv.ParseFloat(a, 64)
	to, err2 := strconv.ParseFloat(b, 64)
	if err := errors.Join(err1, err2); err != nil || from > to || math.IsInf(to-from, 0) || math.IsNaN(to-from) {
		p.fail(v, "for example  "+key+": 0..99.5", "%s: %q is not two numbers in order with .. between", key, v.Text)
		return lo, hi
	}
	return from, to
}

// decimal reads amounts, as whole numbers in units of their last digit.
func (p *reading) decimal() {
	f := p.f
	n := int64(2)
	if _, ok := p.keys["decimals"]; ok {
		n, _ = p.integers("decimals", 2, 2, 0, 6)
	}
	f.digits, f.scale = int(n), 1
	for range n {
		f.scale *= 10
	}
	lo, hi := p.floats("range", 0, 100)
	if math.Abs(lo)*float64(f.scale) > 1<<52 || math.Abs(hi)*float64(f.scale) > 1<<52 {
		p.fail(p.keys["range"], "use fewer decimals, or the generator float", "range: %q has more digits than an amount can have", p.keys["range"].Text)
		lo, hi = 0, 100
	}
	f.lo, f.hi = int64(math.Round(lo*float64(f.scale))), int64(math.Round(hi*float64(f.scale)))
}

// sequence reads consecutive numbers, in a pattern or bare. Keys are texts.
func (p *reading) sequence(isKey bool) {
	f := p.f
	f.start, f.step = 1, 1
	if _, ok := p.keys["start"]; ok {
		f.start, _ = p.integers("start", 1, 1, math.MinInt32, math.MaxInt64/4)
	}
	if v, ok := p.keys["step"]; ok {
		if f.step, _ = p.integers("step", 1, 1, math.MinInt32, math.MaxInt32); f.step == 0 {
			p.fail(v, "", "step: 0 makes all values the same")
		}
	}
	v, ok := p.keys["pattern"]
	if isKey || ok {
		f.Kind = Text
	}
	if !ok {
		return
	}
	text := strings.TrimSpace(v.Text)
	at := strings.IndexByte(text, '#')
	end := strings.LastIndexByte(text, '#') + 1
	if at < 0 || strings.Trim(text[at:end], "#") != "" || end-at > 19 || len(text) > 100 {
		p.fail(v, "for example  c-######", "pattern: %q does not have exactly one stretch of 1 to 19 # for the digits of the number", v.Text)
		return
	}
	f.parts, f.pad = []part{{text: text[:at], field: -1}, {text: text[end:], field: -1}}, end-at
}

// pick reads a list, with or without weights.
func (p *reading) pick() {
	f := p.f
	v, ok := p.keys["values"]
	if !ok || strings.TrimSpace(v.Text) == "" {
		p.fail(p.at, "for example  values: [red, green]", "the generator pick has no values")
		f.list, f.upTo = []string{""}, []int64{1}
		return
	}
	for _, s := range strings.Split(v.Text, ",") {
		f.list = append(f.list, strings.TrimSpace(s))
	}
	var sum int64
	weights, weighted := p.keys["weights"]
	texts := strings.Split(weights.Text, ",")
	if weighted && len(texts) != len(f.list) {
		p.fail(weights, "one weight a value", "weights: there are %d for %d values", len(texts), len(f.list))
		weighted = false
	}
	for i := range f.list {
		w := int64(1)
		if weighted {
			n, err := strconv.ParseInt(strings.TrimSpace(texts[i]), 10, 32)
			if err != nil || n < 1 {
				p.fail(weights, "", "weights: %q is not a whole number above 0", strings.TrimSpace(texts[i]))
				n = 1
			}
			w = n
		}
		sum += w
		f.upTo = append(f.upTo, sum)
	}
	p.pickType(v)
}

// pickType turns the values into numbers if the type requires it.
func (p *reading) pickType(v workload.Value) {
	f := p.f
	t := strings.TrimSpace(p.keys["type"].Text)
	if t != string(Integer) && t != string(Float) {
		return
	}
	f.Kind = Kind(t)
	for _, s := range f.list {
		n, err1 := strconv.ParseInt(s, 10, 64)
		x, err2 := strconv.ParseFloat(s, 64)
		if t == string(Integer) && err1 != nil || err2 != nil {
			p.fail(v, "", "values: %q is not of type %s", s, t)
		}
		f.ints, f.floats = append(f.ints, n), append(f.floats, x)
	}
}

// times reads a span of dates or times.
func (p *reading) times() {
	f := p.f
	v, a, b, ok := p.span("range")
	if !ok {
		a, b = "2020-01-01", "2025-12-31"
	}
	from, err1 := moment(a)
	to, err2 := moment(b)
	if errors.Join(err1, err2) != nil || to.Before(from) {
		p.fail(v, "for example  2020-01-01..2025-12-31", "range: %q is not two dates in order with .. between", v.Text)
		return
	}
	if f.Generator == genDate {
		from, to = from.Truncate(24*time.Hour), to.Truncate(24*time.Hour)
	}
	f.lo, f.hi = from.UnixMilli(), to.UnixMilli()
}

func moment(s string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	return t.UTC(), err
}

// template splits a text at the fields in braces.
func (p *reading) template() {
	v, ok := p.keys["template"]
	if !ok {
		p.fail(p.at, `for example  template: "{first}.{last}@example.com"`, "the generator template has no template")
		return
	}
	for rest := v.Text; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		if before != "" {
			p.f.parts = append(p.f.parts, part{before, -1})
		}
		if !found {
			break
		}
		name, more, closed := strings.Cut(after, "}")
		at := p.o.index(strings.TrimSpace(name))
		switch {
		case !closed:
			p.fail(v, "", "template: %q has a { without }", v.Text)
		case at < 0:
			p.fail(v, fault.Suggest(name, p.o.Columns()), "template: there is no field %q", name)
		default:
			p.f.parts = append(p.f.parts, part{"", at})
		}
		if rest = more; !closed {
			break
		}
	}
}
