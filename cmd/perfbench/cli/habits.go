package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// habit is a command line as one of the originals takes it.
type habit struct {
	// program is the original's name, profile ours for what it does.
	program, profile string
	// line writes ours from the original's options, and what else was typed.
	line func(profile string, o options, rest []string) []string
	// takes are its options, each with whether a value follows.
	takes map[string]bool
}

// options are those that were given, with their values.
type options map[string]string

func (o options) has(name string) bool { _, ok := o[name]; return ok }

var (
	padogrid = map[string]bool{"-run": false, "-prop": true, "-list": false, "-delete": false, "-db": false, "-failover": false, "-?": false}
	oae      = map[string]bool{"-s": true, "-n": true, "-c": true, "--scripts-dir": true, "--number-of-runs": true, "--concurrent": true}
	habits   = []habit{
		{"test_ingestion", "ingestion", padogridLine, padogrid},
		{"test_group", "group", padogridLine, padogrid},
		{"test_tx", "tx", padogridLine, padogrid},
		{"run-authz", "authz", oaeLine, oae},
		{"run-profiles", "authz", oaeLine, oae},
	}
)

// Habit refuses a command line of one of the originals with the line that does the same here;
// nil if it is none.
func Habit(args []string) error {
	for _, h := range habits {
		rest, ok := h.after(args)
		if !ok {
			continue
		}
		given, rest := h.read(rest)
		name := args[0]
		if name == "run" {
			name = args[1]
		}
		named := h.is(name)
		if !named && len(given) == 0 {
			continue
		}
		what := fmt.Sprintf("%s is a command of the original", name)
		if !named {
			what = fmt.Sprintf("%s is an option of the original's %s", h.first(args), h.program)
		}
		return fault.Input(fmt.Errorf("run: %s", what), "here it is  "+words(h.line(h.profile, given, append(h.mode(), rest...))))
	}
	return nil
}

// is reports whether a word is the name of the program.
func (h habit) is(word string) bool {
	return strings.TrimSuffix(path.Base(word), ".js") == h.program
}

// after returns what follows the name of the program, or ours with its profile.
func (h habit) after(args []string) ([]string, bool) {
	switch {
	case len(args) == 0:
		return nil, false
	case h.is(args[0]):
		return args[1:], true
	case len(args) > 1 && args[0] == "run" && (h.is(args[1]) || args[1] == h.profile && h.mode() == nil):
		return args[2:], true
	}
	return nil, false
}

// mode is what sets the mode that the program stands for.
func (h habit) mode() []string {
	if h.program == "run-profiles" {
		return []string{"--set", "mode=user-profile"}
	}
	return nil
}

// read takes the original's options from a command line.
func (h habit) read(args []string) (o options, rest []string) {
	o = options{}
	for i := 0; i < len(args); i++ {
		value, ok := h.takes[args[i]]
		switch {
		case !ok:
			rest = append(rest, args[i])
		case value && i+1 < len(args):
			o[args[i]] = args[i+1]
			i++
		default:
			o[args[i]] = ""
		}
	}
	return o, rest
}

// first returns the first of the original's options in a command line.
func (h habit) first(args []string) string {
	return args[slices.IndexFunc(args, func(a string) bool { _, ok := h.takes[a]; return ok })]
}

// padogridLine writes the line for one of PadoGrid's programs, which only show what they would
// do without -run.
func padogridLine(profile string, o options, rest []string) []string {
	var file []string
	if o["-prop"] != "" {
		file = []string{"--file", o["-prop"]}
	}
	target := []string{"--target", "redis://localhost:6379"}
	if slices.Contains(rest, "--target") || slices.Contains(rest, "-t") {
		target = nil
	}
	switch {
	case profile == "group" && o.has("-delete") && o.has("-run"):
		return slices.Concat([]string{"perfbench", "data", "delete", "--profile", profile}, file, target, rest)
	case profile == "group" && (o.has("-list") || o.has("-delete")) && !o.has("-run"):
		return slices.Concat([]string{"perfbench", "data", "list", "--profile", profile}, file, target, rest)
	}
	line := slices.Concat([]string{"perfbench", "run", profile}, file)
	if o.has("-db") && target != nil {
		line = append(line, "--target", "mysql://root@localhost:3306/perfbench")
	}
	if !o.has("-run") {
		line = append(line, "--dry-run")
	}
	return append(line, rest...)
}

// oaeLine writes the line for one of OAE's load scripts.
func oaeLine(profile string, o options, rest []string) []string {
	line := []string{"perfbench", "run", profile}
	for _, p := range []struct{ short, long, before string }{
		{"-s", "--scripts-dir", ""}, {"-n", "--number-of-runs", "runs="}, {"-c", "--concurrent", "concurrent="},
	} {
		value := o[p.short]
		if value == "" {
			value = o[p.long]
		}
		switch {
		case value == "":
		case p.before == "":
			line = append(line, "--file", value)
		default:
			line = append(line, "--set", p.before+value)
		}
	}
	return append(line, rest...)
}

// words writes a command line; an argument with blanks is quoted.
func words(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = a; strings.ContainsAny(a, " \t'\"$&;*?") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
