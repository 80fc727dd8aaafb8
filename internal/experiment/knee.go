package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

const (
	// anyRate is the rate with which runs are checked whose rates are yet to be chosen.
	anyRate = "1"
	// kneeTime is how long a search for the knee may take.
	kneeTime = "1m"
	// kneeUnder is the condition of the search where no threshold is one.
	kneeUnder = "errors<1%"
)

// kneeSearch returns the search that comes before the runs at p; other is the value of the
// other axis. Errors have the code of bad input, all of them joined.
func (d *Driver) kneeSearch(ctx context.Context, p *point, other string) (search, error) {
	k := search{at: other, asked: find.Asked{Under: find.Conditions(p.request.Thresholds, p.prepared.Plan), Rough: true}}
	if len(k.asked.Under) == 0 {
		k.asked.Under = []string{kneeUnder}
	}
	r := p.request
	r.Thresholds, r.MaxThreads, r.Values = nil, find.RoomThreads, maps.Clone(r.Values)
	for _, name := range []string{sweep.AutoKnob, "count", "until"} {
		delete(r.Values, name)
	}
	r.Values.Set(workload.Value{Name: "duration", Text: kneeTime, Origin: workload.OriginFlag, Where: "the search for the knee"})
	k.request = r
	var err error
	if k.prepared, err = d.Prepare(ctx, r); err != nil {
		return k, err
	}
	o, err := PrepareSearch(k.asked, k.prepared, 0)
	k.widens = o.Threads > 0
	return k, err
}

// Searches says in a few words which searches come before the runs; nil without any.
func (s *Sweep) Searches() (words []string) {
	for _, k := range s.knees {
		words = append(words, fmt.Sprintf("%s, in %s or less, under %s", k.what(s.axes), kneeTime, strings.Join(k.asked.Under, " and ")))
	}
	return words
}

func (k *search) what(axes []sweep.Axis) string {
	out := "search for the knee"
	if k.at != "" {
		other := axes[1-sweep.AutoAxis(axes)]
		out += fmt.Sprintf(" (%s=%s)", other.Name, k.shown(other.Name))
	}
	return out
}

// shown returns the value of the other axis without secrets.
func (k *search) shown(axis string) string {
	if axis == sweep.Target {
		return k.prepared.Target.Redacted()
	}
	return k.at
}

// locate does the searches, and chooses the rates by what they find. What goes wrong ends
// the sweep.
func (s *Sweep) locate(ctx context.Context, perform Perform) []error {
	var turns []Turn
	for i, k := range s.knees {
		turns = append(turns, Turn{Member: i, What: k.what(s.axes), Request: k.request, Find: &k.asked})
	}
	var knees []sweep.Knee
	errs := s.driver.turns(ctx, turns, func(ctx context.Context, t Turn) (*session.Concluded, error) {
		o, err := perform(ctx, t)
		if err == nil {
			err = o.Err
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.What, err)
		}
		knee, err := kneeOf(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.What, err)
		}
		if len(s.axes) > 1 {
			knee.At = s.result.Others(sweep.AutoAxis(s.axes))[t.Member]
		}
		knees = append(knees, knee)
		return o, nil
	})
	if len(knees) == len(s.knees) {
		s.result.Knees = knees
		s.choose()
	}
	return errs
}

// kneeOf returns what the search of a run found. An error means that no rate held.
func kneeOf(o *session.Concluded) (sweep.Knee, error) {
	r, err := find.Load(o.Dir)
	switch {
	case err != nil:
		return sweep.Knee{}, err
	case r == nil || r.Found == 0:
		why := ""
		if r != nil && r.TooMuch > 0 {
			why = fmt.Sprintf(": not even %s %s/s", units.Number(r.TooMuch), r.Unit)
		}
		return sweep.Knee{}, fault.Hint(fault.Code(fmt.Errorf("no rate held%s", why), fault.CodeThreshold), "list the rates: --over rate=100,200,…,1000")
	}
	return sweep.Knee{Run: o.Run.ID, Rate: r.Found, Threads: r.Threads, Under: r.Under}, nil
}

// choose sets the rates, and as many threads as the searches needed, from Knees.
func (s *Sweep) choose() {
	auto := sweep.AutoAxis(s.axes)
	axes, first := slices.Clone(s.axes), s.points[0].prepared
	axes[auto].Values = sweep.Around(s.result.Knees)
	s.result.Axes[auto].Values = axes[auto].Values
	threads, common := 0, s.common
	for i, k := range s.result.Knees {
		if s.knees[i].widens {
			threads = max(threads, k.Threads)
		}
	}
	if threads > 0 && !slices.ContainsFunc(axes, func(a sweep.Axis) bool { return a.Name == find.OverThreads }) {
		common.Values = maps.Clone(common.Values)
		common.Values.Set(workload.Value{Name: find.OverThreads, Text: fmt.Sprint(threads), Origin: workload.OriginFlag, Where: "the search for the knee"})
	}
	all, _ := sweep.Points(axes, s.result.Rounds) // as many as before
	s.points = nil
	for _, values := range all {
		s.points = append(s.points, point{request: at(common, axes, values), prepared: first})
	}
}
