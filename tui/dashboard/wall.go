package dashboard

import (
	"fmt"
	"image"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// tile is a panel of the wall: a table, or a picture that is drawn to its size.
type tile struct {
	title string
	// rows are those of a table, the first of them its head; the table is cut from row from on.
	rows []string
	from int
	draw func(image.Rectangle) []string
	// least is the height without which it is not shown, most what it can use; borders
	// included.
	least, most int
}

// leastPicture is the least height of a picture of the wall, leastTable that of a table with a
// row.
const leastPicture, leastTable = 9, 4

// tiles lists what the lower panel does not show, in the order in which it gets room: the two
// sides, what casts doubt on the figures, what fails, and how latency moved come before what
// the charts show in another way or what has nothing to tell.
func (low *lower) tiles(e screen.Env, p panes, w, rows int) []tile {
	var told, mute []tile
	add := func(t tab, least int) {
		if t == low.tab {
			return
		}
		head, body := "", []string(nil)
		if t == tabBoth {
			head, body = low.sides(e.Styles, w-4, true)
		} else {
			head, body = low.table(e, t, w-4)
		}
		x := tile{title: t.String(), rows: []string{" " + e.Styles.Muted.On(head)}, most: len(body) + 3}
		for _, l := range body {
			x.rows = append(x.rows, " "+l)
		}
		if t == tabTracks {
			x.from = low.now.firstTrack()
		}
		x.least = min(x.most, max(least, leastTable))
		if len(body) == 0 {
			mute = append(mute, x)
			return
		}
		told = append(told, x)
	}
	draw := func(f func(image.Rectangle) []string) {
		told = append(told, tile{draw: f, least: leastPicture, most: rows})
	}
	add(tabBoth, rows/2)
	add(tabVerdict, rows/4)
	add(tabErrors, rows/6)
	if low.tab != tabHeat {
		draw(func(r image.Rectangle) []string {
			return low.charts.lens(e, p, r, tabHeat, "", r.Dx()-labelWidth(p)-5)
		})
	}
	add(tabTracks, rows/6)
	add(tabChanges, rows/8)
	if low.tab != tabCurve {
		draw(func(r image.Rectangle) []string { return low.charts.lens(e, p, r, tabCurve, low.charts.whole(), 0) })
	}
	draw(func(r image.Rectangle) []string { return low.charts.histogram(e, p, r) })
	return append(told, mute...)
}

// hang shares out columns of rows among tiles, in their order: each goes to the first column
// with room for the least of it, or to none. Then tables get what they can use, the first ones
// first, and pictures share the rest; in a column without a picture, the last tile has it.
func hang(tiles []tile, columns, rows int) (at [][]int, heights []int) {
	at, heights = make([][]int, columns), make([]int, len(tiles))
	rest := make([]int, columns)
	for c := range rest {
		rest[c] = rows
	}
	for i, t := range tiles {
		for c := range at {
			if t.least <= rest[c] {
				at[c] = append(at[c], i)
				heights[i] = t.least
				rest[c] -= t.least
				break
			}
		}
	}
	for c, list := range at {
		pictures := 0
		for _, i := range list {
			if tiles[i].draw != nil {
				pictures++
				continue
			}
			more := min(rest[c], tiles[i].most-heights[i])
			heights[i] += more
			rest[c] -= more
		}
		for _, i := range list {
			if tiles[i].draw != nil {
				more := rest[c] / pictures
				heights[i] += more
				rest[c] -= more
				pictures--
			}
		}
		if len(list) > 0 {
			heights[list[len(list)-1]] += rest[c]
		}
	}
	return at, heights
}

// wall draws beside the charts what the lower panel does not show.
func (low *lower) wall(e screen.Env, p panes) []string {
	r := p.wall
	low.cells = chartCells(p, p.throughput)
	key := panelKey{number: low.now.snap.Number, rect: r, styles: e.Styles, op: low.sel.op, tab: low.tab, changes: len(low.now.snap.Changes)}
	if low.charts != nil {
		key.cross = low.charts.cross
	}
	return low.wallDrawn.get(key, func() []string {
		wide := r.Dx() / p.columns
		tiles := low.tiles(e, p, wide, r.Dy())
		at, heights := hang(tiles, p.columns, r.Dy())
		var out []string
		for c, list := range at {
			if c == p.columns-1 {
				wide = r.Dx() - c*wide
			}
			var column []string
			for _, i := range list {
				column = append(column, tiles[i].lines(e, wide, heights[i])...)
			}
			if len(list) == 0 {
				column = widget.BlankLines(wide, r.Dy())
			}
			if c == 0 {
				out = column
				continue
			}
			out = widget.Beside(out, column)
		}
		return out
	})
}

// lines draws a tile.
func (t *tile) lines(e screen.Env, w, h int) []string {
	if t.draw != nil {
		return t.draw(image.Rect(0, 0, w, h))
	}
	pane, rows := widget.Panel{Title: t.title}, t.rows
	if shown, all := h-3, len(rows)-1; shown < all {
		from := min(t.from, all-shown)
		rows = append([]string{rows[0]}, rows[1+from:1+from+shown]...)
		pane.Foot = fmt.Sprintf("%d–%d of %d", from+1, from+shown, all)
	}
	return pane.Draw(e.Styles, w, h, rows)
}
