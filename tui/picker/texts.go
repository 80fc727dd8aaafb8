package picker

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/archive"
)

// texts is a field that is a list of texts, in one row of the form.
type texts struct{ request.Field }

// allTexts returns the rows of texts, in the order of the form.
func allTexts() []texts {
	var out []texts
	for _, f := range request.Fields() {
		if f.Form.Label != "" {
			out = append(out, texts{f})
		}
	}
	return out
}

// textsNamed returns the texts of a row; nil if the row is not one of these.
func textsNamed(name string) *texts {
	all := allTexts()
	i := slices.IndexFunc(all, func(t texts) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// of returns what a request says.
func (t *texts) of(r *request.Request) []string {
	return *t.List(&request.Run{Request: *r})
}

// set stores what was typed in a request.
func (t *texts) set(r *request.Request, typed string) {
	var list []string
	for one := range strings.SplitSeq(typed, strings.TrimSpace(t.Form.Between)) {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	run := request.Run{Request: *r}
	*t.List(&run) = list
	*r = run.Request
	r.Values = without(r.Values, t.Name)
}

// addTexts appends the rows of what is not a value: what is typed here takes precedence
// over what a preset says.
func (s *sheet) addTexts() {
	for _, t := range allTexts() {
		mine := t.of(&s.req)
		r := row{kind: rowTexts, name: t.Name, text: strings.Join(mine, t.Form.Between), from: setHere, mine: len(mine) > 0, help: t.Form.Help, section: t.Form.Section}
		if r.mine {
			r.from = s.origin(t.Name, func(q request.Request) bool { return slices.Equal(t.of(&q), mine) })
		}
		if v, ok := s.req.Values[r.name]; ok && !r.mine {
			r.text, r.mine = v.Text, true
		}
		if !r.mine {
			r.text, r.from = t.otherwise(s.preview)
		}
		s.rows = append(s.rows, r)
	}
	out := row{kind: rowOut, name: "out", text: s.req.Out, from: workload.OriginDefault.String(), mine: s.req.Out != "", help: "the folder that gets a folder of each run"}
	if v, ok := s.ran(out.name); ok && !out.mine {
		if out.text = v.Text; !strings.HasPrefix(v.From, workload.OriginFlag.String()) { // as the workbench fills it in
			out.from = v.From
		}
	} else if out.mine {
		out.from = s.origin(out.name, func(q request.Request) bool { return q.Out == s.req.Out })
	}
	s.rows = append(s.rows, out)
}

// otherwise returns what applies if nothing is typed, and its origin.
func (t *texts) otherwise(pv *request.Preview) (text, from string) {
	switch {
	case pv == nil:
	case t.Name == "format":
		return strings.Join(pv.Documents, t.Form.Between), "default"
	default:
		if v, ok := archive.LineOf(pv.Run, t.Name); ok {
			return v.Text, v.From
		}
		if t.Name == "threshold" && len(pv.Thresholds) > 0 {
			return strings.Join(pv.Thresholds, t.Form.Between), "preset"
		}
	}
	return "", "not given"
}
