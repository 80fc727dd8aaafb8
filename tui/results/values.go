package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/widget"
)

// value is a line of the page of settings. from names the flag that set it if that has another name.
type value struct{ name, text, from string }

// group is a part of the page of settings.
type group struct {
	title string
	list  []value
	dim   bool
}

// Titles of groups of settings.
const (
	ofChanges  = "Changed during the run"
	ofFlags    = "Set by flags"
	ofForm     = "Set in the form"
	ofPlace    = "Where it ran"
	ofDefaults = "Defaults"
)

// titleOf returns the group of a value that came from somewhere, and the flag if it has another name.
func titleOf(name, origin string) (title, flag string) {
	switch kind, rest, _ := strings.Cut(origin, " "); {
	case origin == "default":
		return ofDefaults, ""
	case origin == "form":
		return ofForm, ""
	case origin == "":
		return "Set", ""
	case kind == "flag" && strings.HasSuffix("."+name, "."+strings.TrimPrefix(rest, "--")):
		return ofFlags, ""
	case kind == "flag":
		return ofFlags, rest
	}
	return "From " + origin, ""
}

// groups lists what the run began with by where it came from, the defaults last, and then where it ran.
func (l *loadedRun) groups() (out []group) {
	run := &l.folder.Run
	add := func(title string, v value) {
		at := slices.IndexFunc(out, func(g group) bool { return g.title == title })
		if at < 0 {
			out, at = append(out, group{title: title, dim: title == ofDefaults}), len(out)
		}
		out[at].list = append(out[at].list, v)
	}
	changed := turned(run)
	for _, k := range slices.Sorted(maps.Keys(changed)) {
		add(ofChanges, value{name: k, text: changed[k]})
	}
	for _, k := range run.Given() {
		if changed[k] != "" {
			continue
		}
		text := run.Parameters[k]
		if v, ok := run.Settings[k]; ok {
			text = rundir.SettingText(k, v)
		}
		title, flag := titleOf(k, run.Origin(k))
		add(title, value{k, text, flag})
	}
	if _, listed := run.Parameters["seed"]; !listed {
		add(ofDefaults, value{name: "seed", text: fmt.Sprint(run.Seed)})
	}
	rank := func(g group) int {
		switch g.title {
		case ofChanges:
			return 0
		case ofFlags, ofForm:
			return 1
		case ofDefaults:
			return 3
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b group) int { return cmp.Compare(rank(a), rank(b)) })
	for _, k := range slices.Sorted(maps.Keys(run.Store.Details)) {
		add(ofPlace, value{name: "store " + k, text: run.Store.Details[k]})
	}
	for _, k := range slices.Sorted(maps.Keys(run.Environment)) {
		text := fmt.Sprint(run.Environment[k])
		if f, ok := run.Environment[k].(float64); ok {
			text = widget.NumberText(f)
		}
		add(ofPlace, value{name: k, text: text})
	}
	return out
}

// The page of settings has a second column from twoColumns cells on, and as many of leastColumn as it needs to
// be seen whole.
const twoColumns, leastColumn = 100, 50

// values is the page of settings in w cells and, if that can be, h lines.
func (l *loadedRun) values(s *widget.Styles, w, h int) []string {
	groups := l.groups()
	lay := func(w int) (lines []string, heads map[int]bool) {
		heads = map[int]bool{}
		for _, g := range groups {
			if len(lines) > 0 {
				lines = append(lines, "")
			}
			heads[len(lines)] = true
			lines = append(append(lines, s.Bold.On(g.title)), g.lines(s, w)...)
		}
		return lines, heads
	}
	if w < twoColumns || s.Spoken {
		lines, _ := lay(w)
		return lines
	}
	for n := 2; ; n++ {
		column := (w - gutter*(n-1)) / n
		lines, heads := lay(column)
		height := (len(lines) + n - 1) / n
		for len(split(lines, heads, height)) > n {
			height++
		}
		if height > h && w/(n+1) >= leastColumn {
			continue
		}
		all := split(lines, heads, height)
		out := all[len(all)-1]
		for _, left := range slices.Backward(all[:len(all)-1]) {
			out = columns(left, column, out...)
		}
		return out
	}
}

// split parts lines into columns of a height; none ends with the title of a group, or begins with a blank line.
func split(lines []string, heads map[int]bool, height int) (out [][]string) {
	for from := 0; from < len(lines); {
		if lines[from] == "" {
			from++
		}
		to := min(from+height, len(lines))
		if to < len(lines) && heads[to-1] && to-1 > from {
			to--
		}
		out = append(out, lines[from:to])
		from = to
	}
	return out
}

// lines are the values of a group in w cells, none of them cut.
func (g *group) lines(s *widget.Styles, w int) (out []string) {
	names := 0
	for _, v := range g.list {
		names = max(names, ansi.StringWidth(v.name))
	}
	k := s.Plain
	if g.dim {
		k = s.Muted
	}
	for _, v := range g.list {
		text := cmp.Or(v.text, "–")
		if v.from != "" {
			text += "  " + v.from
		}
		if s.Spoken {
			out = append(out, v.name+"  "+text)
			continue
		}
		name := v.name
		for line := range strings.SplitSeq(ansi.Wrap(text, max(w-names-2, 12), ",/"), "\n") {
			out = append(out, k.On(widget.Fit(name, names)+"  "+line))
			name = ""
		}
	}
	return out
}
