package picker

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// rowKind is what a row of the form sets.
type rowKind int

const (
	rowPreset rowKind = iota + 1
	rowFile
	rowTarget
	rowPassword
	rowTexts
	rowOut
	rowValue
)

// row is one value of the form.
type row struct {
	kind rowKind
	// name is what a user types with --set; text and from are as in the preview, or as
	// typed.
	name, text, from string
	// mine means that it was set here or by a flag, so that it can be reset.
	mine bool
	// choices are the words that ←→ step through; empty if the value is typed or
	// turned.
	choices []string
	// knob is the live knob whose start value the row sets, with its present value.
	knob *workload.Knob
	at   float64
	help string
	// time means that the value is a duration, auto that it may end itself instead.
	time, auto bool
	// section is the heading above the row, set on the first row of a section.
	section string
	// fault is what is wrong with the value.
	fault string
}

// limit reports whether the row sets a rate, for which 0 means unlimited.
func (r row) limit() bool {
	return r.knob != nil && r.name[strings.LastIndexByte(r.name, '.')+1:] == "rate"
}

// words returns the value as it is shown and typed.
func (r row) words() string {
	if r.limit() && r.text == "0" {
		return units.Unlimited
	}
	return r.text
}

// rebuild recomputes the rows: after a preview, a choice, a key.
func (f *form) rebuild(p *Picker) {
	was := ""
	if f.at < len(f.rows) {
		was = f.rows[f.at].key()
	}
	pr := p.profile()
	if pr == nil {
		f.rows, f.at = nil, 0
		return
	}
	req := p.request()
	pv := p.preview
	if pv == nil {
		pv = p.last[pr.Name]
	}
	f.rows = append(f.rows[:0], headRows(p, pr, req, pv)...)
	if pv != nil {
		length, rest := lengthFirst(pv.Run)
		f.add(p, pr, req, pv, "Length", length)
		all, each := ofTracks(pv.Settings)
		f.add(p, pr, req, pv, "Knobs at the start", all)
		f.addTexts(req, pv)
		f.add(p, pr, req, pv, "Knobs of each track", each)
		f.add(p, pr, req, pv, "Parameters", withoutStarts(pv))
		f.add(p, pr, req, pv, "Run", rest)
	} else if built(pr) {
		length, rest := lengthFirst(defaultsOf(p.runParams))
		f.add(p, pr, req, nil, "Length", length)
		f.addTexts(req, nil)
		f.add(p, pr, req, nil, "Parameters", defaultsOf(pr.Params))
		f.add(p, pr, req, nil, "Run", rest)
	}
	f.addRest(p, pr, req, pv)
	f.blame(p.err)
	f.at = min(f.at, max(len(f.rows)-1, 0))
	for i := range f.rows {
		if f.rows[i].key() == was {
			f.at = i
		}
	}
}

// lengthFirst separates the parameters for the length of a run from the others.
func lengthFirst(list []request.Line) (length, rest []request.Line) {
	for _, v := range list {
		switch v.Name {
		case "duration", "count", "warmup", "mode":
			length = append(length, v)
		default:
			rest = append(rest, v)
		}
	}
	return length, rest
}

// ofTracks separates the knobs of all tracks from those of single tracks.
func ofTracks(list []request.Line) (all, each []request.Line) {
	for _, v := range list {
		if strings.Contains(v.Name, ".") {
			each = append(each, v)
		} else {
			all = append(all, v)
		}
	}
	return all, each
}

// withoutStarts returns the parameters of a plan except those that set the start value
// of a knob, which has its own row.
func withoutStarts(pv *request.Preview) []request.Line {
	return slices.DeleteFunc(slices.Clone(pv.Parameters), func(v request.Line) bool {
		base := v.Name[strings.LastIndexByte(v.Name, '.')+1:]
		return pv.Plan != nil && slices.ContainsFunc(pv.Plan.Knobs, func(k workload.Knob) bool { return k.Param == base })
	})
}

func (r row) key() string { return string(rune('0'+r.kind)) + r.name }

func defaultsOf(params []workload.Param) []request.Line {
	var out []request.Line
	for _, q := range params {
		out = append(out, request.Line{Name: q.Name, Text: q.Default, From: workload.OriginDefault.String()})
	}
	return out
}

// headRows returns the rows of preset, file, target and what belongs to them.
func headRows(p *Picker, pr *workload.Profile, req request.Request, pv *request.Preview) []row {
	preset := row{kind: rowPreset, name: "preset", text: req.Preset, from: "default", mine: req.Preset != "", help: "a named set of values"}
	for _, ps := range p.presets[pr.Name] {
		preset.choices = append(preset.choices, ps.Name)
		if ps.Name == req.Preset {
			preset.help = ps.Summary
		}
	}
	if req.Preset == "" && len(req.Files) == 0 && len(preset.choices) > 0 {
		preset.text = preset.choices[0]
		if pv != nil {
			if v, ok := lineOf(pv.Run, "preset"); ok {
				preset.text = v.Text
			}
		}
		for _, ps := range p.presets[pr.Name] {
			if ps.Name == preset.text {
				preset.help = ps.Summary
			}
		}
	}
	rows := []row{preset}
	if pr.Read != nil {
		rows = append(rows, row{
			kind: rowFile, name: "file", text: strings.Join(req.Files, ", "), mine: len(req.Files) > 0,
			help: "reads " + pr.Reads + "; several with commas, tab completes",
		})
	}
	target := row{kind: rowTarget, name: "target", text: req.Target, from: "default", mine: req.Target != "", choices: p.targets(pr), help: "←→ recent ones, enter types one"}
	if target.text == "" {
		target.text = widget.DefaultTarget
		if pv != nil {
			if v, ok := lineOf(pv.Run, "target"); ok && strings.HasPrefix(v.From, workload.OriginPlan.String()) {
				target.text, target.from = v.Text, v.From
			}
		}
	}
	if target.mine {
		target.from = "set"
	}
	rows = append(rows, target)
	if !widget.Local(target.text) || req.Password != "" {
		rows = append(rows, row{kind: rowPassword, name: "password", text: strings.Repeat("•", min(len([]rune(req.Password)), 12)), mine: req.Password != "", help: "is never shown, kept or logged"})
	}
	return rows
}

