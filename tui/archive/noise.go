package archive

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Noise shows how much the runs of one side differ from each other, as compare --aa does.
// It belongs to the event loop.
type Noise struct {
	runs   Finished
	ids    []string
	text   string
	err    error
	scroll int
}

type noiseMsg struct {
	of   *Noise
	text string
	err  error
}

// NewNoise compares runs with each other, by their ids.
func NewNoise(runs Finished, ids []string) *Noise { return &Noise{runs: runs, ids: ids} }

// Start reads the runs, compares them and keeps what they show for later comparisons.
func (n *Noise) Start(screen.Env) tea.Cmd {
	runs, ids := n.runs, n.ids
	return func() tea.Msg {
		text, err := noiseOf(runs, ids)
		return noiseMsg{n, text, err}
	}
}

func noiseOf(runs Finished, ids []string) (string, error) {
	set, _, err := side(runs, ids)
	if err != nil {
		return "", err
	}
	made, err := compare.AA(set, compare.DefaultTolerance)
	if err != nil {
		return "", err
	}
	f, err := report.Noise(made, "text")
	if err != nil {
		return "", err
	}
	return string(f.Data), runs.KeepNoise(set)
}

// Update handles one message.
func (n *Noise) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case noiseMsg:
		if msg.of == n {
			n.text, n.err = msg.text, msg.err
		}
	case tea.KeyPressMsg:
		k := widget.AllKeys
		if key.Matches(msg, k.Back) {
			return n, screen.Back
		}
		if key.Matches(msg, k.History) {
			return n, screen.Open(screen.Runs{})
		}
		by, _ := k.Moves(msg, allLines, e.H)
		n.scroll += by
	case tea.MouseWheelMsg:
		n.scroll += widget.Wheel(msg.Mouse(), 3)
	}
	return n, nil
}

// Keys returns the keys that work now.
func (n *Noise) Keys() widget.KeyMap {
	k := widget.AllKeys
	move := widget.Bind("↑↓", "scroll", "up", "down")
	return widget.KeyMap{Short: []key.Binding{move, k.Help, k.Back, widget.Long(k.Home, "home"), k.Quit}, Full: [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown}, {k.History, k.Back}}}
}

// View draws the page.
func (n *Noise) View(e screen.Env) string {
	s := e.Styles
	var body []string
	switch {
	case n.err != nil && n.text == "":
		body = append([]string{"", s.Bad.On("The runs cannot be compared with each other"), ""}, widget.Sentences(s, n.err, e.W-4)...)
	case n.text == "":
		body = []string{"", s.Muted.On("Reading the runs …")}
	default:
		for _, line := range strings.Split(strings.TrimRight(n.text, "\n"), "\n") {
			if lipgloss.Width(line) > e.W-4 {
				body = append(body, widget.MutedLines(s, line, e.W-4)...)
				continue
			}
			body = append(body, line)
		}
		if n.err != nil {
			body = append(append(body, ""), widget.Sentences(s, n.err, e.W-4)...)
		}
	}
	shown := widget.Windowed(widget.Indent(body), &n.scroll, e.H-4)
	lines := []string{widget.Fit(" "+s.Bold.On("Compare · "+widget.Plural(int64(len(n.ids)), "run")+" with each other"), e.W)}
	lines = append(lines, widget.Panel{Title: "How much runs differ here", Focused: true}.Draw(s, e.W, e.H-2, shown)...)
	return widget.Page(e.W, e.H, append(lines, widget.Footer(s, e.W, n.Keys().Short)))
}
