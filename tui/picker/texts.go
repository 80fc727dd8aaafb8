package picker

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/request"
)

// texts is a list of texts in one row of the form, or a single text: parts of a request
// that are not values.
type texts struct {
	// name is that of the flag, label the form's name for it, between the separator of
	// two texts.
	name, label, between, section, help string
	of                                  func(r *request.Request) *[]string
}

var allTexts = []texts{
	{"at", "timetable", "; ", "Changes and conditions", "live changes as --at has them, with ; between: 30m:batch=400; 1h:rate=50000", func(r *request.Request) *[]string { return &r.Timetable }},
	{"threshold", "thresholds", "; ", "", "what must hold, with ; between: p99<10ms; errors<1%", func(r *request.Request) *[]string { return &r.Thresholds }},
	{"format", "documents", ", ", "Report", "the documents to write: perfbench list formats names them", func(r *request.Request) *[]string { return &r.Formats }},
	{"tag", "tags", "; ", "", "NAME=VALUE, with ; between, kept with the run", func(r *request.Request) *[]string { return &r.Tags }},
}

// textsNamed returns the texts of a row; nil if the row is not one of these.
func textsNamed(name string) *texts {
	i := slices.IndexFunc(allTexts, func(t texts) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return &allTexts[i]
}

// set stores what was typed in a request.
func (t *texts) set(r *request.Request, typed string) {
	var list []string
	for one := range strings.SplitSeq(typed, strings.TrimSpace(t.between)) {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	*t.of(r) = list
	r.Values = without(r.Values, t.name)
}

// addTexts appends the rows of what is not a value: what is typed here takes precedence
// over what a preset says.
func (f *form) addTexts(req request.Request, pv *request.Preview) {
	for i := range allTexts {
		t := &allTexts[i]
		mine := *t.of(&req)
		r := row{kind: rowTexts, name: t.name, text: strings.Join(mine, t.between), from: "set", mine: len(mine) > 0, help: t.help, section: t.section}
		if v, ok := req.Values[r.name]; ok && !r.mine {
			r.text, r.mine = v.Text, true
		}
		if !r.mine {
			r.text, r.from = t.otherwise(pv)
		}
		f.rows = append(f.rows, r)
	}
	out := row{kind: rowOut, name: "out", text: req.Out, from: "set", mine: req.Out != "", help: "the folder that gets a folder of each run"}
	if !out.mine && pv != nil {
		if v, ok := lineOf(pv.Run, out.name); ok {
			out.text, out.from = v.Text, v.From
		}
	}
	f.rows = append(f.rows, out)
}

// otherwise returns what applies if nothing is typed, and its origin.
func (t *texts) otherwise(pv *request.Preview) (text, from string) {
	switch {
	case pv == nil:
	case t.name == "format":
		return strings.Join(pv.Documents, t.between), "default"
	default:
		if v, ok := lineOf(pv.Run, t.name); ok {
			return v.Text, v.From
		}
		if t.name == "threshold" && len(pv.Thresholds) > 0 {
			return strings.Join(pv.Thresholds, t.between), "preset"
		}
	}
	return "", "not given"
}
