package request

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

// Sweep is what to sweep over, as in the flags of the sweep command.
type Sweep struct {
	// Over are the knobs, in the form NAME=LIST; Repeat is how many runs there are at
	// each point.
	Over   []string
	Repeat string
	// Fault is what each run has at its middle, such as power-cut:primary.
	Fault string
	// Spelled holds, by the texts of Over, what a file says for those that mention
	// environment variables: it is written back in place of a secret.
	Spelled map[string]string
}

// Asked returns what a sweep is begun with.
func (s *Sweep) Asked() sweep.Asked {
	return sweep.Asked{Over: s.Over, Repeat: s.Repeat, Fault: s.Fault}
}

// Above returns s with empty fields taken from below, which may be nil.
func (s Sweep) Above(below *Sweep) Sweep {
	if below == nil {
		return s
	}
	if len(s.Over) == 0 {
		s.Over, s.Spelled = below.Over, below.Spelled
	}
	s.Repeat, s.Fault = cmp.Or(s.Repeat, below.Repeat), cmp.Or(s.Fault, below.Fault)
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
	wordOver  = "over"

	wordUnder     = "under"
	wordRecovers  = "recovers"
	wordThreshold = "threshold"
)

func parts() []part {
	return []part{
		{wordFind, "look for the highest rate, or number of threads, that meets conditions", []workload.Param{
			{Name: wordUnder, Kind: workload.List, Help: "what must hold: p99<10ms, errors<1%"},
			{Name: wordRecovers, Kind: workload.Switch, Help: "instead of what must hold: the highest base load from which the store comes back after an overload"},
			{Name: "over", Kind: workload.Text, Help: "what is raised: rate, or threads"},
			{Name: "from", Kind: workload.Number, Help: "where the search begins"},
			{Name: "to", Kind: workload.Number, Help: "the most to try"},
		}},
		{wordSweep, "do a run at each value of a knob, or at each pair of the values of two", []workload.Param{
			{Name: "over", Kind: workload.List, Help: "a knob or parameter, or target, with its values: threads=1,2,4,…,64"},
			{Name: "repeat", Kind: workload.Integer, Help: "how many runs there are at each point"},
			{Name: "fault", Kind: workload.Text, Help: "what each run has at its middle, for a tenth of it: power-cut, power-cut:torn, kill, delay:5ms"},
		}},
	}
}

// readPart reads the keys below one of parts.
func (s *section) readPart(what part, key, val yaml.Node) {
	gone := val.IsNull()
	s.parts[what.name] = entry{texts: []string{""}, where: key.Where(), null: gone}
	if gone {
		for _, w := range what.words {
			s.parts[what.name+"."+w.Name] = entry{null: true}
		}
		return
	}
	if val.Kind() != yaml.Mapping {
		key.Fail("write them below it, indented, such as  "+what.words[0].Name+": …", "%s takes keys of its own", what.name)
		return
	}
	var names []string
	for _, w := range what.words {
		names = append(names, w.Name)
	}
	val.Each(yaml.Keys{What: what.name, Names: names, Hint: func(_, v yaml.Node) string {
		if v.IsNull() && val.IsFlow() {
			return "a text with commas needs quotes within { }"
		}
		return ""
	}}, func(k, v yaml.Node) {
		word := what.words[slices.Index(names, k.Text())]
		read := func(word workload.Param, v yaml.Node) ([]string, bool) {
			texts, _, ok := readTexts(word, v)
			return texts, ok
		}
		if what.name == wordSweep && word.Name == "over" && v.Kind() == yaml.Mapping {
			read = readAxes
		}
		if texts, ok := read(word, v); ok {
			s.parts[what.name+"."+word.Name] = entry{texts: texts, where: k.Where(), null: v.IsNull()}
		}
	})
}

