package foreign

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/profiles/mix/model"
)

// What stands for a key and for a value in a command.
const (
	keyWord  = "__key__"
	dataWord = "__data__"
)

// memtierData is the one set of data that a command line is about.
const memtierData = "memtier"

// loadedBy takes another command of the file as the one that loads what is read.
func (m *memtier) loadedBy(load *memtier) {
	where, key := load.at(load.line), memtierTool
	switch {
	case Refusal(load.notes) != nil:
		m.notes = append(load.notes, m.notes...)
	case !load.justSets():
		m.refuse(where, key, "a file is one workload, and this is another one before that of line %d; it may only be a load, which sets values and does nothing else", m.line)
	case load.prefix != m.prefix:
		m.refuse(where, key, "it loads keys that begin with %q, and line %d uses others", load.prefix, m.line)
	default:
		m.about(where, key, "the records that it would set are loaded before the run where they are missing; how they are loaded is up to perfbench")
		m.loads = load
	}
}

// justSets reports whether a command does nothing but set values.
func (m *memtier) justSets() bool {
	if len(m.commands) == 0 {
		return m.get == 0
	}
	for i := range m.commands {
		if s := m.native(&m.commands[i]); s == nil || s.Do != model.Put {
			return false
		}
	}
	return true
}

// workload puts together what the options come to.
func (m *memtier) workload() *model.Workload {
	if m.min > m.max {
		m.refuse(m.at(m.line), "--key-minimum", "%d is above --key-maximum, %d", m.min, m.max)
		m.min = m.max
	}
	if !m.size.Given() {
		m.size = model.One(32)
	}
	d := model.Data{
		Name: memtierData, Type: model.Value, Records: m.max + 1, Size: m.size, TTL: m.ttl, Key: model.KeyForm{Prefix: m.prefix}, Cached: true,
	}
	if l := m.loads; l != nil {
		d.Warm, d.Records = true, max(d.Records, l.max+1)
		if d.Size = l.size; !d.Size.Given() {
			d.Size = model.One(32)
		}
	}
	connections := m.clients * m.threads
	w := &model.Workload{
		Data: []model.Data{d}, Operations: m.operations(),
		Run: model.Run{Threads: int(connections), Rate: m.rate * float64(connections), Duration: time.Duration(m.seconds) * time.Second},
	}
	each := m.requests
	switch {
	case m.allKeys && m.patterns == [2]byte{'P', 'P'} && len(m.commands) == 0:
		each = (m.max-m.min)/connections + 1
	case m.allKeys:
		each = m.max - m.min
	case each == 0 && m.seconds == 0:
		each = 10_000
	}
	if each > math.MaxInt64/connections {
		m.refuse(m.at(m.line), "--requests", "%d for each of %d connections is more than can be counted", each, connections)
		each = 0
	}
	w.Run.Count = each * connections
	return w
}

// written returns what size a put has, where it is not that of what was loaded.
func (m *memtier) written() model.Number {
	if m.loads == nil {
		return model.Number{}
	}
	return m.size
}

// keys returns what a letter stands for.
func (m *memtier) keys(pattern byte) model.Keys {
	k := model.Keys{From: m.min, To: m.max + 1}
	switch pattern {
	case 'S', 'P':
		k.Kind = model.Sequential
	case 'Z':
		k.Kind, k.Exponent = model.ZipfInOrder, m.zipf
	case 'G':
		n := float64(m.max + 1 - m.min)
		k.Kind, k.Mean, k.Deviation = model.Gaussian, 0.5, 1.0/6
		if m.median > 0 {
			k.Mean = share((m.median - float64(m.min)) / n)
		}
		if m.stddev > 0 {
			k.Deviation = m.stddev / n
		}
	default:
		k.Kind = model.Uniform
	}
	return k
}

