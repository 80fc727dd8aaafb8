package report

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/browsertest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// One start of a real browser for all that is to be seen in one.
func TestThePageInARealBrowser(t *testing.T) {
	tier.Full(t, "TestGolden compares the pages with what they were")
	c := browsertest.Start(t)
	f := madeUp(t, 300)
	f.Against = fixture(t)
	path := filepath.Join(t.TempDir(), PageFile)
	require.NoError(t, os.WriteFile(path, []byte(RunPage(f).HTML()), 0o600))
	c.Size(1200, 900)
	c.Open(path)
	c.Quiet()
	t.Run("outline", func(t *testing.T) { outlined(t, c) })
	t.Run("hover", func(t *testing.T) { hovered(t, c, f) })
	t.Run("zoom", func(t *testing.T) { zoomed(t, c) })
	t.Run("narrow", func(t *testing.T) {
		c.Size(360, 800)
		assert.LessOrEqual(t, browsertest.Eval[int](c, "document.documentElement.scrollWidth"), 360, "nothing but tables is to be pushed aside")
		c.Size(1200, 900)
	})
	t.Run("dark", func(t *testing.T) {
		assert.Equal(t, "rgb(255, 255, 255)", browsertest.Eval[string](c, "getComputedStyle(document.body).backgroundColor"))
		c.Media("screen", "dark")
		assert.Equal(t, "rgb(20, 23, 26)", browsertest.Eval[string](c, "getComputedStyle(document.body).backgroundColor"))
	})
	t.Run("paper", func(t *testing.T) {
		c.Media("print", "dark")
		assert.Equal(t, "rgb(255, 255, 255)", browsertest.Eval[string](c, "getComputedStyle(document.body).backgroundColor"), "ink is dear")
		assert.Positive(t, browsertest.Eval[float64](c, "document.querySelector('details table').getBoundingClientRect().height"), "what is folded is printed")
		assert.Equal(t, "none", browsertest.Eval[string](c, "getComputedStyle(document.querySelector('.zoom')).display"))
		c.Media("screen", "light")
	})
	c.Quiet()
	t.Run("without script", func(t *testing.T) {
		c.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
		c.Open(path)
		assert.Zero(t, browsertest.Eval[int](c, "document.querySelectorAll('.zoom').length"), "nothing that does nothing")
		complete(t, c, RunPage(f))
	})
	c.Quiet()
}

