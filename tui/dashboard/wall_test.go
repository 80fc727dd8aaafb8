package dashboard

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Tiles get room in their order: the least of each, then tables what they can use, then
// pictures what is left. What has no room is left out, and every column is full.
func TestTilesShareAWall(t *testing.T) {
	picture := func(image.Rectangle) []string { return nil }
	table := func(least, most int) tile { return tile{least: least, most: most} }
	for _, c := range []struct {
		name          string
		tiles         []tile
		columns, rows int
		at            [][]int
		heights       []int
	}{
		{"all fit", []tile{table(10, 16), {draw: picture, least: 9, most: 40}, {draw: picture, least: 9, most: 40}}, 1, 40, [][]int{{0, 1, 2}}, []int{16, 12, 12}},
		{"the first tables are whole first", []tile{table(10, 30), table(10, 30), {draw: picture, least: 9}}, 1, 40, [][]int{{0, 1, 2}}, []int{21, 10, 9}},
		{"a picture has no room, a small table has", []tile{table(20, 20), table(15, 15), {draw: picture, least: 9}, table(4, 4)}, 1, 40, [][]int{{0, 1, 3}}, []int{20, 15, 0, 5}},
		{"two columns", []tile{table(20, 22), table(15, 15), {draw: picture, least: 9}, table(4, 5)}, 2, 40, [][]int{{0, 1, 3}, {2}}, []int{21, 15, 40, 4}},
		{"nothing", nil, 2, 40, [][]int{nil, nil}, []int{}},
	} {
		at, heights := hang(c.tiles, c.columns, c.rows)
		assert.Equal(t, c.at, at, c.name)
		assert.Equal(t, c.heights, heights, c.name)
	}
}
