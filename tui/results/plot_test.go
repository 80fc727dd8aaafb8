package results

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/tui/widget"
)

// Whoever reads the chart of a finished run by its axis reads the figures of its seconds, to an
// eighth of a row.
func TestTheChartOfARunIsItsFigures(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		cells, h := 20+random.IntN(60), 5+2*random.IntN(8)
		vals := make([]float64, 2*cells) // one for each half of a column
		for i := range vals {
			vals[i] = 1000 * random.Float64()
		}
		g := graph{vals: vals, format: func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }}
		rows := g.draw(s, curves{rates: vals}, cells+axisWidth, h)
		require.Len(t, rows, h)
		label, _, ok := strings.Cut(ansi.Strip(rows[0]), " ┤")
		require.True(t, ok, "the end of the scale is labelled")
		top, err := strconv.ParseFloat(strings.TrimSpace(label), 64)
		require.NoError(t, err)
		for x := range cells {
			eighths := 0
			for _, row := range rows {
				if r := []rune(ansi.Strip(row))[axisWidth+x]; r >= '▁' && r <= '█' {
					eighths += int(r-'▁') + 1
				}
			}
			assert.InDelta(t, max(vals[2*x], vals[2*x+1]), float64(eighths)/float64(8*h)*top, top/float64(8*h)+1e-9, strings.Join(rows, "\n"))
		}
	}
}
