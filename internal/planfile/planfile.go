// Package planfile reads and writes a whole run, or several of them, as one file: all
// that flags can say, in the words of the flags. It knows no profile; whether the values
// make a run is found out when that is prepared.
package planfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/search/found"
	"github.com/perfbench/perfbench/internal/workload"
)

// File is what a plan file says.
type File struct {
	// Runs are in the order in which they are to be done.
	Runs []Run
	// Suite says that the file lists its runs, be it one.
	Suite bool
	// StopOnFailure leaves out the runs after one that failed.
	StopOnFailure bool
}

// Run is one run of a file, or the search or sweep that it is instead.
type Run struct {
	// Name is what the run is called, "run 2" where the file does not say.
	Name    string
	Request job.Request
	// Repeat is zero for a run that is done once.
	Repeat Repeat
	// Find and Sweep are nil for a plain run. One of them at most is not.
	Find  *found.Asked
	Sweep *Sweep
}

// Repeat says how often a run is done, and with which other in turn, as the flags repeat,
// against, against-set and tolerance do.
type Repeat struct {
	Times, Against, Tolerance string
	Sets                      []string
}

// Over returns r with what it leaves out taken from below.
func (r Repeat) Over(below Repeat) Repeat {
	if len(r.Sets) == 0 {
		r.Sets = below.Sets
	}
	return Repeat{cmp.Or(r.Times, below.Times), cmp.Or(r.Against, below.Against), cmp.Or(r.Tolerance, below.Tolerance), r.Sets}
}

// Read reads the plan file called name, whose paths are relative to its folder; a
// variable that it names is looked up in environ, which holds NAME=value. Errors name
// the line, have the code of bad input, and come all together; beside them comes what
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
		return nil, problems.Err() // the rest would complain of what is not there
	}
	if !out.Suite {
		runs = []*section{newSection(0)}
	}
	seen := map[string]int{}
	for i, s := range runs {
		r := s.over(shared).run(name)
		problems.Add(r.Check())
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

// entry is what a word was given.
type entry struct {
	texts []string
	// where is the file and line.
	where string
	// spelled are the texts before their variables were replaced, nil when there were none.
	spelled []string
	// order is the place in the file, null says that the value is taken away.
	order int
	null  bool
}

// spelledAt is the text as the file has it where it names variables; otherwise empty.
func (e entry) spelledAt(i int) string {
	if e.spelled == nil || e.spelled[i] == e.texts[i] {
		return ""
	}
	return e.spelled[i]
}

// section is what a file says of one run, or of all of them; parts has the words of find
// and sweep, as find.under, and those two.
type section struct {
	line                int
	entries, set, parts map[string]entry
}

func newSection(line int) *section {
	return &section{line: line, entries: map[string]entry{}, set: map[string]entry{}, parts: map[string]entry{}}
}

// over returns s with what it leaves out taken from shared.
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

// run turns words into a request.
func (s *section) run(name string) Run {
	one := func(word string) string {
		if e, ok := s.entries[word]; ok {
			return e.texts[0]
		}
		return ""
	}
	path := func(word string) string { return within(name, one(word)) }
	repeat := Repeat{one("repeat"), one("against"), one("tolerance"), s.entries["against-set"].texts}
	out := Run{Name: one(wordName), Repeat: repeat, Find: s.find(), Sweep: s.sweep(), Request: job.Request{
		Profile: one("profile"), Preset: one("preset"), Target: one("target"), PasswordFile: path("password-file"), Out: one("out"), Facts: path("facts"),
		Timetable: s.entries["at"].texts, Thresholds: s.entries["threshold"].texts, Formats: s.entries["format"].texts, Tags: s.entries["tag"].texts,
		Values: workload.Values{}, From: map[string]string{}, Spelled: map[string]string{},
	}}
	for _, file := range s.entries["file"].texts {
		out.Request.Files = append(out.Request.Files, within(name, file))
	}
	for _, word := range slices.Sorted(maps.Keys(s.entries)) {
		e := s.entries[word]
		if isValue(word) {
			out.put(word, e)
			continue
		}
		out.Request.From[word] = workload.OriginPlan.String() + " " + e.where
		out.spell(word, e)
	}
	for word, e := range s.set {
		out.put(word, e)
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
