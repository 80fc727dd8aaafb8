package picker

import (
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/widget"
)

// maxOffers is how many completions of a path are offered.
const maxOffers = 50

// complete looks for files that begin like the typed path, in the background.
func (x *edit) complete() tea.Cmd {
	if x.row.kind != rowFile {
		if x.pick < 0 && len(x.offers) > 0 {
			x.pick = 0
		}
		if x.pick >= 0 {
			x.field = widget.Field{Text: []rune(x.text()), Pos: len([]rune(x.text())), Mask: x.field.Mask}
			x.pick = -1
		}
		return nil
	}
	typed := x.field.Value()
	return func() tea.Msg { return completedMsg{typed, pathsLike(typed)} }
}

// pathsLike lists the possible completions of the last path of a list, each with what
// precedes it. Directories end with a slash.
func pathsLike(typed string) []string {
	before, last := "", typed
	if i := strings.LastIndexByte(typed, ','); i >= 0 {
		before, last = typed[:i+1]+" ", strings.TrimLeft(typed[i+1:], " ")
	}
	dir, prefix := filepath.Split(last)
	look := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			dir = filepath.Join(home, rest) + string(filepath.Separator)
			look = dir
		}
	}
	if look == "" {
		look = "."
	}
	entries, err := os.ReadDir(look)
	if err != nil {
		return nil
	}
	var out []string
	for _, d := range entries {
		name := d.Name()
		if !strings.HasPrefix(name, prefix) || prefix == "" && strings.HasPrefix(name, ".") {
			continue
		}
		if d.IsDir() {
			name += "/"
		}
		if out = append(out, before+dir+name); len(out) == maxOffers {
			break
		}
	}
	return out
}

// completed inserts the common prefix of all paths found, and offers them.
func (f *form) completed(msg completedMsg) {
	x := f.edit
	if x == nil || x.row.kind != rowFile || x.field.Value() != msg.typed || len(msg.paths) == 0 {
		return
	}
	shared := msg.paths[0]
	for _, p := range msg.paths[1:] {
		for !strings.HasPrefix(p, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	if len(shared) > len(msg.typed) {
		x.field = widget.NewField(shared)
	}
	x.offers, x.pick = nil, -1
	if len(msg.paths) > 1 {
		x.offers = msg.paths
	}
}