// outlined wants headings that a screen reader can walk through, and names on pictures.
func outlined(t *testing.T, c *browsertest.Browser) {
	levels := browsertest.Eval[[]int](c, "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
	require.NotEmpty(t, levels)
	assert.Equal(t, 1, levels[0])
	for i, l := range levels[1:] {
		assert.LessOrEqual(t, l, levels[i]+1, "no level is left out")
		assert.Greater(t, l, 1, "one title")
	}
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	c.Call("Accessibility.getFullAXTree", nil, &tree)
	count := map[any]int{}
	for _, n := range tree.Nodes {
		if n.Ignored || !slices.Contains([]any{"image", "button", "table", "region", "link", "navigation"}, n.Role.Value) {
			continue
		}
		count[n.Role.Value]++
		assert.NotEmpty(t, n.Name.Value, n.Role.Value)
	}
	assert.Greater(t, count["image"], 20)
	assert.GreaterOrEqual(t, count["table"], 5)
}

// spot is where in the window a part of a chart's width is.
func spot(c *browsertest.Browser, part float64) (x, y float64) {
	box := browsertest.Eval[[]float64](c, "(() => { const p = document.querySelector('figure[data-time] .plot'); p.scrollIntoView({block: 'center'}); const b = p.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
	return box[0] + part*box[2], box[1] + box[3]/2
}

const (
	readout = "document.querySelector('figure[data-time] output').textContent"
	shown   = "document.querySelector('.zoom span').textContent"
)

// hovered wants the value under the pointer, read off the drawing, to be that of the series.
func hovered(t *testing.T, c *browsertest.Browser, f *rundir.Folder) {
	const second = 250
	x, y := spot(c, (30+second+0.5)/330)
	c.Mouse("mouseMoved", x, y)
	at, said, _ := strings.Cut(browsertest.Eval[string](c, readout), " · ")
	assert.Equal(t, "04:10", at)
	thousands, err := strconv.ParseFloat(strings.TrimSuffix(said, "k"), 64)
	require.NoError(t, err)
	row := f.Series[slices.IndexFunc(f.Series, func(r rundir.SeriesRow) bool { return r.T == second })]
	assert.InEpsilon(t, row.Throughput, thousands*1000, 0.006, "three digits of it")
	all := browsertest.Eval[[]string](c, "[...document.querySelectorAll('figure[data-time] output')].map(o => o.textContent)")
	assert.Regexp(t, `^04:10 · max .* [µm]s, p99 .* [µm]s, p90 .* [µm]s, p50 .* [µm]s$`, all[1], "all charts tell of the same second")
	c.Mouse("mouseMoved", 2, 2)
	assert.Empty(t, browsertest.Eval[string](c, readout))
}

// zoomed drags over a chart, and looks at the others too.
func zoomed(t *testing.T, c *browsertest.Browser) {
	const boxes = "[...new Set([...document.querySelectorAll('figure[data-time]')].map(f => { const [a, b] = f.dataset.time.split(' ').map(Number), v = f.querySelector('.data').getAttribute('viewBox').split(' ').map(Number); const all = +f.dataset.width; return Math.round(v[2] / all * (b - a)); }))]"
	browsertest.Eval[bool](c, "document.querySelectorAll('figure[data-time]').forEach(f => { f.dataset.width = f.querySelector('.data').getAttribute('viewBox').split(' ')[2]; }), true")
	whole := browsertest.Eval[string](c, shown)
	assert.Equal(t, "−00:30 to 05:00", whole)
	from, y := spot(c, 0.25)
	to, _ := spot(c, 0.48)
	c.Mouse("mouseMoved", from, y)
	c.Mouse("mousePressed", from, y)
	c.Mouse("mouseMoved", (from+to)/2, y)
	c.Mouse("mouseMoved", to, y)
	c.Mouse("mouseReleased", to, y)
	assert.Regexp(t, `^00:5[23] to 02:0[89]$`, browsertest.Eval[string](c, shown))
	assert.Equal(t, []int{76}, browsertest.Eval[[]int](c, boxes), "every chart shows these 76 seconds")
	ticks := browsertest.Eval[[]string](c, "[...document.querySelector('figure[data-time] .ticks').children].map(t => t.textContent)")
	assert.Equal(t, []string{"01:00", "01:10", "01:20", "01:30", "01:40", "01:50", "02:00"}, ticks)
	for _, b := range []struct {
		press string
		want  []int
	}{{"Zoom in", []int{38}}, {"Zoom out", []int{76}}, {"Later", []int{76}}, {"All", []int{330}}} {
		browsertest.Eval[bool](c, "[...document.querySelectorAll('.zoom button')].find(b => b.textContent === '"+b.press+"').click(), true")
		assert.Equal(t, b.want, browsertest.Eval[[]int](c, boxes), b.press)
	}
	assert.Equal(t, whole, browsertest.Eval[string](c, shown))
}

// complete wants all that the page has to say in the document as it is without script.
func complete(t *testing.T, c *browsertest.Browser, p Page) {
	text := squeezed(browsertest.Eval[string](c, "document.body.textContent"))
	has := func(s string) { assert.Contains(t, text, squeezed(Plain(s))) }
	for _, f := range p.Figures {
		has(f.Value)
		has(f.Range)
	}
	for _, s := range slices.Concat(p.Lead, p.Notices) {
		has(s)
	}
	var walk func(list []Section)
	walk = func(list []Section) {
		for _, s := range list {
			has(s.Heading)
			has(s.Code)
			has(strings.Join(s.Text, " "))
			for _, r := range append([][]string{s.Table.Columns}, s.Table.Rows...) {
				for _, cell := range r {
					has(cell)
				}
			}
			for _, g := range s.Charts {
				has(g.Title)
			}
			walk(s.Parts)
		}
	}
	walk(p.Sections)
	for _, kind := range []string{plot.Warmup, plot.Stall, plot.Errors} {
		assert.Positive(t, browsertest.Eval[int](c, "document.querySelectorAll('.data ."+kind+"').length"), kind)
	}
}
