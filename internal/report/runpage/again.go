package runpage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/report/page"
	"github.com/perfbench/perfbench/internal/rundir"
)

// flags are the values of a run that have a flag of their own; all others go by --set.
var flags = []string{"threads", "payload", "batch", "rate", "duration", "count", "warmup", "until", "seed", "namespace", "drain"}

// switches are flags that are given or not.
var switches = []string{"allow-existing", "cleanup", "require-valid"}

// Command is the command line that does a run again: what was asked for, what has its
// value from a file, the environment or a plan as well, live changes as a timetable, and
// the seed. Secrets are in none of these.
func Command(r *rundir.Run) string {
	words := []string{"perfbench", "run", "--profile", r.Profile, "--target", r.Target}
	add := func(more ...string) { words = append(words, more...) }
	if p := r.Parameters["preset"]; p != "" {
		add("--preset", p)
	}
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
	for _, k := range slices.Sorted(maps.Keys(values)) {
		v := values[k]
		from, flag, _ := strings.Cut(r.Origins[k], " ")
		switch flag = strings.TrimPrefix(flag, "--"); {
		case from == "flag" && flag != "" && flag != "set" && flag != k: // it came with another
		case k == "preset" || k != "seed" && (from == "" || from == "default" || from == "preset"):
		case slices.Contains(switches, k):
			if v == "on" {
				add("--" + k)
			}
		case slices.Contains(flags, k):
			add("--"+k, v)
		default:
			add("--set", k+"="+v)
		}
	}
	for _, m := range r.Moves() {
		at := page.Number(round(m.At)) + "s"
		value := page.Number(m.To)
		if m.Until > m.At {
			at += ".." + page.Number(round(m.Until)) + "s"
			value = page.Number(m.From) + ".." + value
		}
		add("--at", at+":"+m.Name+"="+value)
	}
	for _, t := range r.Verdict.Thresholds {
		add("--threshold", t.Expr)
	}
	for _, tag := range r.TagWords() {
		add("--tag", tag)
	}
	for i, w := range words {
		words[i] = quoted(page.Plain(w))
	}
	return strings.Join(words, " ")
}

// round is a moment to a hundredth of a second.
func round(s float64) float64 { return float64(int64(s*100+0.5)) / 100 }

// quoted is a word as a shell takes it for one.
func quoted(w string) string {
	if w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%") == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// again says how to do the run again.
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
