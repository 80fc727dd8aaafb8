package dashboard

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// breaking is the dialog that has a fault happen to the run: it lists those that the run can have,
// asks for how long, and says what enter does.
type breaking struct {
	control screen.Control // nil if the run is only watched
	now     *reading
	ending  *ending
	says    *messages
	last    *Broke

	open bool
	// ready are the faults that the run can have, later those that it could have with breakable
	// connections; none is why there are neither.
	ready, later []string
	none         error
	// fault and long are what is typed; onTime means that long has the keys.
	fault, long widget.Field
	onTime      bool
	// why is the reason that the fault cannot happen; nil: it can.
	why error
}

// Broke is the fault that a run had last, and for how long, as typed. It belongs to the event loop.
type Broke struct{ fault, long string }

// usualFault is how long a fault lasts unless another time is typed.
const usualFault = "10s"

// press opens the dialog.
func (b *breaking) press() {
	b.ready, b.later, b.none = b.control.Faults()
	b.open, b.onTime = true, false
	all := b.all()
	if text := b.fault.Value(); text != "" && len(all) > 0 {
		b.fault = widget.NewChosen(text)
	} else if kind, _, _ := strings.Cut(b.last.fault, ":"); slices.ContainsFunc(all, func(f string) bool { return f == b.last.fault || f == kind || strings.HasPrefix(f, kind+":") }) {
		b.fault = widget.NewChosen(b.last.fault)
	} else if len(all) > 0 {
		b.fault = widget.NewChosen(all[0])
	}
	if b.long.Value() == "" {
		b.long = widget.NewChosen(cmp.Or(b.last.long, usualFault))
	}
	b.judge()
}

// all are the faults that are offered.
func (b *breaking) all() []string { return slices.Concat(b.ready, b.later) }

// time returns for how long the fault is to last.
func (b *breaking) time() (time.Duration, error) {
	long, err := time.ParseDuration(strings.TrimSpace(b.long.Value()))
	if err != nil {
		return 0, fault.Input(fmt.Errorf("%q is not a time such as %s", b.long.Value(), usualFault), "")
	}
	return long, nil
}

// judge finds out whether what is typed can happen.
func (b *breaking) judge() {
	if b.why = b.none; b.why != nil {
		return
	}
	long, err := b.time()
	if err == nil {
		err = b.control.CanBreak(strings.TrimSpace(b.fault.Value()), long)
	}
	b.why = err
}

// again reports whether the fault could happen to the same run with breakable connections.
func (b *breaking) again() bool { return errors.Is(b.why, workload.ErrDirect) && b.ending.run != nil }

// key handles a key of the dialog.
func (b *breaking) key(msg tea.KeyPressMsg, e screen.Env) {
	switch msg.String() {
	case "esc":
		b.open = false
		return
	case "enter":
		b.enter(e)
		return
	case "tab", "shift+tab", "up", "down":
		b.onTime = !b.onTime
		b.fault = widget.NewChosen(b.fault.Value()) // of which ←→ choose again
	case "left", "right":
		if b.picks() {
			b.choose(map[string]int{"left": -1, "right": 1}[msg.String()])
		} else {
			b.edit(msg)
		}
	default:
		b.edit(msg)
	}
	b.judge()
}

// untouched reports whether nothing has been typed where the keys go.
func (b *breaking) untouched() bool {
	if b.onTime {
		return b.long.Untouched()
	}
	return b.fault.Untouched()
}

// paste inserts text where it is typed.
func (b *breaking) paste(msg tea.PasteMsg) {
	b.edit(msg)
	b.judge()
}

// edit handles a key or a paste where it is typed.
func (b *breaking) edit(msg tea.Msg) {
	if b.onTime {
		b.long, _ = b.long.Update(msg)
	} else {
		b.fault, _ = b.fault.Update(msg)
	}
}

// picks reports whether ←→ choose a fault: while one is typed, they move in it.
func (b *breaking) picks() bool { return !b.onTime && b.fault.Untouched() }

// choose goes on in the list of faults.
func (b *breaking) choose(by int) {
	all := b.all()
	if len(all) == 0 {
		return
	}
	at := slices.Index(all, b.fault.Value())
	if at < 0 && by < 0 {
		at = 0
	}
	b.fault = widget.NewChosen(all[(at+by+len(all))%len(all)])
}

// enter has the fault happen or, if that takes breakable connections, ends the run and begins it
// again with them.
func (b *breaking) enter(e screen.Env) {
	switch b.judge(); {
	case b.again():
		b.open = false
		r := b.now.info.Request.At(b.now.plan, b.now.run.Settings)
		r.Values = maps.Clone(r.Values)
		r.Values[breakable] = workload.Value{Name: breakable, Text: "on", Origin: workload.OriginFlag}
		b.ending.then = screen.Start{Request: r}
		b.ending.stop(e, "stopping: then the same run begins again, with connections that can be broken by F")
	case b.why == nil:
		long, _ := b.time() // it was judged
		if b.why = b.control.Break("workbench", strings.TrimSpace(b.fault.Value()), long); b.why == nil {
			b.open = false
			*b.last = Broke{strings.TrimSpace(b.fault.Value()), strings.TrimSpace(b.long.Value())}
			b.says.hush()
		}
	}
}

