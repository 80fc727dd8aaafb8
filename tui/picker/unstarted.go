package picker

import (
	"reflect"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// unstarted are the runs that could not start while the workbench is open, the newest first: nothing of
// them is on the disk. They stay until they are dismissed or tried again, or a run starts.
type unstarted struct {
	list *profiles
	all  []screen.NotStartedMsg
	// height is how many lines were drawn last.
	height int
}

// mostOfUnstarted is how many lines one takes at most.
const mostOfUnstarted = 2

// add notes one; the same run that failed before is there once.
func (u *unstarted) add(m screen.NotStartedMsg) {
	u.all = slices.DeleteFunc(u.all, func(o screen.NotStartedMsg) bool { return reflect.DeepEqual(o.To, m.To) })
	u.all = slices.Insert(u.all, 0, m)
}

// ours is the newest of the selected profile; nil if there is none.
func (u *unstarted) ours() *screen.NotStartedMsg {
	pr := u.list.selected()
	for i := range u.all {
		if pr != nil && u.all[i].To.Request.Profile == pr.Name {
			return &u.all[i]
		}
	}
	return nil
}

// dismiss forgets those of the selected profile, and reports whether there were any.
func (u *unstarted) dismiss() bool {
	before := len(u.all)
	pr := u.list.selected()
	u.all = slices.DeleteFunc(u.all, func(m screen.NotStartedMsg) bool { return pr != nil && m.To.Request.Profile == pr.Name })
	return len(u.all) < before
}

// again tries the newest once more.
func (u *unstarted) again() tea.Cmd {
	m := u.ours()
	if m == nil {
		return nil
	}
	to := m.To
	u.all = slices.DeleteFunc(u.all, func(m screen.NotStartedMsg) bool { return reflect.DeepEqual(m.To, to) })
	return screen.Open(to)
}

// lines say when and why the newest did not start.
func (u *unstarted) lines(s *widget.Styles, w int) (out []string) {
	if m := u.ours(); m != nil {
		text := m.At.Format(time.TimeOnly) + " not started: " + widget.Unflagged(firstLine(m.Err))
		lines := widget.Wrap(text, w-4)
		if len(lines) > mostOfUnstarted {
			lines = append(lines[:mostOfUnstarted-1], ansi.Truncate(strings.Join(lines[mostOfUnstarted-1:], " "), w-4, "…"))
		}
		for i, line := range lines {
			out = append(out, " "+s.Bad.On([]string{"✗ ", "  "}[i]+line))
		}
	}
	u.height = len(out)
	return out
}
