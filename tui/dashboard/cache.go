package dashboard

import (
	"image"

	"github.com/perfbench/perfbench/tui/widget"
)

// panelKey is all that a panel of the dashboard depends on: when it is the same,
// so are its lines.
type panelKey struct {
	number  int64 // of the snapshot, or the last finished second
	changes int
	rect    image.Rectangle
	styles  *widget.Styles
	op      int
	tab     tab
	scroll  int
	marks   int
	log     bool
	tuning  bool
	text    string
}

// cached holds the lines of a panel as last drawn.
type cached struct {
	key   panelKey
	lines []string
}

// get returns the lines for a key, drawing them if it is not the last one.
func (c *cached) get(k panelKey, draw func() []string) []string {
	if c.lines == nil || c.key != k {
		c.key, c.lines = k, draw()
	}
	return c.lines
}

// dashCache holds the panels of the dashboard.
type dashCache struct{ throughput, latency, lower cached }