func (m *memtier) operations() []model.Operation {
	if len(m.commands) > 0 {
		var out []model.Operation
		used := map[string]int{}
		for i := range m.commands {
			c := &m.commands[i]
			name := strings.ToLower(c.words[0].text)
			name = strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
					return r
				}
				return '-'
			}, name)
			if used[name]++; used[name] > 1 {
				name = fmt.Sprintf("%s-%d", name, used[name])
			}
			out = append(out, model.Operation{Name: name, Weight: float64(c.ratio), Steps: []model.Step{m.step(c)}})
		}
		return out
	}
	step := model.Step{Data: memtierData, Pipeline: int(m.pipeline), Where: m.at(m.line)}
	var out []model.Operation
	if m.set > 0 {
		s := step
		s.Do, s.Keys, s.Size = model.Put, m.keys(m.patterns[0]), m.written()
		out = append(out, model.Operation{Name: "set", Weight: float64(m.set), Steps: []model.Step{s}})
	}
	if m.get > 0 {
		s, weight := step, float64(m.get)
		s.Do, s.Keys = model.Get, m.keys(m.patterns[1])
		if m.multi > 0 { // a command has at most as many keys as there are gets in a turn
			keys := min(m.multi, m.get)
			s.Batch = model.One(keys)
			weight /= float64(keys)
		}
		out = append(out, model.Operation{Name: "get", Weight: weight, Steps: []model.Step{s}})
	}
	return out
}

// step returns what a command does.
func (m *memtier) step(c *memtierCommand) model.Step {
	if s := m.native(c); s != nil {
		return *s
	}
	// The store's own statement: ? stands for a key or a value.
	s := model.Step{Do: model.Statement, Where: c.where, Pipeline: int(m.pipeline), Data: memtierData, Keys: m.keys(c.pattern)}
	var text []string
	for _, w := range c.words {
		switch w.text {
		case keyWord:
			s.Args = append(s.Args, model.Arg{Kind: model.ArgKey, Data: memtierData, Keys: m.keys(c.pattern)})
			text = append(text, "?")
		case dataWord:
			s.Args = append(s.Args, model.Arg{Kind: model.ArgValue, Data: memtierData, Number: m.size})
			text = append(text, "?")
		default:
			text = append(text, quoted(w.text))
		}
	}
	s.Text = strings.Join(text, " ")
	return s
}

// quoted returns a word as a statement has it.
func quoted(w string) string {
	if w == "" || strings.ContainsAny(w, " \t\n\"'?\\") {
		return strconv.Quote(w)
	}
	return w
}

// native returns a command that every store has as the step that it is; nil if it is none.
func (m *memtier) native(c *memtierCommand) *model.Step {
	s := &model.Step{Data: memtierData, Keys: m.keys(c.pattern), Pipeline: int(m.pipeline), Where: c.where}
	args := make([]string, 0, len(c.words))
	for _, w := range c.words[1:] {
		args = append(args, w.text)
	}
	each := func(pattern ...string) int64 { return times(args, pattern) }
	switch name := strings.ToUpper(c.words[0].text); name {
	case "GET":
		if each(keyWord) != 1 {
			return nil
		}
		s.Do = model.Get
	case "MGET":
		s.Do, s.Batch = model.Get, model.One(each(keyWord))
	case "DEL", "UNLINK":
		s.Do, s.Batch = model.Delete, model.One(each(keyWord))
	case "MSET":
		s.Do, s.Batch = model.Put, model.One(each(keyWord, dataWord))
	case "SET":
		s.Do = model.Put
		if len(args) == 4 && strings.EqualFold(args[2], "EX") {
			s.TTL = seconds(args[3], time.Second)
		} else if len(args) == 4 && strings.EqualFold(args[2], "PX") {
			s.TTL = seconds(args[3], time.Millisecond)
		}
		if s.TTL.Given() {
			args = args[:2]
		}
		if each(keyWord, dataWord) != 1 {
			return nil
		}
	case "SETEX", "PSETEX":
		unit := time.Second
		if name == "PSETEX" {
			unit = time.Millisecond
		}
		if len(args) != 3 || args[0] != keyWord || args[2] != dataWord {
			return nil
		}
		if s.Do, s.TTL = model.Put, seconds(args[1], unit); !s.TTL.Given() {
			return nil
		}
	default:
		return nil
	}
	if s.Do == model.Put {
		s.Size = m.written()
	}
	switch {
	case !s.Batch.Given():
	case s.Batch.Max == 0:
		return nil
	case s.Batch.Max == 1:
		s.Batch = model.Number{}
	}
	return s
}

// times returns how often words follow each other; 0 if there is anything else.
func times(args, pattern []string) int64 {
	if len(args) == 0 || len(args)%len(pattern) != 0 {
		return 0
	}
	for i, a := range args {
		if a != pattern[i%len(pattern)] {
			return 0
		}
	}
	return int64(len(args) / len(pattern))
}

// seconds reads a time to live; it is not given if the text is none.
func seconds(text string, unit time.Duration) model.Number {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > 1<<31 {
		return model.Number{}
	}
	return model.One(n * int64(unit))
}
