package dashboard

import (
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/widget"
)

// drawing shows panes as letters, one column in ten.
func drawing(t *testing.T, w, h int, p panes) string {
	t.Helper()
	cells := make([][]byte, h)
	for y := range cells {
		cells[y] = []byte(strings.Repeat(".", w))
	}
	fill := func(r image.Rectangle, c byte) {
		require.True(t, r.In(image.Rect(0, 0, w, h)), "%c %v", c, r)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				cells[y][x] = c
			}
		}
	}
	for _, pane := range []struct {
		r image.Rectangle
		c byte
	}{{p.status, 's'}, {p.throughput, 'T'}, {p.latency, 'L'}, {p.ops, 'O'}, {p.tune, 'K'}, {p.knobs, 'k'}, {p.state, 'i'}, {p.event, 'e'}, {p.keys, '?'}, {p.wall, 'W'}} {
		fill(pane.r, pane.c)
	}
	var b strings.Builder
	for _, row := range cells {
		for x := 0; x < w; x += 10 {
			b.WriteByte(row[x])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		look contents
	}{
		{"170x45", 170, 45, contents{rows: 2}},
		{"240x60", 240, 60, contents{rows: 2}},
		{"200x60", 200, 60, contents{rows: 12}},
		{"200x60 tuning", 200, 60, contents{rows: 12, tuning: true}},
		{"120x40", 120, 40, contents{rows: 2}},
		{"120x40 tuning", 120, 40, contents{rows: 2, tuning: true}},
		{"120x40 with a long table", 120, 40, contents{rows: 2, tall: true, needs: 9}},
		{"120x40 with a table longer than that", 120, 40, contents{rows: 2, tall: true, needs: 30}},
		{"120x30 with a long table", 120, 30, contents{rows: 2, tall: true, needs: 9}},
		{"170x45 with a long table", 170, 45, contents{rows: 2, tall: true, needs: 9}},
		{"120x40 with a picture", 120, 40, contents{rows: 2, tall: true}},
		{"96x25", 96, 25, contents{rows: 2}},
		{"96x25 tuning", 96, 25, contents{rows: 2, tuning: true}},
		{"80x24 with many operations", 80, 24, contents{rows: 9}},
		{"80x24 tuning", 80, 24, contents{rows: 9, tuning: true}},
		{"60x16", 60, 16, contents{rows: 2}},
		{"60x16 operations", 60, 16, contents{rows: 2, lower: true}},
		{"60x16 tuning", 60, 16, contents{rows: 2, tuning: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tuitest.Golden(t, drawing(t, c.w, c.h, layout(c.w, c.h, c.look)))
		})
	}
}

// However much a table below has to show, the charts stay where they are, and that of latency keeps a height at which it
// can be read.
func TestATableLeavesTheChartsWhereTheyAre(t *testing.T) {
	for _, c := range []struct{ w, h int }{{80, 24}, {96, 25}, {120, 40}, {170, 45}} {
		for _, tuning := range []bool{false, true} {
			was := layout(c.w, c.h, contents{rows: 2, tuning: tuning})
			for _, needs := range []int{1, 9, 22, 60} {
				p := layout(c.w, c.h, contents{rows: 2, tall: true, needs: needs, tuning: tuning})
				require.Equal(t, was.throughput, p.throughput, "%+v, %d rows", c, needs)
				require.Equal(t, was.latency.Min, p.latency.Min, "%+v, %d rows", c, needs)
				require.GreaterOrEqual(t, p.latency.Dy(), leastLatency, "%+v, %d rows", c, needs)
			}
			picture := layout(c.w, c.h, contents{rows: 2, tall: true, tuning: tuning})
			require.Equal(t, was.throughput, picture.throughput, "%+v", c)
		}
	}
}

func TestPanesFillTheTerminalAtEverySize(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for w := range 270 {
		for h := range 70 {
			for _, l := range []contents{{rows: 1}, {rows: 40}, {rows: 3, tuning: true}, {rows: 3, lower: true}, {rows: 2, tall: true}, {rows: 2, tall: true, needs: 9}, {rows: 2, tall: true, needs: 40}} {
				p := layout(w, h, l)
				if w < widget.MinWidth || h < widget.MinHeight {
					require.Equal(t, panes{}, p)
					continue
				}
				rects := []image.Rectangle{p.status, p.throughput, p.latency, p.ops, p.tune, p.knobs, p.state, p.event, p.keys, p.wall}
				area := 0
				for i, r := range rects {
					area += r.Dx() * r.Dy()
					require.True(t, r.In(image.Rect(0, 0, w, h)), "%dx%d %+v: %v", w, h, l, r)
					for _, o := range rects[:i] {
						require.False(t, r.Overlaps(o), "%dx%d %+v: %v and %v", w, h, l, r, o)
					}
				}
				// A small screen keeps one line free above its keys.
				free := w * h
				if p.size == widget.Small && !l.tuning {
					free -= w
				}
				require.Equal(t, free, area, "%dx%d %+v", w, h, l)
				require.GreaterOrEqual(t, p.throughput.Dy(), 5, "%dx%d %+v", w, h, l)
				if l.needs > 0 && p.size != widget.Small {
					require.LessOrEqual(t, p.ops.Dy(), l.needs+frame, "%dx%d %+v: no empty rows", w, h, l)
				}
			}
		}
	}
}
