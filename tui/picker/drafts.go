package picker

import (
	"maps"
	"reflect"
	"slices"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// drafts are what is set for each profile.
type drafts struct {
	list *profiles
	// name is the profile that was selected last; requests has the settings of each, by
	// its name.
	name     string
	requests map[string]request.Request
	// recalled are those of requests that were set the last time, as they were recalled.
	recalled map[string]request.Request
}

// newDrafts begins with the settings of a request, and selects its profile or, if it
// names none and sets nothing of one, the one that was used last, else the first that can run.
func newDrafts(l *profiles, first request.Request, newest string) *drafts {
	if first.Profile == "" && first.Preset == "" && len(first.Values) == 0 && len(first.Files) == 0 && slices.ContainsFunc(l.shown, func(n int) bool { return l.all[n].Name == newest && built(&l.all[n]) }) {
		first.Profile = newest
	}
	if clean, password := widget.SplitSecret(first.Target); password != "" && first.Password == "" {
		first.Target, first.Password = clean, password
	}
	for _, n := range l.shown {
		if pr := l.all[n]; pr.Name == first.Profile || first.Profile == "" && built(&pr) {
			l.chosen, first.Profile = n, pr.Name
			break
		}
	}
	d := &drafts{list: l, name: first.Profile, requests: map[string]request.Request{first.Profile: first}}
	return d
}

// request returns what would be run: the values set for the selected profile.
func (d *drafts) request() request.Request {
	pr := d.list.selected()
	if pr == nil {
		return request.Request{}
	}
	r := d.requests[pr.Name]
	r.Profile = pr.Name
	return r
}

// set replaces the request of the selected profile.
func (d *drafts) set(r request.Request) {
	if pr := d.list.selected(); pr != nil {
		r.Profile = pr.Name
		d.requests[pr.Name] = r
	}
}

// carryOver goes on to the selected profile, with target, password and the parameters
// of every run, but for what a plan gave to either profile; false if it was the profile before.
func (d *drafts) carryOver(every []workload.Param) bool {
	pr := d.list.selected()
	if d.name == pr.Name {
		return false
	}
	from := d.requests[d.name]
	d.name = pr.Name
	to, known := d.requests[pr.Name]
	if !known {
		to.Values = maps.Clone(from.Values)
		maps.DeleteFunc(to.Values, func(name string, v workload.Value) bool {
			return !has(every, name) || v.Origin == workload.OriginPlan
		})
	}
	if from.From["target"] == "" && to.From["target"] == "" { // a plan keeps its own
		to.Target, to.Password = from.Target, from.Password
	}
	to.Out = from.Out
	d.set(to)
	return true
}

// recall restores the last settings of each profile for which nothing has been set by a flag or
// a plan.
func (d *drafts) recall(last map[string]request.Request) {
	d.recalled = map[string]request.Request{}
	for name, r := range last {
		now, is := d.requests[name]
		out := now.Out
		now.Out, now.Profile, r.Profile = "", "", name
		if len(now.Values) == 0 {
			now.Values = nil
		}
		if !is || reflect.DeepEqual(now, request.Request{}) {
			d.recalled[name] = r
			r.Out = out
			d.requests[name] = r
		}
	}
}

// The words for where a value of the form comes from that was set in it, and one that was the
// last time.
const (
	setHere    = "set"
	remembered = "remembered"
)

// whereFrom says what is remembered.
const whereFrom = "as in the last run of this results folder; del resets"

// origin says where what is set of the selected profile comes from: a plan, the last time, or
// here. same tells of a request whether it has that, too.
func (d *drafts) origin(name string, same func(request.Request) bool) string {
	if from := d.request().From[name]; from != "" {
		return from
	}
	if last, ok := d.recalled[d.request().Profile]; ok && same(last) {
		return remembered
	}
	return setHere
}
