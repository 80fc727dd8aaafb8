package runpage

import (
	"fmt"
	"maps"
	"strings"

	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/report/page"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// Asked returns the request that leads to the same run again: what was requested,
// values that came from a file, the environment or a plan, live changes as a timetable,
// and the seed. It contains no secrets.
func Asked(r *rundir.Run) job.Request {
	q := job.Request{Profile: r.Profile, Target: r.Target, Preset: r.Parameters["preset"], Values: workload.Values{}, Tags: r.TagWords()}
	values := maps.Clone(r.Parameters)
	if values == nil {
		values = map[string]string{}
	}
	for k, v := range r.Settings {
		if _, ok := values[k]; !ok {
			values[k] = page.Number(v)
		}
	}
	values["seed"] = fmt.Sprint(r.Seed)
	for k, v := range values {
		from, flag, _ := strings.Cut(r.Origins[k], " ")
		switch flag = strings.TrimPrefix(flag, "--"); {
		case from == "flag" && flag != "" && flag != "set" && flag != k: // set by a different flag
		case k == "preset" || k != "seed" && (from == "" || from == "default" || from == "preset"):
		default:
			q.Values[k] = workload.Value{Name: k, Text: v, Origin: workload.OriginFlag}
		}
	}
	for _, m := range r.Moves() {
		at := page.Number(round(m.At)) + "s"
		value := page.Number(m.To)
		if m.Until > m.At {
			at += ".." + page.Number(round(m.Until)) + "s"
			value = page.Number(m.From) + ".." + value
		}
		q.Timetable = append(q.Timetable, at+":"+m.Name+"="+value)
	}
	for _, t := range r.Verdict.Thresholds {
		q.Thresholds = append(q.Thresholds, t.Expr)
	}
	return q
}

// Command returns the command line that repeats a run.
func Command(r *rundir.Run) string {
	words := Asked(r).Words()
	for i, w := range words {
		words[i] = page.Plain(w)
	}
	return job.Shell(words)
}

// round rounds a time to a hundredth of a second.
func round(s float64) float64 { return float64(int64(s*100+0.5)) / 100 }

// again says how to repeat the run.
func again(r *rundir.Run) page.Section {
	text := fmt.Sprintf("Seed %d", r.Seed)
	if v := r.Environment["perfbench"]; v != nil {
		text += fmt.Sprintf(", perfbench %v", v)
	}
	if v := strings.TrimSpace(r.Store.Product + " " + r.Store.Version); v != "" {
		text += ", " + v
	}
	if v := r.Environment["go"]; v != nil {
		text += fmt.Sprintf(", %v on %v/%v", v, r.Environment["os"], r.Environment["arch"])
	}
	return page.Section{Heading: "Do it again", Weight: page.Answer, Code: Command(r), Text: []string{text + "."}}
}
