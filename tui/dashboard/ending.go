package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/screen"
)

// ending is how the run ends: that it has, that the user has asked it to, and where to go
// afterwards.
type ending struct {
	now           *reading
	says          *messages
	run           screen.Ending // nil if the run is only watched
	over, stopped bool
	then          screen.Destination
}

// running returns what ends the run; nil once it has ended, or if it is only watched.
func (en *ending) running() screen.Ending {
	if en.over {
		return nil
	}
	return en.run
}

// stop asks the run to end, and says so.
func (en *ending) stop(e screen.Env, text string) {
	en.run.Stop()
	en.stopped = true
	en.says.say(e, text, false)
}

// report tells the application once that the run has ended; that of a sweep or plan leads back to it.
func (en *ending) report() tea.Cmd {
	select {
	case <-en.now.run.Done():
		if en.over = true; en.now.of != "" { // its page goes on
			return screen.Back
		}
		msg := screen.EndedMsg{Outcome: en.now.run.Outcome(), Then: en.then}
		return func() tea.Msg { return msg }
	default:
		return nil
	}
}
