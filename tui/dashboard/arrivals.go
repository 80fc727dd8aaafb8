package dashboard

import (
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// comingChoice is the dialog that asks how calls come at the rate: it lists the ways, and enter sets the
// chosen one. It belongs to the event loop.
type comingChoice struct {
	knobs *knobs
	says  *messages
	open  bool
	at    workload.Coming
}

// ways are how calls can come.
var ways = []workload.Coming{workload.ComeIndependently, workload.ComeEvenly, workload.ComeInBursts}

// press opens the dialog at the way in which calls come now.
func (c *comingChoice) press() { c.open, c.at = true, c.knobs.comes() }

// key handles a key of the dialog.
func (c *comingChoice) key(msg tea.KeyPressMsg, e screen.Env) {
	n := slices.Index(ways, c.at)
	switch msg.String() {
	case "esc":
		c.open = false
	case "enter":
		c.open = false
		if c.at == c.knobs.comes() {
			c.says.say(e, "arrivals stay "+c.at.String(), false)
			return
		}
		c.says.hush()
		c.knobs.arrive(e, c.at)
	case "up", "left":
		c.at = ways[(n+len(ways)-1)%len(ways)]
	case "down", "right", "A":
		c.at = ways[(n+1)%len(ways)]
	default:
		c.says.say(e, "↑↓ choose how calls arrive, enter sets it, esc leaves it", false)
	}
}

// keys returns those of the dialog.
func (c *comingChoice) keys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "set arrivals", "enter"), widget.Bind("↑↓", "choose", "up", "down"), widget.Bind("esc", "leave them", "esc")}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}

// about says what a way does.
func (c *comingChoice) about(way workload.Coming) string {
	switch way {
	case workload.ComeIndependently:
		return "independently, as from many users"
	case workload.ComeEvenly:
		return "one after the other, at equal distances"
	}
	a := c.knobs.begun().As(workload.ComeInBursts)
	return units.Number(a.Factor) + " times as many for about " + units.Length(a.Burst.Round(time.Millisecond)) + ", every " + units.Length((a.Burst + a.Calm).Round(time.Millisecond))
}

// said is the chosen way in words.
func (c *comingChoice) said() string { return c.at.String() + ": " + c.about(c.at) }

// over draws the dialog above a page.
func (c *comingChoice) over(e screen.Env, page string) string {
	s, name, w := e.Styles, 9, 0
	for _, way := range ways {
		w = max(w, name+ansi.StringWidth(c.about(way))+8)
	}
	w = min(w, e.W-2)
	var lines []string
	now := c.knobs.comes()
	for _, way := range ways {
		lead, ink := "  ", s.Plain
		if way == c.at {
			lead, ink = "▸ ", s.Selected
		}
		about := widget.Brief(c.about(way), w-name-5)
		lines = append(lines, " "+lead+ink.On(widget.Fit(way.String(), name))+s.Muted.On(about))
	}
	lines = append(lines, "", " "+s.Muted.On("Calls come "+now.String()+" now."))
	p := widget.Panel{Title: "Arrivals of the calls", Focused: true, Foot: "esc closes, nothing is changed"}
	h := min(len(lines)+2, e.H-1)
	return widget.Laid(page, p.Draw(s, w, h, lines), (e.W-w)/2, max((e.H-1-h)/2, 0))
}
