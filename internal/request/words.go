package request

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/workload"
)

// flags are the values of a run that have their own flags; all others use --set.
var flags = []string{"threads", "payload", "batch", "rate", "duration", "count", "warmup", "until", "seed", "namespace", "drain"}

// switches are flags that are given or not.
var switches = []string{"allow-existing", "cleanup", "require-valid"}

// Words returns the command line that makes the same request. It omits values of a
// lower origin than a plan, since preset and files provide them again, and also the
// password and the folder for run directories. The target is as it is in r.
func (r Request) Words() []string {
	words := []string{"perfbench", "run", "--profile", r.Profile}
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" {
				words = append(words, flag, v)
			}
		}
	}
	add("--target", r.Target)
	add("--preset", r.Preset)
	add("--file", r.Files...)
	add("--password-file", r.PasswordFile)
	for _, name := range r.Values.Names() {
		v := r.Values[name]
		switch {
		case v.Origin < workload.OriginPlan:
		case slices.Contains(switches, name):
			if v.Text == "on" {
				words = append(words, "--"+name)
			}
		case slices.Contains(flags, name):
			words = append(words, "--"+name, v.Text)
		default:
			words = append(words, "--set", name+"="+v.Text)
		}
	}
	add("--at", r.Timetable...)
	add("--threshold", r.Thresholds...)
	if len(r.Formats) > 0 {
		add("--format", strings.Join(r.Formats, ","))
	}
	add("--tag", r.Tags...)
	add("--facts", r.Facts)
	return words
}

// Shell quotes words for a shell.
func Shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%") != "" {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
