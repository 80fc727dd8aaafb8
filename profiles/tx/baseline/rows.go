package baseline

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// Primitive is a row of the suite as named in the results.
type Primitive struct {
	Name, shows string
	// Depth is how many calls are sent together.
	Depth int
	// report and Script are the lengths of key and value in the published report, and
	// in the benchmark's script.
	report, Script Lengths
}

// Lengths are the lengths of a key and of a value, in bytes.
type Lengths struct{ key, value int }

// Editions of the published commands.
const (
	editionReport = "report"
	editionScript = "script"
)

// Suite is the original's rows, including two for which there are no figures because
// they are only in the script; set-remote, in turn, is only in the report.
var Suite = []Primitive{
	{"set", "a plain command", 1, Lengths{7, 6}, Lengths{7, 7}},
	{"set-remote", "a plain command over the network", 1, Lengths{7, 8}, Lengths{7, 8}},
	{"eval-literal", "a script costs little more than a command", 1, Lengths{7, 6}, Lengths{7, 7}},
	{"eval-args", "a script with a key and an argument", 1, Lengths{10, 13}, Lengths{9, 10}},
	{"set-p50", "50 commands sent together: the cost is the round trip, not the memory", 50, Lengths{7, 6}, Lengths{7, 7}},
	{"eval-loop10", "ten SETs in one script", 1, Lengths{10, 15}, Lengths{9, 10}},
	{"eval-args-p50", "50 scripts sent together", 50, Lengths{9, 10}, Lengths{9, 10}},
	{"cjson10", "ten documents decoded in one script", 1, Lengths{9, 49}, Lengths{9, 49}},
}

// SuiteRow is a row of a run: a Primitive with its parameters.
type SuiteRow struct {
	Primitive
	Lengths
	// requests is how many calls it makes; 0: as many as time allows.
	requests int64
}

// readRows reads the lengths and requests of the rows to be measured.
func (g *parameters) readRows(r *values.Reader, timed bool) []SuiteRow {
	var rows []SuiteRow
	for _, p := range g.rows {
		row := SuiteRow{Primitive: p, Lengths: p.report}
		if g.edition == editionScript {
			row.Lengths = p.Script
		}
		row.key, row.value = length(r, keyLength, p.Name, row.key), length(r, valueLength, p.Name, row.value)
		v := r.Pick(requests, "count", p.Name+".requests", requests.Name)
		n, err := v.Int(1, maxCount)
		r.Problems.Add(err)
		r.Show(p.Name+".requests", strconv.FormatInt(n, 10), v)
		if !timed {
			row.requests = n
		}
		rows = append(rows, row)
	}
	return rows
}

// chosenRows returns the primitives that the parameter rows names.
func chosenRows(r *values.Reader) []Primitive {
	v := r.Pick(rowNames, rowNames.Name)
	known := []string{"all"}
	for _, p := range Suite {
		known = append(known, p.Name)
	}
	var rows []Primitive
	for item := range strings.SplitSeq(v.Text, ",") {
		word := strings.TrimSpace(item)
		switch at := slices.Index(known, word); {
		case word == "all":
			rows = Suite
		case at > 0:
			rows = append(slices.Clip(rows), Suite[at-1])
		case word != "":
			r.Problems.Add(fault.Field("rows", fault.Input(fmt.Errorf("rows: %q (%s) is not one of %s", word, v.From(), strings.Join(known, ", ")), fault.Meant(word, known))))
		}
	}
	r.Show("rows", v.Text, v)
	if slices.ContainsFunc(rows, func(p Primitive) bool { return times(rows, p.Name) > 1 }) {
		r.Problems.Add(fault.Field("rows", fault.Input(errors.New("rows: a row is named twice"), "name each once, or use --repeat")))
	}
	return rows
}

func times(rows []Primitive, name string) (n int) {
	for _, p := range rows {
		if p.Name == name {
			n++
		}
	}
	return n
}

// length reads and shows the length of a row's key or value; 0 stands for the published
// one.
func length(r *values.Reader, p workload.Param, row string, published int) int {
	v := r.Pick(p, row+"."+p.Name, p.Name)
	n := int(r.Integer(p, v))
	if n == 0 {
		n = published
	}
	r.Show(row+"."+p.Name, strconv.Itoa(n), v)
	return n
}

// cycled returns a text of n bytes that repeats letters.
func cycled(letters string, n int) string {
	return strings.Repeat(letters, n/len(letters)+1)[:n]
}

// document returns a JSON document of n bytes.
func document(n int) string {
	const first, last = `{"gid":"`, `","n":1,"t":"2021-11-05 08:00:00"}`
	switch pad := n - len(first) - len(last); {
	case pad >= 0:
		return first + cycled("abcdefghij", pad) + last
	case n < 2:
		return "1"
	}
	return `"` + cycled("a", n-2) + `"`
}

// text returns the value that a row writes, or decodes.
func (w *SuiteRow) text() string {
	switch {
	case w.Name == "cjson10":
		return document(w.value)
	case strings.HasPrefix(w.Name, "eval-") && w.Name != "eval-literal":
		return cycled("b", w.value)
	}
	return cycled("d", w.value)
}

// ownKey returns the published key of a row, without the namespace.
func (w *SuiteRow) ownKey() string {
	switch w.Name {
	case "set", "set-remote", "set-p50":
		return cycled("abcdefg", w.key)
	case "eval-literal":
		return cycled("abcdedf", w.key)
	}
	return cycled("a", w.key)
}

// distinct makes titles of rows unique: calls sent together say how many, and titles
// that are still equal are followed by the row's name.
func distinct(rows []*rowWork) {
	seen := map[string]bool{}
	for _, w := range rows {
		if w.depth > 1 {
			w.title = fmt.Sprintf("%s (-P %d)", w.title, w.depth)
		}
		if seen[w.title] {
			w.title += " (" + w.name + ")"
		}
		seen[w.title] = true
	}
}

// iterations returns how many iterations of the row make its requests.
func (w *SuiteRow) iterations() int64 {
	return (w.requests + int64(w.Depth) - 1) / int64(w.Depth)
}

// track returns the row's track, with these initial settings.
func (w *SuiteRow) track(start workload.Settings) workload.Track {
	depth := w.Depth
	return workload.Track{Ops: []string{"call"}, Start: start, Total: w.requests, Iterations: w.iterations(), Units: func(*workload.Settings) int { return depth }}
}
