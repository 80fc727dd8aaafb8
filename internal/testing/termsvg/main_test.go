package main

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every word stands at the column that it has in the terminal, and no piece of text
// holds what a browser would make something else of: several spaces in a row, spaces
// at an end, characters of another font.
func TestColumnsStayWhereTheyAre(t *testing.T) {
	lines := []string{
		"│  entries  per s │     p50",
		"\x1b[1m  put\x1b[0m       12.3k   \x1b[7m x  y \x1b[27m",
		"⣿⣿ ab⣿   日  a & b",
	}
	var out strings.Builder
	require.NoError(t, draw(strings.NewReader(strings.Join(lines, "\n")), &out))
	var svg struct {
		Texts []struct {
			X     float64 `xml:"x,attr"`
			Y     int     `xml:"y,attr"`
			Width float64 `xml:"textLength,attr"`
			Text  string  `xml:",chardata"`
		} `xml:"g>text"`
	}
	require.NoError(t, xml.Unmarshal([]byte(out.String()), &svg))
	type piece struct {
		line, column, cells int
		text                string
	}
	var got []piece
	for _, e := range svg.Texts {
		got = append(got, piece{
			(e.Y - margin - 13) / cellHeight, int((e.X-margin)/cellWidth + 0.5), int(e.Width/cellWidth + 0.5), e.Text,
		})
	}
	assert.Equal(t, []piece{
		{0, 0, 1, "│"}, {0, 3, 7, "entries"}, {0, 12, 7, "per s │"}, {0, 24, 3, "p50"},
		{1, 2, 3, "put"}, {1, 12, 5, "12.3k"}, {1, 21, 1, "x"}, {1, 24, 1, "y"},
		{2, 0, 2, "⣿⣿"}, {2, 3, 2, "ab"}, {2, 5, 1, "⣿"}, {2, 9, 2, "日"}, {2, 13, 5, "a & b"},
	}, got)
}

// What changes from screen to screen is shown in its turn, what stays is drawn once.
func TestSeveralScreensMove(t *testing.T) {
	var out strings.Builder
	require.NoError(t, draw(strings.NewReader("head\none\n\fhead\ntwo\n\fhead\ntwo\n"), &out))
	var svg struct {
		Still []string `xml:"g>text"`
		Style string   `xml:"style"`
		Moved []struct {
			Class string `xml:"class,attr"`
			Style string `xml:"style,attr"`
			Text  string `xml:"text"`
		} `xml:"g>g"`
	}
	require.NoError(t, xml.Unmarshal([]byte(out.String()), &svg))
	assert.Equal(t, []string{"head"}, svg.Still)
	require.Len(t, svg.Moved, 2)
	assert.Equal(t, []string{"f k1", "animation-delay:0s", "one"}, []string{svg.Moved[0].Class, svg.Moved[0].Style, svg.Moved[0].Text})
	assert.Equal(t, []string{"f k2 l", "animation-delay:1s", "two"}, []string{svg.Moved[1].Class, svg.Moved[1].Style, svg.Moved[1].Text})
	assert.Contains(t, svg.Style, "animation:3s step-end infinite")
	assert.Contains(t, svg.Style, "@keyframes k2{0%{visibility:visible}66.667%{visibility:hidden}}")
	assert.NotContains(t, out.String(), "<script")
}

func TestABackgroundIsDrawnBehindItsText(t *testing.T) {
	var out strings.Builder
	require.NoError(t, draw(strings.NewReader("ab\x1b[38;2;1;2;3m\x1b[48;2;16;32;48m▂▂\x1b[39m\x1b[49mc"), &out))
	assert.Equal(t, 1, strings.Count(out.String(), `fill="#102030"/>`), "behind two cells")
	assert.Contains(t, out.String(), `fill="#010203"`)
}