// targets lists what the target can be switched to: recent ones, then an example of
// each store that the profile runs on.
func (p *Picker) targets(pr *workload.Profile) []string {
	out := []string{widget.DefaultTarget}
	add := func(t string) {
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, t := range p.recent {
		add(t)
	}
	for _, st := range p.stores {
		if b, ok := pr.Binding(st.Driver); ok && b.Refuse == "" {
			add(st.Example)
		}
	}
	return out
}

func lineOf(list []request.Line, name string) (request.Line, bool) {
	for _, s := range list {
		if s.Name == name {
			return s, true
		}
	}
	return request.Line{}, false
}

// add appends the values of one section, except those that already have rows.
func (f *form) add(p *Picker, pr *workload.Profile, req request.Request, pv *request.Preview, section string, list []request.Line) {
	for _, v := range list {
		if slices.Contains([]string{"profile", "store", "target", "preset", "file", "files", "password", "out"}, v.Name) {
			continue
		}
		if slices.ContainsFunc(f.rows, func(r row) bool { return r.name == v.Name }) {
			continue
		}
		r := row{kind: rowValue, name: v.Name, text: v.Text, from: v.From, section: section}
		if r.text == "–" || r.text == `""` {
			r.text = ""
		}
		section = ""
		f.describe(&r, p, pr, pv)
		f.typedIn(&r, req)
		f.rows = append(f.rows, r)
	}
}

// addRest appends values that were set but are unknown to the preview, so that a wrong
// name can be seen and removed.
func (f *form) addRest(p *Picker, pr *workload.Profile, req request.Request, pv *request.Preview) {
	section := "Set"
	for _, name := range req.Values.Names() {
		if slices.ContainsFunc(f.rows, func(r row) bool { return r.name == name }) {
			continue
		}
		r := row{kind: rowValue, name: name, section: section}
		section = ""
		f.describe(&r, p, pr, pv)
		f.typedIn(&r, req)
		f.rows = append(f.rows, r)
	}
}

// typedIn puts what was set here into a row.
func (f *form) typedIn(r *row, req request.Request) {
	if r.from == workload.OriginFlag.String() {
		r.from = "set"
	}
	if v, ok := req.Values[r.name]; ok {
		r.text, r.mine, r.from = v.Text, true, "set"
	}
}

// describe sets how a value is changed, and its description.
func (f *form) describe(r *row, p *Picker, pr *workload.Profile, pv *request.Preview) {
	base := r.name[strings.LastIndexByte(r.name, '.')+1:]
	for _, q := range slices.Concat(pr.Params, p.runParams) {
		if q.Name != r.name && q.Name != base {
			continue
		}
		r.help = q.Help
		switch q.Kind {
		case workload.Choice:
			r.choices = q.Choices
		case workload.Switch:
			r.choices = []string{"off", "on"}
		case workload.Duration:
			r.time, r.auto = true, q.Name == "warmup"
		}
		if r.help != "" && q.Unit != "" {
			r.help += " (" + q.Unit + ")"
		}
	}
	if r.name == "mode" && len(r.choices) == 0 {
		r.choices = pr.Modes
	}
	if pv == nil || pv.Plan == nil {
		return
	}
	k, ok := pv.Plan.Knob(base)
	if !ok {
		if k, ok = pv.Plan.Knob(r.name); !ok {
			return
		}
	}
	r.knob, r.help = &k, k.Help
	track := strings.TrimSuffix(strings.TrimSuffix(r.name, base), ".")
	tracks := pv.Plan.Tracks()
	if track == "" && len(tracks) > 0 {
		r.at = k.Get(workload.Totals([]workload.Knob{k}, tracks, workload.Starts(tracks)))
	}
	for _, t := range tracks {
		if t.Name == track {
			r.at = k.Get(t.Start)
		}
	}
}

// blame gives each row the first fault of its value.
func (f *form) blame(err error) {
	for _, part := range fault.Parts(err) {
		name := fault.FieldOf(part)
		for i := range f.rows {
			if r := &f.rows[i]; r.name == name && r.fault == "" {
				r.fault = unflagged(part.Error())
			}
		}
	}
}

// unflagged removes the origin of a value if that is this form.
func unflagged(s string) string { return strings.ReplaceAll(s, " (flag)", "") }
