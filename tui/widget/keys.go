package widget

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// KeyMap is what a screen reports about its keys: those of the bottom line in order,
// and all of them in groups, with the signs that the help explains. It is a help.KeyMap.
type KeyMap struct {
	Short []key.Binding
	Full  [][]key.Binding
	// Signs explain what is drawn; they are no keys.
	Signs []key.Binding
}

// ShortHelp returns the keys of the bottom line.
func (k KeyMap) ShortHelp() []key.Binding { return k.Short }

// FullHelp returns all keys in groups.
func (k KeyMap) FullHelp() [][]key.Binding { return k.Full }

// Bind returns a binding: the name of its key in the help, what it does, and its keys.
func Bind(help, desc string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
}

// Bindings holds every key of the program. The same letter means the same thing
// everywhere. Screens copy it and disable in their copy what does not work now.
type Bindings struct {
	// everywhere
	Help, Back, Home, Quit, Interrupt, Next, Prev, Suspend, Logs key.Binding
	// lists
	Up, Down, First, Last, PageUp, PageDown, Filter, Choose, Left, Right, LeftTen, RightTen, LastMark, NextMark, FirstMoment, NewestMoment key.Binding
	// picker and results
	Start, Launch, History, Export, Copy, CopySummary, Again, Compare, Swap, Details, Toggle, Edit, Ping key.Binding
	// dashboard
	Pause, More, Less, MoreTen, LessTen                                                   key.Binding
	PayloadDown, PayloadUp, RateDown, RateUp, Arrivals                                    key.Binding
	Tune, LogAxis, Mark, Fault, Stop, Undo, Reset, SavePreset, Plans                      key.Binding
	Search, EndSearch, Sweep, Targets, SideA, SideB, Remove, Pack, Order, Annotate, Retag key.Binding
	TurnDown, TurnUp, TurnDownTen, TurnUpTen, TypeValue                                   key.Binding
}

func newBindings() Bindings {
	return Bindings{
		Help:      Bind("?", "help", "?", "f1"),
		Back:      Bind("esc", "back", "esc"),
		Home:      Bind("H", "first screen", "H"),
		Quit:      Bind("q", "quit", "q"),
		Interrupt: Bind("ctrl+c", "quit; twice: at once", "ctrl+c"),
		Next:      Bind("tab", "next panel", "tab"),
		Prev:      Bind("shift+tab", "previous panel", "shift+tab"),
		Suspend:   Bind("ctrl+z", "suspend", "ctrl+z"),
		Logs:      Bind("L", "log", "L"),

		Up:          Bind("↑", "up", "up", "k"),
		Down:        Bind("↓", "down", "down", "j"),
		First:       Bind("g", "first", "g", "home"),
		Last:        Bind("G", "last", "G", "end"),
		PageUp:      Bind("pgup", "page up", "pgup"),
		PageDown:    Bind("pgdn", "page down", "pgdown"),
		Filter:      Bind("/", "filter", "/"),
		Choose:      Bind("enter", "choose", "enter"),
		Left:        Bind("←", "previous value", "left"),
		Right:       Bind("→", "next value", "right"),
		LeftTen:     Bind("shift+←", "ten back", "shift+left"),
		RightTen:    Bind("shift+→", "ten on", "shift+right"),
		LastMark:    Bind("(", "marker before", "("),
		FirstMoment: Bind("home", "first moment", "home"), NewestMoment: Bind("end", "newest moment", "end"),
		NextMark: Bind(")", "next marker", ")"),

		Start:       Bind("enter", "start", "enter"),
		Launch:      Bind("S", "start", "S"),
		Swap:        Bind("v", "swap", "v"),
		Plans:       Bind("P", "plans", "P"),
		History:     Bind("h", "earlier runs", "h"),
		Export:      Bind("e", "export", "e"),
		Copy:        Bind("y", "copy command", "y"),
		CopySummary: Bind("Y", "copy summary", "Y"),
		Again:       Bind("R", "run again", "R"),
		Compare:     Bind("c", "compare", "c"),
		Details:     Bind("ctrl+d", "details", "d", "ctrl+d"),
		Toggle:      Bind("space", "select", "space"),
		Edit:        Bind("enter", "edit", "enter"),
		Ping:        Bind("ctrl+p", "ping target", "p", "ctrl+p"),

		Pause:       Bind("space", "pause", "space"),
		More:        Bind("+", "one thread more", "+", "="),
		Less:        Bind("-", "one thread fewer", "-"),
		MoreTen:     Bind(">", "ten threads more", ">"),
		LessTen:     Bind("<", "ten threads fewer", "<"),
		PayloadDown: Bind("[", "halve payload", "["),
		PayloadUp:   Bind("]", "double payload", "]"),
		RateDown:    Bind("{", "lower rate", "{"),
		RateUp:      Bind("}", "higher rate", "}"),
		Arrivals:    Bind("A", "arrivals of the calls", "A"),
		Tune:        Bind("t", "tune", "t"),
		LogAxis:     Bind("l", "log or linear axes", "l"),
		Mark:        Bind("m", "mark", "m"),
		Fault:       Bind("F", "break something", "F"),
		Stop:        Bind("x", "stop", "x"),
		Undo:        Bind("u", "undo", "u", "U"),
		Reset:       Bind("r", "reset", "r", "delete"),
		SavePreset:  Bind("s", "save", "s"),
		Search:      Bind("f", "search", "f"),
		EndSearch:   Bind("E", "end search", "E"),
		Sweep:       Bind("w", "sweep", "w"),
		Targets:     Bind("T", "run on several targets", "T"),
		SideA:       Bind("a", "put on side A", "a"),
		SideB:       Bind("b", "put on side B", "b"),
		Remove:      Bind("D", "delete", "D"),
		Pack:        Bind("Z", "archive", "Z"),
		Order:       Bind("o", "sort", "o"),
		Annotate:    Bind("n", "note", "n"),
		Retag:       Bind("#", "tags", "#"),
		TurnDown:    Bind("←", "turn down", "left"),
		TurnUp:      Bind("→", "turn up", "right"),
		TurnDownTen: Bind("shift+←", "÷10", "shift+left"),
		TurnUpTen:   Bind("shift+→", "×10", "shift+right"),
		TypeValue:   Bind("0–9", "type", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "."),
	}
}

