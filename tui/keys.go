package tui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// keyMap is what a screen tells of its keys: those of the bottom line in order,
// and all of them in groups. It is a help.KeyMap.
type keyMap struct {
	short []key.Binding
	full  [][]key.Binding
}

// ShortHelp returns the keys of the bottom line.
func (k keyMap) ShortHelp() []key.Binding { return k.short }

// FullHelp returns all keys in groups.
func (k keyMap) FullHelp() [][]key.Binding { return k.full }

func bind(help, desc string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
}

// bindings holds every key of the program. The same letter means the same thing
// everywhere. Screens copy it and disable in their copy what does not work now.
type bindings struct {
	// everywhere
	Help, Back, Quit, Interrupt, Next, Prev, Suspend, Logs key.Binding
	// lists
	Up, Down, First, Last, PageUp, PageDown, Filter, Choose, Left, Right key.Binding
	// picker and results
	Start, Launch, History, Export, Copy, Compare, Swap, Details, Toggle, Edit, Ping key.Binding
	// dashboard
	Pause, More, Less, MoreTen, LessTen                 key.Binding
	PayloadDown, PayloadUp, RateDown, RateUp            key.Binding
	Tune, LogAxis, Mark, Stop, Undo, Reset, SavePreset  key.Binding
	TurnDown, TurnUp, TurnDownTen, TurnUpTen, TypeValue key.Binding
}

func newBindings() bindings {
	return bindings{
		Help:      bind("?", "help", "?"),
		Back:      bind("esc", "back", "esc"),
		Quit:      bind("q", "quit", "q"),
		Interrupt: bind("ctrl+c", "quit; twice: at once", "ctrl+c"),
		Next:      bind("tab", "next panel", "tab"),
		Prev:      bind("shift+tab", "previous panel", "shift+tab"),
		Suspend:   bind("ctrl+z", "suspend", "ctrl+z"),
		Logs:      bind("L", "log", "L"),

		Up:       bind("↑", "up", "up", "k"),
		Down:     bind("↓", "down", "down", "j"),
		First:    bind("g", "first", "g", "home"),
		Last:     bind("G", "last", "G", "end"),
		PageUp:   bind("pgup", "page up", "pgup"),
		PageDown: bind("pgdn", "page down", "pgdown"),
		Filter:   bind("/", "filter", "/"),
		Choose:   bind("enter", "choose", "enter"),
		Left:     bind("←", "previous value", "left"),
		Right:    bind("→", "next value", "right"),

		Start:   bind("enter", "start", "enter"),
		Launch:  bind("S", "start", "S"),
		Swap:    bind("w", "swap", "w"),
		History: bind("h", "earlier runs", "h"),
		Export:  bind("e", "export", "e"),
		Copy:    bind("y", "copy summary", "y"),
		Compare: bind("c", "compare", "c"),
		Details: bind("d", "details", "d"),
		Toggle:  bind("space", "select", "space"),
		Edit:    bind("enter", "edit", "enter"),
		Ping:    bind("p", "ping target", "p"),

		Pause:       bind("space", "pause", "space"),
		More:        bind("+", "one thread more", "+", "="),
		Less:        bind("-", "one thread fewer", "-"),
		MoreTen:     bind(">", "ten threads more", ">"),
		LessTen:     bind("<", "ten threads fewer", "<"),
		PayloadDown: bind("[", "halve payload", "["),
		PayloadUp:   bind("]", "double payload", "]"),
		RateDown:    bind("{", "lower rate", "{"),
		RateUp:      bind("}", "higher rate", "}"),
		Tune:        bind("t", "tune", "t"),
		LogAxis:     bind("l", "log or linear latency", "l"),
		Mark:        bind("m", "mark", "m"),
		Stop:        bind("x", "stop", "x"),
		Undo:        bind("u", "undo", "u"),
		Reset:       bind("r", "reset", "r"),
		SavePreset:  bind("s", "save", "s"),
		TurnDown:    bind("←", "turn down", "left"),
		TurnUp:      bind("→", "turn up", "right"),
		TurnDownTen: bind("shift+←", "÷10", "shift+left"),
		TurnUpTen:   bind("shift+→", "×10", "shift+right"),
		TypeValue:   bind("0–9", "type", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "."),
	}
}

// allKeys is the one set of bindings; never written to.
var allKeys = newBindings()

// global lists the keys that work on every screen; suspend tells whether there is
// somebody to resume us.
func (b bindings) global(suspend bool) []key.Binding {
	if !suspend {
		b.Suspend.SetHelp("ctrl+z", "off: no shell below")
		b.Suspend.SetEnabled(false)
	}
	return []key.Binding{b.Help, b.Logs, b.Suspend, b.Quit, b.Interrupt}
}

// long returns b with a longer description, for the help overlay.
func long(b key.Binding, desc string) key.Binding {
	b.SetHelp(b.Help().Key, desc)
	return b
}

// presses tells whether msg is a key of b, enabled or not.
func presses(msg tea.KeyPressMsg, b key.Binding) bool {
	return slices.Contains(b.Keys(), msg.String())
}
