package chart

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/widget"
)

// A bar of Uses is leastUse to mostUse cells wide.
const leastUse, mostUse = 5, 40

// Uses draws how much of each resource was used in rows of w cells: its name, a bar that is full where all
// of it was in use, and the figures. What was at its limit has a colour.
func Uses(s *widget.Styles, uses []rundir.Use, w int) (out []string) {
	if s.Spoken {
		for i := range uses {
			out = append(out, uses[i].Words())
		}
		return out
	}
	names, amounts := 0, 0
	for i := range uses {
		names, amounts = max(names, ansi.StringWidth(uses[i].What)), max(amounts, ansi.StringWidth(uses[i].Amount()))
	}
	bar := min(max(w-names-amounts-4, leastUse), mostUse)
	for i := range uses {
		u := &uses[i]
		name, k := s.Plain, s.Muted
		if u.Limit {
			name, k = s.Bold, s.Accent
		}
		drawn := widget.Fit("", bar)
		if part, known := u.Part(); known {
			full := strings.TrimRight(Bar(part, 1, bar), " ")
			drawn = k.On(full) + s.Line.On(strings.Repeat("─", bar-ansi.StringWidth(full)))
		}
		line := name.On(widget.Fit(u.What, names)) + "  " + drawn + "  " + name.On(u.Amount())
		if u.Note != "" && ansi.StringWidth(line+", "+u.Note) <= w {
			line += s.Muted.On(", " + u.Note)
		} else if u.Note != "" {
			out = append(out, widget.Fit(line, w))
			line = widget.Fit("", names+2) + s.Muted.On(u.Note)
		}
		out = append(out, ansi.Truncate(line, w, "…"))
	}
	return out
}