// AllKeys is the only set of bindings; never modified.
var AllKeys = newBindings()

// All returns those that say what a key does, for keys that a screen does not have. Where
// several have the key, the first one that changes something says more than one that moves.
func (b *Bindings) All() []key.Binding {
	return []key.Binding{
		b.Stop, b.Search, b.EndSearch, b.Sweep, b.Targets, b.Tune, b.Mark, b.Fault, b.Undo, b.Reset, b.SavePreset, b.Arrivals, b.LogAxis,
		b.Launch, b.History, b.Export, b.Copy, b.CopySummary, b.Again, b.Compare, b.Swap, b.Details, b.Ping, b.Filter,
		b.More, b.Less, b.MoreTen, b.LessTen, b.PayloadDown, b.PayloadUp, b.RateDown, b.RateUp, b.LastMark, b.NextMark,
		b.SideA, b.SideB, b.Remove, b.Pack, b.Order, b.Annotate, b.Retag, b.Home, b.Plans, b.Next, b.Prev, b.First, b.Last,
	}
}

// Knobs returns the bindings that turn a knob of a run, pause it or undo a turn.
func (b *Bindings) Knobs() []*key.Binding {
	return []*key.Binding{
		&b.Pause, &b.More, &b.Less, &b.MoreTen, &b.LessTen, &b.PayloadDown, &b.PayloadUp, &b.RateDown, &b.RateUp, &b.Arrivals, &b.Tune, &b.Undo, &b.Reset, &b.Fault,
	}
}

// Unlettered takes the small letters from the keys that have another, too, and from the others all: where
// values are typed, no small letter is a command. What is left has the names of its keys.
func (b *Bindings) Unlettered() {
	for _, k := range []*key.Binding{
		&b.Up, &b.Down, &b.First, &b.Search, &b.Sweep, &b.Copy, &b.History, &b.Compare, &b.Details, &b.Ping, &b.Undo, &b.Reset, &b.Quit,
	} {
		rest := slices.DeleteFunc(slices.Clone(k.Keys()), func(name string) bool { return len(name) == 1 && name >= "a" && name <= "z" })
		if k.SetKeys(rest...); len(rest) == 0 {
			k.SetEnabled(false)
		}
	}
	b.Undo.SetHelp("U", b.Undo.Help().Desc)
	b.Reset.SetHelp("del", b.Reset.Help().Desc)
	b.First.SetHelp("home", b.First.Help().Desc)
}

// Choice returns the choice after now that begins with a letter, round and round; false if none does.
func Choice(choices []string, now, letter string) (string, bool) {
	at := slices.Index(choices, now)
	for i := range choices {
		if c := choices[(at+1+i)%len(choices)]; strings.HasPrefix(strings.ToLower(c), strings.ToLower(letter)) {
			return c, true
		}
	}
	return "", false
}

