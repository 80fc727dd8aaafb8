package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// keys returns what became of each key of the files. Of those that their reader has read, the
// plan tells the rest.
func (o outline) keys() []workload.FileKey {
	var out []workload.FileKey
	knobs := o.settingLines()
	for _, k := range o.p.Keys {
		k.State, k.Text = o.became(k, knobs)
		out = append(out, k)
	}
	return out
}

// became says whether a key was read as it is written, corrected, replaced by the default
// or ignored.
func (o outline) became(k workload.FileKey, knobs []request.Line) (workload.KeyState, string) {
	here := workload.Value{Origin: workload.OriginFile, Where: k.Where}
	shown, ok := o.shows(k)
	v, set := o.p.Inputs.Values[k.Key]
	switch {
	case k.State == workload.KeyIgnored && ok && shown.Name != k.Key:
		return workload.KeyRead, "it tells that " + shown.Name + " is " + shown.Text
	case k.State != workload.KeyRead:
		return k.State, k.Text
	case set && v.Where != k.Where:
		return workload.KeyIgnored, v.From() + " wins"
	case !values.FromProperties(here):
		return workload.KeyRead, ""
	case !ok && o.other(k) != "":
		return workload.KeyIgnored, o.other(k) + " wins"
	case !ok && !turned(knobs, here.From()):
		return workload.KeyIgnored, "this plan does not use it"
	case ok && o.p.Plan.Corrected[shown.Name] != "":
		return workload.KeyCorrected, o.p.Plan.Corrected[shown.Name]
	case !ok || same(k.Value, shown.Text):
		return workload.KeyRead, ""
	case shown.Text == o.otherwise(k.Key):
		return workload.KeyDefaulted, shown.Text
	}
	return workload.KeyCorrected, shown.Text
}

// shows returns what the plan shows of a key: what is named like it, or comes from its line.
func (o outline) shows(k workload.FileKey) (workload.Value, bool) {
	for _, named := range []bool{true, false} {
		i := slices.IndexFunc(o.p.Plan.Parameters, func(v workload.Value) bool {
			return v.Where == k.Where && (v.Name == k.Key || !named)
		})
		if i >= 0 {
			return o.p.Plan.Parameters[i], true
		}
	}
	return workload.Value{}, false
}

// other returns where the plan has what a key sets from instead; empty if the plan does not
// have it.
func (o outline) other(k workload.FileKey) string {
	for _, v := range o.p.Plan.Parameters {
		if v.Name == k.Key {
			return v.From()
		}
	}
	return ""
}

// turned reports whether a knob has its value from there.
func turned(knobs []request.Line, from string) bool {
	return slices.ContainsFunc(knobs, func(l request.Line) bool { return slices.Contains(strings.Split(l.From, "; "), from) })
}

// otherwise returns the default of a parameter, which may exist per track.
func (o outline) otherwise(name string) string {
	for _, p := range o.p.Profile.Params {
		if p.Name == name || p.Track && strings.HasSuffix(name, "."+p.Name) {
			return p.Default
		}
	}
	return ""
}

// same reports whether a plan shows a text of a properties file as it is written: numbers
// may be shown as sizes, and words in lower case.
func same(written, shown string) bool {
	if strings.EqualFold(written, shown) {
		return true
	}
	n, err := strconv.ParseInt(written, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != written {
		on, err := workload.Value{Text: written}.Bool()
		return err == nil && shown == map[bool]string{true: "on", false: "off"}[on]
	}
	size, err := units.ParseSize(shown)
	return err == nil && size == n
}
