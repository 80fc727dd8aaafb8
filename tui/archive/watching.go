package archive

import (
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// watchHelp is what enter does on the run under way.
const watchHelp = "watch it live"

// watching is the run of a sweep or a plan whose dashboard was opened above its page, which leads back
// when the run has ended. The zero value watches none.
type watching struct {
	run  screen.Run
	what string
}

// open shows a run under way, one of a sweep or of a plan.
func (w *watching) open(run screen.Run, what, of string) tea.Cmd {
	w.run, w.what = run, what
	return screen.Open(screen.Watched{Access: screen.Access{Run: run, Of: of}})
}

// tick says at a frame that the run has ended, where it led back.
func (w *watching) tick(e screen.Env, toast *widget.Note) {
	if w.run == nil {
		return
	}
	select {
	case <-w.run.Done():
		if e.Covered {
			toast.Say(e.Now, w.what+" has ended", false)
		}
		w.run = nil
	default:
	}
}
