package kept

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
)

// How the names of the folders end that have what several runs came to, and the names of the
// files with it.
const (
	ComparedEnd  = "-compared"
	RepeatsEnd   = "-repeats"
	ComparedFile = "comparison.json"
	RepeatsFile  = "baseline.json"
)

// Group is what runs came to that were repeated, or done on two sides in turn.
type Group struct {
	// ID is the name of its folder, Kind is Compare or Repeat.
	ID, Kind string
	// When is when the first of its runs began.
	When                         time.Time
	Profile, Mode, Store, Target string
	Unit                         string
	// A and B are the ids of the runs of its sides; B of Repeat has none.
	A, B []string
	// Answer is what they came to: how B differs, or the mean throughput of Repeat with its
	// range, without a unit.
	Answer string
	// Rate is the mean throughput of repeats in units per second, else NaN.
	Rate float64

	runs []compare.Conditions
}

// comparison is what is needed of ComparedFile.
type comparison struct {
	Verdict string `json:"verdict"`
	A, B    struct {
		Runs []compare.Conditions `json:"runs"`
	}
	Parts []struct {
		Figures []struct {
			Figure  compare.Figure  `json:"figure"`
			Change  *float64        `json:"change"`
			Verdict compare.Verdict `json:"verdict"`
		} `json:"figures"`
	} `json:"parts"`
}

// shownFigures is how many figures the answer of a comparison names at most.
const shownFigures = 2

// answer says which figures differ for certain, and by how much; else in a word what came out.
func (c *comparison) answer() string {
	var said []string
	word := c.Verdict // of throughput
	if len(c.Parts) > 0 {
		for _, f := range c.Parts[0].Figures {
			if f.Verdict == compare.Unsure && word == string(compare.Same) {
				word = string(compare.Unsure)
			}
			if (f.Verdict != compare.Better && f.Verdict != compare.Worse) || f.Change == nil {
				continue
			}
			change := compare.Finding{Figure: f.Figure, Change: *f.Change, Verdict: f.Verdict}.ChangeText()
			said = append(said, fmt.Sprintf("%s %s", f.Figure, change))
			if f.Figure == compare.P99 && len(said) > shownFigures { // the tail is what one looks for
				said[shownFigures-1] = said[len(said)-1]
			}
		}
	}
	if len(said) == 0 {
		return word
	}
	return strings.Join(said[:min(len(said), shownFigures)], ", ")
}

// readGroup reads the group in a folder.
func readGroup(dir string) (Group, error) {
	g := Group{ID: filepath.Base(dir), Rate: math.NaN()}
	var a, b []compare.Conditions
	switch data, err := infile.Read(infile.Found, filepath.Join(dir, ComparedFile)); {
	case err == nil:
		var c comparison
		if err := json.Unmarshal(infile.Harmless(data), &c); err != nil {
			return g, err
		}
		g.Kind, g.Answer, a, b = Compare, c.answer(), c.A.Runs, c.B.Runs
	case !errors.Is(err, fs.ErrNotExist):
		return g, err
	default:
		data, err := infile.Read(infile.Found, filepath.Join(dir, RepeatsFile))
		if err != nil {
			return g, err
		}
		runs, err := compare.ReadBaseline(data)
		if err != nil {
			return g, err
		}
		g.Kind = Repeat
		for _, r := range runs {
			a = append(a, r.Conditions)
		}
		g.Answer = "–"
		if all := compare.Repeats(compare.Set{Runs: runs}); len(all) > 0 {
			texts := all[0].Texts(a[0].Unit)
			if g.Answer = texts[1]; all[0].Figure == compare.Throughput {
				g.Rate = all[0].Value
			} else { // of searches
				g.Answer += " " + string(all[0].Figure)
			}
		}
	}
	if len(a) == 0 {
		return g, errors.New("it has no runs")
	}
	g.Profile, g.Mode, g.Store, g.Unit, g.Target, g.When = a[0].Profile, a[0].Mode, a[0].Store.Name, a[0].Unit, a[0].Target, a[0].Started
	g.runs = slices.Concat(a, b)
	for i, r := range g.runs {
		if i < len(a) {
			g.A = append(g.A, r.ID)
		} else {
			g.B = append(g.B, r.ID)
		}
		if r.Started.Before(g.When) {
			g.When = r.Started
		}
		if r.Target != g.Target {
			g.Target = ""
		}
	}
	return g, nil
}

// Lister lists a folder of results again and again, and reads only what is new there. The zero
// value is ready for use, by one goroutine at a time.
type Lister struct {
	runs   rundir.Lister
	groups map[string]readBefore
}

// readBefore is a group as it was read, and when its files were written.
type readBefore struct {
	group   Group
	err     error
	written time.Time
}

// List returns what is kept below out, newest first. Runs that cannot be read are left out and
// named in the warnings; sweeps and groups that cannot be read are left out. If out does not
// exist, there is nothing.
func (l *Lister) List(out string) ([]Item, []string, error) {
	entries, warnings, err := l.Runs(out)
	if err != nil {
		return nil, warnings, err
	}
	runs := make([]rundir.Run, len(entries))
	dirs := make(map[string]string, len(entries))
	for i, e := range entries {
		runs[i] = e.Run
		dirs[e.Run.ID] = e.Dir
	}
	items := Items(runs, sweep.List(out), l.Groups(out))
	for i := range items {
		if it := &items[i]; it.Run != nil {
			it.Dir = dirs[it.Run.ID]
		} else {
			it.Dir = filepath.Join(out, it.ID())
		}
	}
	return items, warnings, nil
}

// Runs returns the runs below out alone, as rundir.List does.
func (l *Lister) Runs(out string) ([]rundir.Entry, []string, error) { return l.runs.List(out) }

// Groups returns the groups below out alone, in no order.
func (l *Lister) Groups(out string) (list []Group) {
	known := l.groups
	l.groups = map[string]readBefore{}
	dirs, _ := os.ReadDir(out) // that it is not there is said of runs
	for _, d := range dirs {
		if !strings.HasSuffix(d.Name(), ComparedEnd) && !strings.HasSuffix(d.Name(), RepeatsEnd) {
			continue
		}
		dir := filepath.Join(out, d.Name())
		info, err := os.Stat(dir)
		if err != nil {
			continue
		}
		was, ok := known[dir]
		if !ok || was.written != info.ModTime() {
			was.group, was.err = readGroup(dir)
			was.written = info.ModTime()
		}
		if l.groups[dir] = was; was.err == nil {
			list = append(list, was.group)
		}
	}
	return list
}
