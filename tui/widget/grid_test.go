package widget

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
)

// Figures are not lost to long names: those are cut.
func TestTextGivesWayToFigures(t *testing.T) {
	s := NewStyles(ThemeMono, true, colorprofile.Ascii)
	g := Grid{Cols: []Column{{Head: "profile", Most: 24}, {Head: "store", Spare: 1}, {Head: "p99", Right: true}}}
	g.Add("sweep ingestion threads", "redis", "1.49 ms")
	_, rows := g.Lines(s, 40)
	assert.Equal(t, "sweep ingestion threads  redis  1.49 ms", rows[0])
	_, rows = g.Lines(s, 24)
	assert.Equal(t, "sweep ingestio…  1.49 ms", rows[0], "first the columns that may be left out, then text")
	_, rows = g.Lines(s, 12)
	assert.Equal(t, "sweep ing… …", rows[0], "to what can still be read")
}
