package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/units"
)

func TestThin(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		in   []float64
		mean bool
		want []float64
	}{
		{"the maximum keeps peaks", []float64{1, 9, 2, 3}, false, []float64{9, 3}},
		{"rates keep their mean", []float64{1, 9, 2, 4}, true, []float64{5, 3}},
		{"gaps are left out", []float64{nan, 9, 2, nan}, true, []float64{9, 2}},
		{"uneven parts", []float64{1, 2, 3}, false, []float64{1, 3}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Thin(c.in, 2, c.mean)) })
	}
	assert.True(t, math.IsNaN(Thin([]float64{nan, nan, 1, 1}, 2, false)[0]))
}

func TestBothDrawingsShowTheSameLine(t *testing.T) {
	c := Chart{
		Title: "a < b", At: []float64{-0.5, 0.5, 1.5, 2.5, 3.5}, From: -1, To: 4, Format: func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) },
		Lines: []Line{{Name: "x & y", Values: []float64{1, 10, math.NaN(), 30, 20}}, {Name: "nothing", Values: []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}}},
		Spans: []Span{{From: 1, To: 2, Kind: Range, Note: "perhaps"}},
		Marks: []Mark{{At: 2, Note: "change"}, {At: 1, Name: "load", Note: "phase load"}},
	}
	for name, drawing := range map[string]string{"page": c.Page(), "file": string(c.File())} {
		d := xml.NewDecoder(strings.NewReader(drawing))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err, name)
			}
		}
		assert.Contains(t, drawing, "a &lt; b", name)
		assert.Contains(t, drawing, "x &amp; y", name)
		assert.Contains(t, drawing, "<title>change</title>", name)
		assert.Contains(t, drawing, "<title>perhaps</title>", name)
		assert.Contains(t, drawing, ">load</text>", name)
	}
	assert.Contains(t, string(c.File()), ">30<", "the scale ends at the highest value, which is round")
	assert.Contains(t, c.Page(), ` d="M1000 1933l2000-600M7000 0l2000 667"`, "two parts with a gap between them, each second 2000 places wide")
	assert.Equal(t, 2, strings.Count(string(c.File()), "<polyline"))
	assert.Contains(t, c.Page(), `class="warm"`)
	assert.NotContains(t, c.Page(), "nothing", "a line without values has no place in the legend")
}

func TestAPageSaysHowToReadAChart(t *testing.T) {
	c := Chart{
		Title: "x", Caption: "a < b", At: []float64{-1, 0, 1}, From: -1, To: 2, Format: func(float64) string { return "" },
		Lines: []Line{{Name: "x", Values: []float64{1, 2, 3}}}, Spans: []Span{{1, 2, Stall, "one"}, {0, 1, Stall, "another"}},
	}
	page := c.Page()
	assert.Contains(t, page, "<small>a &lt; b</small>")
	assert.Equal(t, 2, strings.Count(page, `class="key"`), "a single line needs no name, what is shaded has one for each kind")
	assert.Contains(t, page, `<i class="shade warm"></i>warm-up, not counted</span>`)
	assert.Contains(t, page, `<i class="shade stall"></i>stall</span>`)
}

func TestAFileLabelsTheTicksOfItsAxis(t *testing.T) {
	c := Chart{
		At: []float64{1, 5, 15}, To: 15, Ticks: []float64{1, 5, 15}, Format: func(float64) string { return "" },
		Across: func(v float64) string { return "at " + strconv.FormatFloat(v, 'g', -1, 64) },
		Lines:  []Line{{Name: "x", Values: []float64{1, 2, 3}}},
	}
	file := string(c.File())
	assert.Equal(t, 3, strings.Count(file, ">at "))
	for _, tick := range []string{">at 1<", ">at 5<", ">at 15<"} {
		assert.Contains(t, file, tick)
	}
}

func TestAChartWithoutValuesIsEmpty(t *testing.T) {
	c := Chart{Lines: []Line{{Values: []float64{math.NaN()}}, {}}}
	assert.True(t, c.Empty())
	c.Lines[1].Values = []float64{0}
	assert.False(t, c.Empty())
}

