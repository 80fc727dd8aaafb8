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

// Run is one run of a file.
type Run struct {
	// Name is what the run is called, "run 2" where the file does not say.
	Name    string
	Request job.Request
	// Repeat is zero for a run that is done once.
	Repeat Repeat
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
		runs = []*section{{entries: map[string]entry{}, set: map[string]entry{}}}
	}
	seen := map[string]int{}
	for i, s := range runs {
		r := s.over(shared).run(name)
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
	// where is the file and line; spelled the text before its variables were replaced.
	where, spelled string
	// order is the place in the file, null says that the value is taken away.
	order int
	null  bool
}

// section is what a file says of one run, or of all of them.
type section struct {
	line         int
	entries, set map[string]entry
}

// over returns s with what it leaves out taken from shared.
func (s *section) over(shared *section) *section {
	out := &section{line: s.line, entries: maps.Clone(shared.entries), set: maps.Clone(shared.set)}
	for name := range s.entries {
		delete(out.set, name)
	}
	for name := range s.set {
		delete(out.entries, name)
	}
	maps.Copy(out.entries, s.entries)
	maps.Copy(out.set, s.set)
	gone := func(_ string, e entry) bool { return e.null }
	maps.DeleteFunc(out.entries, gone)
	maps.DeleteFunc(out.set, gone)
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
	out := Run{Name: one(wordName), Repeat: repeat, Request: job.Request{
		Profile: one("profile"), Preset: one("preset"), Target: one("target"), PasswordFile: path("password-file"), Out: one("out"), Facts: path("facts"),
		Timetable: s.entries["at"].texts, Thresholds: s.entries["threshold"].texts, Formats: s.entries["format"].texts,
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
		if e.spelled != "" {
			out.Request.Spelled[word] = e.spelled
		}
	}
	for word, e := range s.set {
		out.put(word, e)
	}
	return out
}

func (r *Run) put(name string, e entry) {
	r.Request.Values.Set(workload.Value{Name: name, Text: e.texts[0], Origin: workload.OriginPlan, Where: e.where, Order: e.order})
	if e.spelled != "" {
		r.Request.Spelled[name] = e.spelled
	}
}