// NoShell is why the program cannot be suspended.
const NoShell = "no shell here"

// Global lists the keys that work on every screen; suspend reports whether a shell
// could resume us.
func (b Bindings) Global(suspend bool) []key.Binding {
	if !suspend {
		b.Suspend.SetHelp("ctrl+z", "off: "+NoShell)
		b.Suspend.SetEnabled(false)
	}
	return []key.Binding{b.Help, b.Logs, b.Home, b.Suspend, b.Quit, b.Interrupt}
}

// Long returns b with a longer description, for the help overlay.
func Long(b key.Binding, desc string) key.Binding {
	b.SetHelp(b.Help().Key, desc)
	return b
}

// Reads sets the keys that read charts over time at a moment: some says that there is one to be read,
// marked that there are markers, on that one is being read.
func (b *Bindings) Reads(some, marked, on bool) {
	for k, does := range map[*key.Binding]bool{&b.Left: some, &b.Right: some, &b.LeftTen: some, &b.RightTen: some, &b.LastMark: marked, &b.NextMark: marked, &b.FirstMoment: on, &b.NewestMoment: on} {
		k.SetEnabled(does)
	}
	if on {
		b.Back.SetHelp("esc", "read no moment")
	}
}

// ReadingHelp lists the keys that read a moment, both directions of each as one.
func (b *Bindings) ReadingHelp() []key.Binding {
	both := func(help, desc string, back, on key.Binding) key.Binding {
		out := Bind(help, desc, append(slices.Clone(back.Keys()), on.Keys()...)...)
		out.SetEnabled(back.Enabled())
		return out
	}
	return []key.Binding{
		both("← →", "read one moment", b.Left, b.Right), both("shift+← →", "ten moments on or back", b.LeftTen, b.RightTen),
		both("( )", "read a marker", b.LastMark, b.NextMark), both("home end", "first or newest moment", b.FirstMoment, b.NewestMoment),
	}
}

// Reading puts what a moment that is read is moved and ended by before the other hints.
func (b *Bindings) Reading(short []key.Binding) []key.Binding {
	both := b.ReadingHelp()
	marks, ends, end := Long(both[2], "markers"), Long(both[3], "first, newest"), Long(b.Back, "end reading")
	rest := slices.DeleteFunc(slices.Clone(short), func(k key.Binding) bool { return slices.Equal(k.Keys(), end.Keys()) })
	return append([]key.Binding{Bind("←→", "moment", "left", "right"), marks, end, ends}, rest...)
}

// Moves returns by how much a key moves the selection of a list of so many rows, of which a page has
// half of height; ok is false for any other key.
func (b *Bindings) Moves(msg tea.KeyPressMsg, rows, height int) (by int, ok bool) {
	switch {
	case key.Matches(msg, b.Up):
		return -1, true
	case key.Matches(msg, b.Down):
		return 1, true
	case key.Matches(msg, b.PageUp):
		return -height / 2, true
	case key.Matches(msg, b.PageDown):
		return height / 2, true
	case key.Matches(msg, b.First):
		return -rows, true
	case key.Matches(msg, b.Last):
		return rows, true
	}
	return 0, false
}

// Of returns the first binding of k with a key, dimmed or not; has is false without one.
func (k KeyMap) Of(msg tea.KeyPressMsg) (b key.Binding, has bool) {
	has = k.any(func(one key.Binding) bool {
		b = one
		return Presses(msg, one)
	})
	return b, has
}

// Dims reports whether a key is one of k's that does nothing now.
func (k KeyMap) Dims(msg tea.KeyPressMsg) bool {
	_, has := k.Of(msg)
	return has && !k.Takes(msg)
}

// Takes reports whether a key is one of k's that works now.
func (k KeyMap) Takes(msg tea.KeyPressMsg) bool {
	return k.any(func(b key.Binding) bool { return key.Matches(msg, b) })
}

func (k KeyMap) any(is func(key.Binding) bool) bool {
	return slices.ContainsFunc(append(k.FullHelp(), k.ShortHelp()), func(g []key.Binding) bool { return slices.ContainsFunc(g, is) })
}

// Presses reports whether msg is a key of b, enabled or not.
func Presses(msg tea.KeyPressMsg, b key.Binding) bool {
	return slices.Contains(b.Keys(), msg.String())
}
