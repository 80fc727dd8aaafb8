package request

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/search/found"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Sweep is what to sweep over, as in the flags of the sweep command.
type Sweep struct {
	// Over are the knobs, in the form NAME=LIST; Repeat is how many runs there are at
	// each point.
	Over   []string
	Repeat string
	// Spelled holds, by the texts of Over, what a file says for those that mention
	// environment variables: it is written back in place of a secret.
	Spelled map[string]string
}

// Above returns s with empty fields taken from below, which may be nil.
func (s Sweep) Above(below *Sweep) Sweep {
	if below == nil {
		return s
	}
	if len(s.Over) == 0 {
		s.Over, s.Spelled = below.Over, below.Spelled
	}
	s.Repeat = cmp.Or(s.Repeat, below.Repeat)
	return s
}

// part is a key that has keys of its own: something to be done other than a plain run.
type part struct {
	name, help string
	words      []workload.Param
}

const (
	wordFind  = "find"
	wordSweep = "sweep"
)

func parts() []part {
	return []part{
		{wordFind, "look for the highest rate, or number of threads, that meets conditions", []workload.Param{
			{Name: "under", Kind: workload.List, Help: "what must hold: p99<10ms, errors<1%"},
			{Name: "over", Kind: workload.Text, Help: "what is raised: rate, or threads"},
			{Name: "from", Kind: workload.Number, Help: "where the search begins"},
			{Name: "to", Kind: workload.Number, Help: "the most to try"},
		}},
		{wordSweep, "do a run at each value of a knob, or at each pair of the values of two", []workload.Param{
			{Name: "over", Kind: workload.List, Help: "a knob or parameter, or target, with its values: threads=1,2,4,…,64"},
			{Name: "repeat", Kind: workload.Integer, Help: "how many runs there are at each point"},
		}},
	}
}

// part reads the keys below one of parts.
func (p *parser) part(s *section, what part, key, val *yaml.Node) {
	gone := val.Tag == "!!null"
	s.parts[what.name] = entry{texts: []string{""}, where: p.where(key), null: gone}
	if gone {
		for _, w := range what.words {
			s.parts[what.name+"."+w.Name] = entry{null: true}
		}
		return
	}
	if val.Kind != yaml.MappingNode {
		p.fail(key, "write them below it, indented, such as  "+what.words[0].Name+": …", "%s takes keys of its own", what.name)
		return
	}
	var names []string
	for _, w := range what.words {
		names = append(names, w.Name)
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(val.Content); i += 2 {
		k, v := val.Content[i], val.Content[i+1]
		at := slices.Index(names, k.Value)
		if at < 0 {
			if p.unknowns++; p.unknowns > mostUnknown {
				continue
			}
			hint := suggest.Hint(k.Value, names, suggest.PlanKeys)
			if v.Tag == "!!null" && val.Style&yaml.FlowStyle != 0 {
				hint = "a text with commas needs quotes within { }"
			}
			p.fail(k, hint, "%s has no key %q", what.name, k.Value)
			continue
		}
		if first, ok := lines[k.Value]; ok {
			p.fail(k, "", "%s is already on line %d", k.Value, first)
			continue
		}
		lines[k.Value] = k.Line
		read := p.texts
		if what.name == wordSweep && k.Value == "over" && v.Kind == yaml.MappingNode {
			read = p.axes
		}
		if texts, ok := read(what.words[at], v); ok {
			s.parts[what.name+"."+k.Value] = entry{texts: texts, where: p.where(k), null: v.Tag == "!!null"}
		}
	}
}

// axes reads knobs with their values below them.
func (p *parser) axes(_ workload.Param, n *yaml.Node) ([]string, bool) {
	var out []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, list := n.Content[i].Value, n.Content[i+1]
		values := []string{list.Value}
		if list.Kind == yaml.SequenceNode {
			values = nil
			for _, v := range list.Content {
				values = append(values, v.Value)
			}
		}
		if list.Kind != yaml.ScalarNode && list.Kind != yaml.SequenceNode ||
			slices.ContainsFunc(list.Content, func(v *yaml.Node) bool { return v.Kind != yaml.ScalarNode }) {
			p.fail(n.Content[i], "write it like  threads: [1, 2, 4, …, 64]", "over: %s takes a list of values", name)
			return nil, false
		}
		out = append(out, name+"="+strings.Join(values, ","))
	}
	return out, len(out) > 0
}

// redacted returns the list of a knob's values without the secrets in targets, and the
// names of those secrets.
func redacted(over string) (string, []string) {
	name, list, _ := strings.Cut(over, "=")
	var hidden []string
	values := store.SplitTargets(list)
	for i, v := range values {
		t, err := store.ParseTarget(v)
		if err != nil {
			continue
		}
		if public, secrets := t.Public(); len(secrets) > 0 {
			values[i] = public.Redacted()
			hidden = append(hidden, secrets...)
		}
	}
	return name + "=" + strings.Join(values, ","), slices.Compact(hidden)
}

// find returns the search that a section requests; nil if none.
func (s *section) find() *found.Asked {
	if _, ok := s.parts[wordFind]; !ok {
		return nil
	}
	return &found.Asked{Under: s.parts["find.under"].texts, Over: s.inPart("find.over"), From: s.inPart("find.from"), To: s.inPart("find.to")}
}

// sweep returns the sweep that a section requests; nil if none. Unless the sweep says
// how often its points are run, the key repeat next to it does.
func (s *section) sweep() *Sweep {
	if _, ok := s.parts[wordSweep]; !ok {
		return nil
	}
	over := s.parts["sweep.over"]
	out := &Sweep{Over: over.texts, Repeat: s.inPart("sweep.repeat")}
	if e, ok := s.entries["repeat"]; ok {
		out.Repeat = cmp.Or(out.Repeat, e.texts[0])
	}
	for i, text := range over.texts {
		if over.spelledAt(i) != "" {
			if out.Spelled == nil {
				out.Spelled = map[string]string{}
			}
			out.Spelled[text] = over.spelledAt(i)
		}
	}
	return out
}

func (s *section) inPart(name string) string {
	if e, ok := s.parts[name]; ok {
		return e.texts[0]
	}
	return ""
}

// Check says what a run cannot have in combination with a search or a sweep. Errors
// have the code of bad input. Read has checked the runs that it returns.
func (r Run) Check() error {
	what := "a search is done once, and compared with no other"
	switch {
	case r.Find != nil && r.Sweep != nil:
		return fault.Input(errors.New("find: a run is a search or a sweep, and not both"), "leave one of them out; an empty find: or sweep: removes what is set for all runs")
	case r.Sweep != nil:
		what = "the runs of a sweep are compared with no other"
		r.Repeat.Times = ""
	case r.Find == nil:
		return nil
	}
	var problems workload.Problems
	for _, w := range []struct{ name, text string }{
		{"repeat", r.Repeat.Times}, {"against", r.Repeat.Against}, {"against-set", strings.Join(r.Repeat.Sets, "")}, {"tolerance", r.Repeat.Tolerance}, {"unsure", r.Repeat.Unsure},
	} {
		if w.text == "" {
			continue
		}
		err, hint := fmt.Errorf("%s: %s", w.name, what), "leave "+w.name+" out"
		if from := r.Request.From[w.name]; from != "" {
			err, hint = fmt.Errorf("%w (%s)", err, from), hint+"; an empty "+w.name+": removes what is set for all runs"
		}
		problems.Add(fault.Input(err, hint))
	}
	return problems.Err()
}