// readAxes reads knobs with their values below them.
func readAxes(_ workload.Param, n yaml.Node) ([]string, bool) {
	var out []string
	for name, list := range n.Pairs() {
		values := []string{list.Text()}
		if list.Kind() == yaml.List {
			values = nil
			for _, v := range list.Items() {
				values = append(values, v.Text())
			}
		}
		if list.Kind() != yaml.Scalar && list.Kind() != yaml.List ||
			slices.ContainsFunc(list.Items(), func(v yaml.Node) bool { return v.Kind() != yaml.Scalar }) {
			name.Fail("write it like  threads: [1, 2, 4, …, 64]", "over: %s takes a list of values", name.Text())
			return nil, false
		}
		out = append(out, name.Text()+"="+strings.Join(values, ","))
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

// Searching returns r as the search that flags ask for, with what they leave empty taken from Find;
// without a condition it is under the thresholds. Where a flag wins, no line of a plan is left as where
// that came from.
func (r Run) Searching(flags find.Asked) Run {
	from := maps.Clone(r.Request.From)
	for word, given := range (&Run{Find: &flags}).ofSearch() {
		if given {
			forget(from, wordFind+"."+word)
		}
	}
	asked := flags.Above(r.Find)
	if len(asked.Under) == 0 { // by the name that the conditions of run have
		asked.Under, r.Request.Thresholds = r.Request.Thresholds, nil
		for key, where := range r.Request.From {
			if item, is := strings.CutPrefix(key, wordThreshold); is && (item == "" || item[0] == ' ') {
				from[wordFind+"."+wordUnder+item] = where
			}
		}
		forget(from, wordThreshold)
	}
	r.Find, r.Request.From = &asked, from
	return r
}

// Sweeping returns r as the sweep that flags ask for, with what they leave empty taken from Sweep, and
// with where a plan gives that alone.
func (r Run) Sweeping(flags Sweep) Run {
	from := maps.Clone(r.Request.From)
	for word, given := range map[string]bool{wordOver: len(flags.Over) > 0, "repeat": flags.Repeat != "", "fault": flags.Fault != ""} {
		if given {
			forget(from, wordSweep+"."+word)
		}
	}
	asked := flags.Above(r.Sweep)
	r.Sweep, r.Request.From = &asked, from
	return r
}

// ofSearch tells of each word of a search whether it is given.
func (r *Run) ofSearch() map[string]bool {
	under := len(r.Find.Under) > 0
	return map[string]bool{wordUnder: under, wordRecovers: under, wordOver: r.Find.Over != "", "from": r.Find.From != "", "to": r.Find.To != ""}
}

// flagOfSearch reports whether an input of a search was given, and not by a plan.
func (r *Run) flagOfSearch(field string) bool {
	from := r.Request.From
	return r.ofSearch()[field] && from[wordFind+"."+field] == "" && (field != wordUnder || from[wordFind+"."+wordRecovers] == "")
}

// find returns the search that a section requests; nil if none.
func (s *section) find() *find.Asked {
	if _, ok := s.parts[wordFind]; !ok {
		return nil
	}
	under := s.parts["find.under"].texts
	if on, err := (workload.Value{Text: s.inPart("find.recovers")}).Bool(); err == nil && on {
		under = find.Recovering(under)
	}
	return &find.Asked{Under: under, Over: s.inPart("find.over"), From: s.inPart("find.from"), To: s.inPart("find.to")}
}

// sweep returns the sweep that a section requests; nil if none. Unless the sweep says
// how often its points are run, the key repeat next to it does.
func (s *section) sweep() *Sweep {
	if _, ok := s.parts[wordSweep]; !ok {
		return nil
	}
	over := s.parts["sweep.over"]
	out := &Sweep{Over: over.texts, Repeat: s.inPart("sweep.repeat"), Fault: s.inPart("sweep.fault")}
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
	if r.Find != nil && r.Sweep != nil {
		return fault.Input(errors.New("find: a run is a search or a sweep, and not both"), "leave one of them out; an empty find: or sweep: removes what is set for all runs")
	}
	if r.Sweep == nil {
		return nil
	}
	r.Repeat.Times = ""
	var problems workload.Problems
	for _, w := range []struct{ name, text string }{
		{"repeat", r.Repeat.Times}, {"against", r.Repeat.Against}, {"against-set", strings.Join(r.Repeat.Sets, "")}, {"tolerance", r.Repeat.Tolerance}, {"unsure", r.Repeat.Unsure},
	} {
		if w.text == "" {
			continue
		}
		err, hint := fmt.Errorf("%s: the runs of a sweep are compared with no other", w.name), "leave "+w.name+" out"
		if from := r.Request.From[w.name]; from != "" {
			err, hint = fmt.Errorf("%w (%s)", err, from), hint+"; an empty "+w.name+": removes what is set for all runs"
		}
		problems.Add(fault.Input(err, hint))
	}
	return problems.Err()
}
