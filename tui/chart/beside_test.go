package chart

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/tui/widget"
)

// Where names have no room, what they begin with together is left out, and a unit is never cut.
func TestRunsSideBySideShowWhatDiffers(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	rows := []Two{
		{Name: "a mix with threads 2 rate 100", Texts: [2]string{"1k", "2 ms"}, Values: [2]float64{1, 2}},
		{Name: "a mix with threads 2 rate 2000", Texts: [2]string{"1k", "2 ms"}, Values: [2]float64{1, 2}},
	}
	out := Twos(s, [2]string{"operations/s", "p99"}, rows, 76)
	require.Len(t, out, 3)
	assert.Contains(t, ansi.Strip(out[0]), " operations/s ")
	assert.Contains(t, ansi.Strip(out[1]), "… 100 ")
	assert.Contains(t, ansi.Strip(out[2]), "… 2000 ")
	assert.Contains(t, ansi.Strip(Twos(s, [2]string{"operations/s", "p99"}, rows, 116)[1]), "a mix with threads 2 rate 100 ")
	rows[1].Name = "another one which has no word in common"
	assert.Contains(t, ansi.Strip(Twos(s, [2]string{"operations/s", "p99"}, rows, 76)[1]), "a mix with threads")
}
