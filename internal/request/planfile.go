package request

import (
	"fmt"
	"maps"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/workload"
)

// File is the content of a plan file.
type File struct {
	// Runs are in the order in which they are to be done.
	Runs []Run
	// Suite means that the file has a list of runs, even if it is a list of one.
	Suite bool
	// StopOnFailure means that runs after a failed one are skipped.
	StopOnFailure bool
}

// Run is one run of a file, or a search or sweep in its place.
type Run struct {
	// Name is the name of the run, such as "run 2" if the file gives none.
	Name    string
	Request Request
	// Repeat is zero for a run that is done once.
	Repeat Repeat
	// Find and Sweep are nil for a plain run. At most one of them is not.
	Find  *find.Asked
	Sweep *Sweep
}

// NameOf is the name that is kept with a run of the file: its own, where the file asks for several.
func (f *File) NameOf(r *Run) string {
	if !f.Suite {
		return ""
	}
	return r.Name
}

// Plain returns the one plain run that a file asks for; nil if it asks for several, for a search or
// for a sweep.
func (f *File) Plain() *Request {
	if f.Suite || len(f.Runs) != 1 {
		return nil
	}
	if r := &f.Runs[0]; r.Find == nil && r.Sweep == nil && r.Repeat.Times == "" {
		return &r.Request
	}
	return nil
}

// Repeat says how often a run is done, and with which other it takes turns, as in the
// flags repeat, against, against-set, tolerance, unsure and aa.
type Repeat struct {
	Times, Against, Tolerance, Unsure string
	Sets                              []string
	// AA compares the repeats with each other, to tell how much runs differ.
	AA bool
}

// Any reports whether anything was asked for.
func (r Repeat) Any() bool {
	return r.Times != "" || r.Against != "" || r.Tolerance != "" || r.Unsure != "" || len(r.Sets) > 0 || r.AA
}

// Over returns r with empty fields taken from below.
func (r Repeat) Over(below Repeat) Repeat {
	mine, under := Run{Repeat: r}, Run{Repeat: below}
	mine.overlay(&under)
	return mine.Repeat
}

// Given returns the names of what is asked for.
func (r Repeat) Given() []string {
	mine := Run{Repeat: r}
	return mine.overlay(&Run{})
}

// overlay takes from below what r leaves empty of the fields that are no values, and
// returns the names of those that r has itself.
func (r *Run) overlay(below *Run) (given []string) {
	for _, f := range Fields() {
		switch {
		case f.text != nil && *f.text(r) == "":
			*f.text(r) = *f.text(below)
		case f.list != nil && len(*f.list(r)) == 0:
			*f.list(r) = *f.list(below)
		case f.text != nil || f.list != nil:
			given = append(given, f.Name)
		}
	}
	return given
}

// Read parses the plan file called name, whose paths are relative to its folder;
// variables are looked up in environ, which holds NAME=value. Errors name the line,
// have the code of bad input, and are all joined. Along with errors it returns what
// could be understood, so that it can be checked further, or nil.
func Read(name string, data []byte, environ []string) (*File, error) {
	shared, runs, stop, err := parse(name, data)
	if shared == nil {
		return nil, err
	}
	var problems, unset workload.Problems
	problems.Add(err)
	out := &File{Suite: runs != nil, StopOnFailure: stop}
	for _, s := range append([]*section{shared}, runs...) {
		unset.Add(s.expand(environ))
	}
	if unset.Err() != nil {
		problems.Add(unset.Err())
		return nil, problems.Err() // the other errors would be about missing keys
	}
	if !out.Suite {
		runs = []*section{newSection(0)}
	}
	seen := map[string]int{}
	for i, s := range runs {
		r := s.over(shared).run(name)
		problems.Add(ahead(r.Check()))
		if r.Name == "" {
			r.Name = fmt.Sprintf("run %d", i+1)
		}
		if first, ok := seen[r.Name]; ok && out.Suite {
			problems.Add(fault.Input(fmt.Errorf("%s:%d: the run on line %d already has the name %q", name, s.line, first, r.Name), "each run of a suite has a name of its own"))
		}
		seen[r.Name] = s.line
		out.Runs = append(out.Runs, r)
	}
	return out, problems.Err()
}

// entry is the value of a key.
type entry struct {
	texts []string
	// where is the file and line, lines are those of each text of a list; nil for one value.
	where string
	lines []string
	// spelled are the texts before their variables were replaced; nil if there were
	// none.
	spelled []string
	// order is the position in the file; null means that the value is removed.
	order int
	null  bool
}

// spelledAt returns the text in the file if it mentions variables, otherwise "".
func (e entry) spelledAt(i int) string {
	if e.spelled == nil || e.spelled[i] == e.texts[i] {
		return ""
	}
	return e.spelled[i]
}

// section is what a file says about one run, or about all of them; parts has the keys
// of find and sweep, such as find.under, and those two themselves.
type section struct {
	line                int
	entries, set, parts map[string]entry
}

func newSection(line int) *section {
	return &section{line: line, entries: map[string]entry{}, set: map[string]entry{}, parts: map[string]entry{}}
}

// over returns s with missing keys taken from shared.
func (s *section) over(shared *section) *section {
	out := &section{line: s.line, entries: maps.Clone(shared.entries), set: maps.Clone(shared.set), parts: maps.Clone(shared.parts)}
	for name := range s.entries {
		delete(out.set, name)
	}
	for name := range s.set {
		delete(out.entries, name)
	}
	maps.Copy(out.entries, s.entries)
	maps.Copy(out.set, s.set)
	maps.Copy(out.parts, s.parts)
	gone := func(_ string, e entry) bool { return e.null }
	maps.DeleteFunc(out.entries, gone)
	maps.DeleteFunc(out.set, gone)
	maps.DeleteFunc(out.parts, gone)
	return out
}

// run turns keys into a request.
func (s *section) run(name string) Run {
	out := Run{Find: s.find(), Sweep: s.sweep(), Request: Request{Values: workload.Values{}, From: map[string]string{}, Spelled: map[string]string{}}}
	for _, f := range Fields() {
		e, ok := s.entries[f.Name]
		switch {
		case !ok:
			continue
		case f.IsValue():
			out.put(f.Name, e)
			continue
		}
		texts := slices.Clone(e.texts)
		for i := range texts {
			if f.path {
				texts[i] = within(name, texts[i])
			}
		}
		if f.text != nil {
			*f.text(&out) = texts[0]
		} else {
			*f.list(&out) = texts
		}
		out.Request.From[f.Name] = workload.OriginPlan.String() + " " + e.where
		for i, line := range e.lines {
			out.Request.From[itemOf(f.Name, texts[i])] = workload.OriginPlan.String() + " " + line
		}
		out.spell(f.Name, e)
	}
	for word, e := range s.set {
		out.put(word, e)
	}
	for word, e := range s.parts {
		out.Request.From[word] = workload.OriginPlan.String() + " " + e.where
	}
	if out.Sweep != nil {
		out.Repeat.Times = "" // its points have it
	}
	return out
}

func (r *Run) put(name string, e entry) {
	r.Request.Values.Set(workload.Value{Name: name, Text: e.texts[0], Origin: workload.OriginPlan, Where: e.where, Order: e.order})
	r.spell(name, e)
}

func (r *Run) spell(name string, e entry) {
	if len(e.texts) == 1 && e.spelledAt(0) != "" {
		r.Request.Spelled[name] = e.spelled[0]
	}
}
