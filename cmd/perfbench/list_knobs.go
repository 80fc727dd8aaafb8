package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// knobEntry is one line of list knobs.
type knobEntry struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Unit    string   `json:"unit,omitempty"`
	Default string   `json:"default"`
	Range   string   `json:"range,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Live    bool     `json:"live"`
	Track   bool     `json:"per_track"`
	// Alias is the name that we have for the same.
	Alias string `json:"alias_of,omitempty"`
	Help  string `json:"help"`
}

// listKnobs lists the live knobs of a profile's default plan, its parameters, and
// what every run has; names of older systems only with all.
func listKnobs(args []string, all bool) (listing, error) {
	p, err := cli.Profile(args)
	if err != nil {
		return listing{}, err
	}
	data := []knobEntry{}
	if plan := cli.DefaultPlan(p); plan != nil {
		start := session.Settings(plan)
		for _, k := range plan.Knobs {
			e := knobEntry{
				Name: k.Name, Kind: "knob", Unit: k.Unit, Live: true, Track: len(plan.Tracks()) > 1, Help: k.Help,
				Range: k.Format(k.Min) + ".." + k.Format(k.Max),
			}
			if v, ok := start[k.Name]; ok {
				e.Default = k.Format(v)
			}
			data = append(data, e)
		}
	}
	data = append(data, params(p.Params)...)
	data = append(data, params(request.RunParams())...)
	l := listing{head: []string{"NAME", "KIND", "DEFAULT", "VALUES", "WHAT IT DOES"}}
	if !all {
		whole := len(data)
		data = slices.DeleteFunc(data, func(e knobEntry) bool { return e.Alias != "" })
		l.hidden = whole - len(data)
	}
	l.data = data
	for _, e := range data {
		values, more := e.Range, []string{}
		if len(e.Choices) > 0 {
			values = strings.Join(e.Choices, "|")
		}
		if e.Unit != "" && !strings.Contains(values, e.Unit) {
			more = append(more, e.Unit)
		}
		if e.Live {
			more = append(more, "live")
		}
		if e.Track {
			more = append(more, "per track")
		}
		if e.Alias != "" {
			more = append(more, "see "+e.Alias)
		}
		help := e.Help
		if len(more) > 0 {
			help += " (" + strings.Join(more, ", ") + ")"
		}
		l.rows = append(l.rows, []string{e.Name, e.Kind, e.Default, values, help})
	}
	return l, nil
}

func params(list []workload.Param) []knobEntry {
	var out []knobEntry
	for _, q := range list {
		e := knobEntry{Name: q.Name, Kind: q.Kind.String(), Unit: q.Unit, Default: defaultText(q), Choices: q.Choices, Track: q.Track, Help: q.Help, Alias: q.Alias}
		if q.Max > q.Min {
			e.Range = bound(q, q.Min) + ".." + bound(q, q.Max)
		}
		out = append(out, e)
	}
	return out
}

// bound writes the end of a parameter's range as a user would type it.
func bound(q workload.Param, v float64) string {
	if q.Kind == workload.Size {
		return units.Size(int64(v))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// defaultText writes sizes with their unit, as the knobs of the same names have it.
func defaultText(q workload.Param) string {
	if n, err := strconv.ParseInt(q.Default, 10, 64); err == nil && q.Kind == workload.Size {
		return units.Size(n)
	}
	return q.Default
}