// breakable is the value that leads connections through a proxy.
const breakable = "breakable"

// keys returns those of the dialog.
func (b *breaking) keys() widget.KeyMap {
	enter := widget.Bind("enter", "break it", "enter")
	switch {
	case b.again():
		enter.SetHelp("enter", "end this run, begin it breakable")
	case b.why != nil:
		enter.SetEnabled(false)
	}
	list := []key.Binding{widget.Bind("esc", "close", "esc")}
	if len(b.all()) > 0 {
		list = []key.Binding{enter, widget.Bind("↑↓", "row", "up", "down", "tab", "shift+tab"), widget.Bind("←→", "fault", "left", "right"), list[0]}
		list[2].SetEnabled(b.picks())
	}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}

// over draws the dialog above a page.
func (b *breaking) over(e screen.Env, page string) string {
	s := e.Styles
	name, w := 0, 58
	for _, text := range b.all() {
		name = max(name, len(text)+2)
	}
	for _, text := range b.all() {
		w = max(w, name+ansi.StringWidth(whatItDoes(text))+7)
	}
	w = min(w, e.W-2)
	inside := w - 4
	below := b.below(s, inside)
	if does := whatItDoes(b.fault.Value()); name+ansi.StringWidth(does)+3 > inside { // its row has no room for all of it
		below = append(widget.Indent(append([]string{""}, widget.MutedLines(s, does, inside)...)), below...)
	}
	var lines []string
	if len(b.all()) > 0 {
		field := func(label string, f widget.Field, on bool) string {
			value, ink := s.Bold.On(f.Value()), s.Muted
			switch {
			case on && label == "fault" && b.picks() && f.Value() != "":
				value, ink = s.Accent.On("◂ ")+value+s.Accent.On(" ▸"), s.Selected
			case on:
				value, ink = f.View(s, inside-8), s.Selected
			}
			return " " + ink.On(widget.Fit(label, 7)) + value
		}
		lines = append(lines, field("fault", b.fault, !b.onTime), field("for", b.long, b.onTime), "")
	}
	room := max(e.H-1-2-len(lines)-len(below), 1)
	list, note := b.list(s, name, inside, room)
	lines = append(append(lines, list...), below...)
	h := min(len(lines)+2, e.H-1)
	p := widget.Panel{Title: "Break something", Focused: true, Note: note, Foot: "esc closes, nothing is broken"}
	return widget.Laid(page, p.Draw(s, w, h, lines), (e.W-w)/2, max((e.H-1-h)/2, 0))
}

// list draws the faults that are offered, with what each does, in at most as many lines; note says
// which of them these are, if not all.
func (b *breaking) list(s *widget.Styles, name, w, room int) (lines []string, note string) {
	all := b.all()
	at := max(slices.Index(all, b.fault.Value()), 0)
	top := 0
	if len(all) > room {
		top = max(min(at-room/2, len(all)-room), 0)
		note = fmt.Sprintf("%d–%d of %d", top+1, top+room, len(all))
	}
	for i := top; i < min(top+room, len(all)); i++ {
		lead, ink := "  ", s.Plain
		if i >= len(b.ready) {
			ink = s.Muted
		}
		if all[i] == b.fault.Value() {
			lead, ink = "▸ ", s.Selected
		}
		lines = append(lines, widget.Fit(" "+lead+ink.On(widget.Fit(all[i], name))+s.Muted.On(widget.Brief(whatItDoes(all[i]), w-name-3)), w+1))
	}
	return lines, note
}

// whatItDoes is the help of the kind of a fault; empty if there is no such kind.
func whatItDoes(text string) string {
	word, _, _ := strings.Cut(text, ":")
	for _, k := range workload.FaultKinds() {
		if k.Name == word || slices.Contains(k.Examples, text) {
			return k.Help
		}
	}
	return ""
}

// below says what enter does, or why nothing can happen, in full.
func (b *breaking) below(s *widget.Styles, w int) []string {
	out := []string{""}
	add := func(k widget.Ink, text string) {
		for _, l := range widget.Wrap(text, w) {
			out = append(out, " "+k.On(l))
		}
	}
	switch {
	case b.again():
		add(s.Warn, "The connections of this run are direct, so that they cannot be broken. Enter ends this run, with its report, and begins the same again with connections through a proxy (breakable), which costs some tens of microseconds a call; F breaks them then.")
		if len(b.ready) > 0 {
			add(s.Muted, "This run can have: "+strings.Join(b.ready, ", ")+".")
		}
	case b.why != nil:
		for _, l := range widget.Sentences(s, b.why, w) {
			out = append(out, " "+widget.Unflagged(l))
		}
	default:
		add(s.OK, "Enter breaks it at once; it heals by itself after "+strings.TrimSpace(b.long.Value())+".")
	}
	return out
}