func TestAScaleLeavesLittleRoom(t *testing.T) {
	c := Chart{Log: true, Lines: []Line{{Values: []float64{2.3e5, 4e6}}}}
	s := c.scale()
	assert.InDelta(t, 2e5, s.Low, 1)
	assert.InDelta(t, 5e6, s.High, 1)
	assert.InDeltaSlice(t, []float64{2e5, 5e5, 1e6, 2e6, 5e6}, s.grid(), 1, "so few decades have more lines")
	c = Chart{Lines: []Line{{Values: []float64{4, 11_700}}}}
	assert.InDelta(t, 12_000, c.scale().High, 1e-6)
	assert.InDeltaSlice(t, []float64{0, 5000, 10_000}, c.scale().grid(), 1e-6)
	c = Chart{Unit: Bytes, Lines: []Line{{Values: []float64{1.4 * (1 << 30)}}}}
	assert.InDeltaSlice(t, []float64{0, 512 << 20, 1 << 30, 1536 << 20}, c.scale().grid(), 1e-6)
}

func TestSecondsAreCountedAsPeopleDo(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     []string
	}{
		{-2, 8, []string{"−00:02", "00:00", "00:02", "00:04", "00:06", "00:08"}},
		{0, 2, []string{"00:00", "00:00.5", "00:01", "00:01.5", "00:02"}},
		{-30, 600, []string{"00:00", "02:00", "04:00", "06:00", "08:00", "10:00"}},
		{0, 5400, []string{"00:00", "15:00", "30:00", "45:00", "1:00:00", "1:15:00", "1:30:00"}},
	} {
		var got []string
		for _, s := range Seconds(c.from, c.to, 0, pageTicks) {
			got = append(got, Clock(s))
		}
		assert.Equal(t, c.want, got)
	}
	assert.LessOrEqual(t, len(Seconds(0, 183*86400, 0, pageTicks)), pageTicks+1)
}

// A call more or less is no other shade; ten times as many are a darker one.
func TestHeatIsDarkerWhereMoreCallsAre(t *testing.T) {
	h := NewHeat(4, 1e3, 1e5, 10)
	for range 4 {
		h.Column()
		h.Add(2e3, 90)
		h.Add(5e4, 10)
	}
	c := Chart{Title: "times", To: 4, Heat: h, Format: func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }}
	assert.False(t, c.Empty())
	page := c.Page()
	assert.Contains(t, page, `<path class="h7" d="M0 1600H8000v100H0z"/>`, "four columns in one stroke")
	assert.Contains(t, page, `<path class="h5" d="M0 300H8000v100H0z"/>`)
	assert.Equal(t, 2, strings.Count(page, `<path class="h`))
}

func TestALinearScaleOfAPageHasRoundNumbers(t *testing.T) {
	for _, c := range []struct {
		most float64
		unit string
		want []float64
	}{
		{26.3e3, "", []float64{0, 10e3, 20e3, 30e3}},
		{0.81, "", []float64{0, 0.5, 1}},
		{8, "", []float64{0, 2, 4, 6, 8}},
		{66 << 20, Bytes, []float64{0, 32 << 20, 64 << 20}},
	} {
		chart := Chart{Unit: c.unit, Lines: []Line{{Values: []float64{c.most}}}}
		assert.InDeltaSlice(t, c.want, chart.scale().grid(), 1e-6)
	}
}

// A label at an edge neither leaves the page nor covers the name of its axis.
func TestLabelsAtTheEdgesOfAPage(t *testing.T) {
	for _, c := range []struct {
		part  float64
		label string
		named bool
		want  string
	}{
		{0, "20 %", true, "start"}, {0, "400", false, "middle"}, {0.5, "11-28 18:09", false, "middle"},
		{1, "11-28 18:10", false, "end"}, {1, "140 %", true, "middle"},
	} {
		assert.Equal(t, c.want, anchor(c.part, c.label, c.named), "%v", c)
	}
}

// A bar at each value is drawn as far as the scale reaches, which it does not set.
func TestBarsAreCutToTheScale(t *testing.T) {
	nan := math.NaN()
	c := Chart{
		At: []float64{1, 2, 3}, From: 1, To: 3, Format: units.Number, Across: units.Number, Band: "interval",
		Lines: []Line{{Name: "a", Values: []float64{10, 20, 15}, Low: []float64{8, -50, nan}, High: []float64{12, 900, nan}, Bars: true}},
	}
	bar := regexp.MustCompile(`<path [^>]*d="M([\d.]+) ([\d.]+)V([\d.]+)"/>`)
	for _, picture := range []string{string(c.File()), c.Page()} {
		bars := bar.FindAllStringSubmatch(picture, -1)
		require.Len(t, bars, 2, picture)
		assert.NotContains(t, picture, "900")
		assert.Contains(t, picture, "interval")
	}
	page := bar.FindAllStringSubmatch(c.Page(), -1)
	assert.Equal(t, "0", page[1][2], "up to the end of the scale")
}
