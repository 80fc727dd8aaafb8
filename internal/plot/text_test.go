package plot

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// A chart in letters has a sign at each value, dots on the way, bands, gaps, marks, axes and a
// legend.
func TestAChartIsDrawnInLetters(t *testing.T) {
	nan := math.NaN()
	c := Chart{
		Title: "times", At: []float64{0, 10, 20, 30}, To: 30, Ticks: []float64{0, 10, 20, 30}, Log: true, Format: number, Across: number, Band: "all runs",
		Lines: []Line{
			{Name: "high", Values: []float64{10, 100, nan, 1000}, Low: []float64{10, 50, nan, 1000}, High: []float64{10, 1000, nan, 1000}},
			{Name: "low", Values: []float64{1, 1, 10}, At: []float64{0, 15, 30}},
		},
		Marks: []Mark{{At: 20, Name: "knee"}},
		Axes:  []Axis{{Name: "of the knee", At: []float64{10, 20}, Labels: []string{"50 %", "100 %"}}},
	}
	assert.Equal(t, strings.TrimPrefix(`
times
1000 ┤         ░░         ┊         ●
     │      ░░░░░         ┊
 100 ┤    ░░░░··●         ┊
     │  ░·····░░░         ┊
  10 ┤●··░                ┊       ··○
     │                    ┊·······
   1 ┤○··············○·····
      0        10        20        30
              50 %      100 %          of the knee
● high  ○ low  ░ all runs
`, "\n"), c.Text(31, 7))
	assert.Empty(t, (&Chart{}).Text(30, 7))
}

// Signs of lines are those of the first where they meet, and a linear scale begins at 0.
func TestTheFirstLineIsSeen(t *testing.T) {
	c := Chart{Title: "x", At: []float64{0, 1}, To: 1, Format: number, Across: number, Lines: []Line{{Name: "a", Values: []float64{4, 4}}, {Name: "b", Values: []float64{4, 0}}}}
	text := c.Text(9, 5)
	assert.Equal(t, 3, strings.Count(text, "●"), text)
	assert.Equal(t, 2, strings.Count(text, "○"), text)
	assert.Contains(t, text, "0 ┤", text)
	assert.Contains(t, text, "0  0.5  1\n", "an axis without ticks has even ones")
}

func TestPartsOfAWhole(t *testing.T) {
	at, labels := Parts(200, 0, 250)
	assert.Equal(t, []string{"20 %", "40 %", "60 %", "80 %", "100 %", "120 %"}, labels)
	assert.InDeltaSlice(t, []float64{40, 80, 120, 160, 200, 240}, at, 1e-9)
	_, labels = Parts(10, 5, 10)
	assert.Equal(t, []string{"50 %", "60 %", "70 %", "80 %", "90 %", "100 %"}, labels)
	_, labels = Parts(1, 0, 90)
	assert.Equal(t, []string{"2000 %", "4000 %", "6000 %", "8000 %"}, labels)
	for _, c := range [][3]float64{{0, 0, 1}, {1, 2, 2}, {math.NaN(), 0, 1}} {
		at, _ = Parts(c[0], c[1], c[2])
		assert.Empty(t, at)
	}
}

// On a logarithmic axis what doubles is as far apart everywhere, in each drawing; a mark with a note
// is in the legend.
func TestAnAxisMayBeLogarithmic(t *testing.T) {
	c := Chart{
		Title: "done", At: []float64{1, 10, 100, 1000}, From: 1, To: 1000, LogAcross: true, Ticks: []float64{1, 10, 100, 1000}, Format: number, Across: number,
		Lines: []Line{{Name: "per second", Values: []float64{0, 2, 4, 4}}},
		Marks: []Mark{{At: 100, Name: "most", Note: "does most"}},
	}
	assert.Equal(t, strings.TrimPrefix(`
done
4 ┤                 ···●·········●
  │             ····   ┊
2 ┤        ··●··       ┊
  │    ····            ┊
0 ┤●···                ┊
   1        10        100     1000
● per second  ┊ does most
`, "\n"), c.Text(31, 5))
	assert.Contains(t, c.Page(), `x="66.67%"`)
	x := fileLeft + (fileRight-fileLeft)*2./3
	assert.Contains(t, string(c.File()), strconv.FormatFloat(x, 'f', 1, 64))
	at, labels := Shares(200, 1, 1000)
	assert.Equal(t, []string{"0.5 %", "1 %", "2 %", "5 %", "10 %", "20 %", "50 %", "100 %", "200 %", "500 %"}, labels)
	assert.InDelta(t, 1, at[0], 1e-9)
	assert.InDelta(t, 1000, at[9], 1e-9)
	at, _ = Shares(0, 1, 10)
	assert.Empty(t, at)
}

// Both drawings show a band below its line, and a further axis; a band that nothing widens is none.
func TestBandsAndFurtherAxesAreDrawn(t *testing.T) {
	c := Chart{
		Title: "x", At: []float64{1, 2, 3}, From: 1, To: 3, Format: number, Across: number, Band: "a < b",
		Lines: []Line{{Name: "x", Values: []float64{2, 3, 4}, Low: []float64{1, 3, math.NaN()}, High: []float64{3, 8, 9}}},
		Axes:  []Axis{{Name: "redis://long.example:6379", At: []float64{2}, Labels: []string{"50 %"}}},
	}
	for name, drawing := range map[string]string{"page": c.Page(), "file": string(c.File())} {
		assert.Contains(t, drawing, "a &lt; b", name)
		assert.Contains(t, drawing, "…ample:6379<title>redis://long.example:6379</title>", name)
		assert.Contains(t, drawing, ">50 %<", name)
	}
	assert.Contains(t, c.Page(), `<path class="band l0" d="M0 1400L2000 400L2000 1400L0 1800z"/>`, "up to the gap")
	assert.Contains(t, c.Page(), `class="chart axes1"`)
	assert.Equal(t, 1, strings.Count(string(c.File()), "<polygon"))
	c.Lines[0].Low, c.Axes = c.Lines[0].High, nil
	assert.NotContains(t, c.Page(), "a &lt; b")
	assert.NotContains(t, string(c.File()), "<polygon")
}
