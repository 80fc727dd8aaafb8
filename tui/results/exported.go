package results

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// exportedMsg reports what was written.
type exportedMsg struct {
	id    string
	files []document
	err   error
}

// document is a file that was written.
type document struct {
	path string
	// size is in words; empty if it is not known.
	size string
}

// documents returns the files of paths, each with its whole path and its size. It reads the disk.
func documents(paths []string) []document {
	out := make([]document, len(paths))
	for i, p := range paths {
		if whole, err := filepath.Abs(p); err == nil {
			p = whole
		}
		out[i].path = p
		if f, err := os.Stat(p); err == nil && f.Mode().IsRegular() {
			out[i].size = units.Size(f.Size())
		}
	}
	return out
}

// written lists files in w cells: in full if they fit, else their folder, over several lines if need
// be, and the names in it.
func written(s *widget.Styles, files []document, w int) []string {
	most := 0
	for _, f := range files {
		most = max(most, ansi.StringWidth(f.size))
	}
	var out []string
	add := func(sign, size, text string) {
		if most > 0 {
			size = widget.FitRight(size, most) + "  "
		}
		out = append(out, " "+s.OK.On(sign)+s.Muted.On(size)+text)
	}
	room := w - 2
	if most > 0 {
		room -= most + 2
	}
	fits := s.Spoken || !slices.ContainsFunc(files, func(f document) bool { return ansi.StringWidth(f.path) > room })
	for i, f := range files {
		if fits {
			add("✓ ", f.size, f.path)
			continue
		}
		if dir := filepath.Dir(f.path); i == 0 || dir != filepath.Dir(files[i-1].path) {
			for _, l := range pathLines(dir+string(filepath.Separator), w) {
				out = append(out, " "+l)
			}
		}
		add("✓ ", f.size, widget.PathIn(filepath.Base(f.path), room))
	}
	return out
}

// pathLines breaks a path into lines of w cells, between its folders where it can.
func pathLines(path string, w int) []string {
	var out []string
	line := ""
	for part := range strings.SplitAfterSeq(path, string(filepath.Separator)) {
		if line != "" && ansi.StringWidth(line+part) > w {
			out, line = append(out, line), ""
		}
		pieces := strings.Split(ansi.Hardwrap(line+part, max(w, 1), true), "\n")
		out, line = append(out, pieces[:len(pieces)-1]...), pieces[len(pieces)-1]
	}
	return append(out, line)
}

// pressDone handles a key while what was written is listed; closed means that it has been read.
func (x *exporter) pressDone(msg tea.KeyPressMsg, e screen.Env) (closed bool) {
	k := widget.AllKeys
	if key.Matches(msg, k.Choose) || key.Matches(msg, k.Back) || key.Matches(msg, k.Export) {
		return true
	}
	switch {
	case key.Matches(msg, k.Up):
		x.top--
	case key.Matches(msg, k.Down):
		x.top++
	case key.Matches(msg, k.PageUp):
		x.top -= e.H / 2
	case key.Matches(msg, k.PageDown):
		x.top += e.H / 2
	}
	return false
}

// doneKeys are the keys that work while what was written is listed.
func doneKeys() widget.KeyMap {
	k := widget.AllKeys
	k.Choose.SetHelp("enter", "close")
	k.Back.SetHelp("esc", "close")
	list := []key.Binding{k.Choose, k.Back, k.Help, k.Quit}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{{k.Up, k.Down, k.Choose, k.Back}}}
}

// overDone draws what was written above a page.
func (x *exporter) overDone(e screen.Env, below string) string {
	s := e.Styles
	w := 40
	for _, f := range x.files {
		w = max(w, ansi.StringWidth(f.path)+ansi.StringWidth(f.size)+10)
	}
	w = min(w, e.W-2)
	lines := written(s, x.files, w-4)
	h := min(len(lines)+2, max(e.H-1, 3))
	if s.Spoken {
		h = len(lines) + 2
	}
	p := widget.Panel{Title: "Written", Focused: true, Foot: "enter closes"}
	all := len(lines)
	if lines = widget.Windowed(lines, &x.top, h-2); len(lines) < all {
		p.Note = fmt.Sprintf("%d–%d of %d", x.top+1, x.top+len(lines), all)
	}
	return x.laid(e, p, w, h, lines, below)
}

// laid draws a box above a page.
func (x *exporter) laid(e screen.Env, p widget.Panel, w, h int, lines []string, below string) string {
	if e.Styles.Spoken { // nothing is behind it
		return strings.Join(p.Draw(e.Styles, w, h, lines), "\n")
	}
	x.box.x, x.box.y, x.box.w, x.box.h = (e.W-w)/2, max((e.H-1-h)/2, 0), w, h
	return widget.Laid(below, p.Draw(e.Styles, w, h, lines), x.box.x, x.box.y)
}
