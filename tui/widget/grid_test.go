package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
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

// A long text is cut before its column is dropped.
func TestALongTextIsCutBeforeItsColumnIsDropped(t *testing.T) {
	g := Grid{Cols: []Column{{Head: "profile"}, {Head: "note", Spare: 1, Most: 40}}}
	g.Add("ingestion", "after the new kernel, with a cold cache and the other disk")
	cut := func(w int) string {
		_, rows := g.Lines(NewStyles(ThemeMono, true, colorprofile.Ascii), w)
		return strings.TrimSpace(ansi.Strip(rows[0]))
	}
	assert.Equal(t, "ingestion  after the new kern…", cut(30))
	assert.Equal(t, "ingestion  after the…", cut(21))
	assert.Equal(t, "ingestion", cut(20), "too little to be read")
}

// A text is not cut where nothing else needs the room.
func TestAGridGivesRoomToWhatIsCut(t *testing.T) {
	g := Grid{Cols: []Column{{Head: "run"}, {Head: "note", Spare: 1, Most: 12}}}
	g.Add("a", "a note that is longer than that")
	s := NewStyles(ThemeMono, true, colorprofile.Ascii)
	_, rows := g.Lines(s, 60)
	assert.Contains(t, ansi.Strip(rows[0]), "a note that is longer than that")
	_, rows = g.Lines(s, 25)
	assert.Equal(t, "a    a note that is long…", ansi.Strip(rows[0]))
}
