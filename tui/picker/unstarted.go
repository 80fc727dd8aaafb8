package picker

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// unstarted are the runs that could not start while the workbench is open, the newest first: nothing of
// them is on the disk. They stay until they are dismissed or tried again, or a run of the same profile starts
// on the same target.
type unstarted struct {
	list *profiles
	all  []screen.NotStartedMsg
	// height is how many lines were drawn last.
	height int
}

// mostUnstarted is how many of a profile are shown.
const mostUnstarted = 2

// add notes one; the same run that failed before is there once.
func (u *unstarted) add(m screen.NotStartedMsg) {
	u.all = slices.DeleteFunc(u.all, func(o screen.NotStartedMsg) bool { return reflect.DeepEqual(o.To, m.To) })
	u.all = slices.Insert(u.all, 0, m)
}

// started forgets those of the profile and the target of a run that has started.
func (u *unstarted) started(r request.Request) {
	target := func(r request.Request) string {
		clean, _ := widget.SplitSecret(r.Target)
		return cmp.Or(clean, widget.DefaultTarget)
	}
	u.all = slices.DeleteFunc(u.all, func(m screen.NotStartedMsg) bool {
		return m.To.Request.Profile == r.Profile && target(m.To.Request) == target(r)
	})
}

// ours are those of the selected profile.
func (u *unstarted) ours() (out []screen.NotStartedMsg) {
	pr := u.list.selected()
	for _, m := range u.all {
		if pr != nil && m.To.Request.Profile == pr.Name {
			out = append(out, m)
		}
	}
	return out[:min(len(out), mostUnstarted)]
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
	list := u.ours()
	if len(list) == 0 {
		return nil
	}
	to := list[0].To
	u.all = slices.DeleteFunc(u.all, func(m screen.NotStartedMsg) bool { return reflect.DeepEqual(m.To, to) })
	return screen.Open(to)
}

// lines say when and why each did not start.
func (u *unstarted) lines(s *widget.Styles, w int) (out []string) {
	for _, m := range u.ours() {
		text := m.At.Format(time.TimeOnly) + " not started: " + widget.Unflagged(firstLine(m.Err))
		for i, line := range widget.Wrap(text, w-4) {
			sign := "✗ "
			if i > 0 {
				sign = "  "
			}
			out = append(out, " "+s.Bad.On(sign+line))
		}
	}
	if len(out) > 0 {
		out = append(out, " "+s.Muted.On(widget.Fit("R here tries again, esc clears", w-2)))
	}
	u.height = len(out)
	return out
}
