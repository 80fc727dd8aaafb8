package archive

import (
	"errors"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Keeper changes what is kept. It writes files.
type Keeper interface {
	// Remove deletes finished runs, which Restore brings back until the workbench closes. The error
	// names those that could not be deleted, and why; the others are deleted.
	Remove(ids []string) error
	// Removed is how many runs can be brought back. It reads no files.
	Removed() int
	// Left is how many of these a workbench that died had deleted: they stay when this one closes.
	Left() int
	// Restore brings back the runs that were deleted last, and returns how many.
	Restore() (int, error)
	// Pack replaces the directory of each run by a single file. The error names the
	// runs for which this failed.
	Pack(ids []string) error
	// Unpack makes folders of archived runs again, as Pack found them. The error names the
	// runs for which this failed.
	Unpack(ids []string) error
	// Annotate sets the note on a run, replacing the previous one; an empty note
	// removes it.
	Annotate(id, note string) error
	// Retag sets the tags of a run, each NAME=VALUE, in place of all that it has.
	Retag(id string, words []string) error
}

// FilteredBy says what a list of runs is filtered by.
const FilteredBy = "filter by profile, store, verdict, threads=8, p99>5ms, tag, note or date"

// RunList is the filter and the order of a list of kept runs, and the open question about
// them. It belongs to the event loop.
type RunList struct {
	// Filter is what the list is filtered by.
	Filter widget.Filter
	now    time.Time
	title  func(profile string) string

	keeper Keeper
	order  kept.Order
	asked  *question // nil: nothing
	noting *note     // what is written on a run or in a name; nil: nothing
	// packed means that runs were archived here since some were deleted, so that u is about the archive.
	packed bool
}

// New returns the shelf of an archive.
func NewRunList(k Keeper) RunList { return RunList{keeper: k} }

// At tells the list the time of the last frame, which days are told by, and what profiles are called.
func (s *RunList) At(e screen.Env) { s.now, s.title = e.Now, e.Title }

// Sought is what the filter asks for.
func (s *RunList) Sought() kept.Sought {
	return kept.Sought{Text: s.Filter.Text(), Now: s.now, Title: s.title}
}

// NoMatch says why no item of a list passes the filter, in w cells.
func (s *RunList) NoMatch(st *widget.Styles, all []kept.Item, w int) []string {
	if err := s.Sought().Check(all); err != nil {
		return widget.Sentences(st, err, w)
	}
	return append([]string{"No run matches."}, widget.MutedLines(st, "Press esc to see all, or "+FilteredBy+".", w)...)
}

// Forget discards a question, and keeps the filter as far as it was typed.
func (s *RunList) Forget() {
	s.asked = nil
	s.Filter.Keep()
}

// Typing reports whether text is being typed, or a question answered.
func (s *RunList) Typing() bool { return s.Filter.Typing() || s.asked != nil || s.noting != nil }

// Shown returns the indexes of the items that pass the filter, in the chosen order.
func (s *RunList) Shown(all []kept.Item) []int {
	var out []int
	sought := s.Sought()
	for i := range all {
		if sought.Text == "" || all[i].Holds(sought) {
			out = append(out, i)
		}
	}
	if s.order != kept.Newest {
		slices.SortStableFunc(out, func(a, b int) int { return s.order.Compare(&all[a], &all[b]) })
	}
	return out
}

// Folded is Shown with the runs of sweeps and groups below those, if they are opened, or else left out.
// Where the list is filtered or sorted, each run stands alone, and nested is false.
func (s *RunList) Folded(all []kept.Item, opened map[string]bool) (out []int, nested bool) {
	shown := s.Shown(all)
	if s.Filter.Text() != "" || s.order != kept.Newest {
		return shown, false
	}
	of, below := groupsOf(all), map[string][]int{}
	for _, n := range shown {
		if id := of[all[n].ID()]; id != "" {
			below[id] = append(below[id], n)
		}
	}
	for _, n := range shown {
		id := all[n].ID()
		if of[id] != "" {
			continue
		}
		if out = append(out, n); opened[id] {
			out = append(out, below[id]...)
		}
	}
	return out, true
}

// Order returns the order of the list.
func (s *RunList) Order() kept.Order { return s.order }

// Paste inserts text where text is being typed.
func (s *RunList) Paste(msg tea.PasteMsg) {
	switch {
	case s.noting != nil:
		s.noting.field, _ = s.noting.field.Update(msg)
	case s.Filter.Typing():
		s.Filter.Paste(msg)
	}
}

// Press handles a key of the shelf; ours reports whether the key was one. Afterwards
// the list is to be drawn from Shown again. at is what is selected, nil without anything: of a sweep or a
// group all runs are meant; listed are the ids of all runs that pass the filter.
func (s *RunList) Press(msg tea.KeyPressMsg, at *kept.Item, listed []string) (cmd tea.Cmd, ours bool) {
	k := widget.AllKeys
	runs := runsIn(at)
	folders, archives := idsOf(runs, false), idsOf(runs, true)
	switch {
	case s.Filter.Typing():
		s.Filter.Press(msg)
	case s.noting != nil:
		return s.write(msg), true
	case s.asked != nil:
		return s.answer(msg), true
	case key.Matches(msg, k.Filter):
		s.Filter.Begin()
	case key.Matches(msg, k.Order):
		s.order = (s.order + 1) % kept.Orders
	case key.Matches(msg, k.Undo) && s.restores(at):
		keeper := s.keeper
		return func() tea.Msg {
			n, err := keeper.Restore()
			return DoneMsg{Text: widget.Plural(int64(n), "deleted run") + " brought back", Err: err, restored: n > 0}
		}, true
	case at == nil:
		return nil, false
	case key.Matches(msg, k.Remove, k.Pack) && len(runs) == 0:
		return refuse(noneKept), true
	case key.Matches(msg, k.Remove, k.Pack) && slices.ContainsFunc(runs, func(r *rundir.Run) bool { return r.EndedBy == rundir.StillRunning }):
		what := "deleted"
		if key.Matches(msg, k.Pack) {
			what = "archived"
		}
		return refuse("not " + what + ": the run is still going; x ends it where it is shown"), true
	case key.Matches(msg, k.Remove):
		s.ask("delete", s.keeper.Remove, at, slices.Concat(folders, archives), listed)
		if len(archives) == 0 {
			s.asked.pack = s.keeper.Pack
		}
	case key.Matches(msg, k.Pack) && len(folders) == 0:
		return refuse("archived already" + then(outAgain, len(archives))), true
	case key.Matches(msg, k.Pack):
		if s.Filter.Text() == "" || len(listed) < 2 { // u undoes it, so nothing is asked
			s.packed = true
			return done("archive", outAgain, s.keeper.Pack, folders), true
		}
		s.ask("archive", s.keeper.Pack, at, folders, listed)
	case key.Matches(msg, k.Undo) && len(archives) > 0:
		keeper, name := s.keeper, widget.Plural(int64(len(archives)), "run")
		if at.Run != nil {
			name = kept.Day(at.Run.Started, s.now) + ", " + widget.NameOf(at.Run)
		}
		return func() tea.Msg {
			return DoneMsg{Text: "taken out of the archive: " + name, Err: keeper.Unpack(archives)}
		}, true
	case key.Matches(msg, k.Annotate, k.Retag):
		return s.writeOn(at.Run, key.Matches(msg, k.Retag)), true
	default:
		return nil, false
	}
	return nil, true
}

// writeOn begins to write a note or tags on a run, or says why not; nil: several are selected.
func (s *RunList) writeOn(run *rundir.Run, tags bool) tea.Cmd {
	switch {
	case run == nil:
		return refuse("a note or tags are written on a single run")
	case run.Archived:
		id, note, keeper := run.ID, run.Note, s.keeper // which says why not
		return func() tea.Msg { return DoneMsg{Err: keeper.Annotate(id, note)} }
	case tags:
		s.noting = &note{id: run.ID, lead: " Tags, " + moment(run) + " (ci=7; by=me): ", verb: "keep", field: widget.NewField(strings.Join(run.TagWords(), between)), keep: s.retag}
	default:
		s.noting = &note{id: run.ID, lead: " Note, " + moment(run) + ": ", verb: "keep", field: widget.NewField(run.Note), keep: s.annotate}
	}
	return nil
}

// noneKept is why nothing can be done with the runs of a sweep or a group.
const noneKept = "none of its runs is kept any more"

// refuse says why a key does nothing.
func refuse(why string) tea.Cmd { return func() tea.Msg { return DoneMsg{Err: errors.New(why)} } }

// runsIn returns the runs that an item of a list stands for: itself, or those of a sweep or group that are
// still kept.
func runsIn(at *kept.Item) []*rundir.Run {
	switch {
	case at == nil:
		return nil
	case at.Run != nil:
		return []*rundir.Run{at.Run}
	}
	return at.Of
}

// idsOf returns the ids of those runs that are archived, or of those that are not.
func idsOf(runs []*rundir.Run, archived bool) (ids []string) {
	for _, r := range runs {
		if r.Archived == archived {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// restores reports whether u brings back what was deleted, and does not take what is selected out of the archive.
func (s *RunList) restores(at *kept.Item) bool {
	return s.keeper.Removed() > 0 && !(s.packed && len(idsOf(runsIn(at), true)) > 0)
}

// moment names a run by when it was started, in the prompts for what is written on it.
func moment(r *rundir.Run) string { return r.Started.Format("15:04:05") }

// Bindings enables the keys of the shelf that work now: on an item of a list, and on
// what is selected; nil if nothing is.
func (s *RunList) Bindings(k *widget.Bindings, some bool, at *kept.Item) {
	runs, run := runsIn(at), at != nil && at.Run != nil
	k.Order.SetEnabled(some)
	k.Remove.SetEnabled(len(runs) > 0)
	k.Pack.SetEnabled(len(idsOf(runs, false)) > 0)
	switch packed := len(idsOf(runs, true)) > 0; {
	case s.restores(at) && packed: // the archive has its turn after that
		k.Undo.SetHelp("u", "bring back what was deleted, then take out of the archive")
	case s.restores(at):
		k.Undo.SetHelp("u", "bring back what was deleted")
	case packed:
		k.Undo.SetHelp("u", "take out of the archive")
	default:
		k.Undo.SetEnabled(false)
	}
	k.Annotate.SetEnabled(run)
	k.Retag.SetEnabled(run)
}
