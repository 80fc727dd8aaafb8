package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// breaking asks which fault the run is to have and for how long, and has it happen once the user
// has confirmed it.
type breaking struct {
	control screen.Control // nil if the run is only watched
	says    *messages
	// fault and long are as last typed.
	fault, long string
}

// press begins to ask.
func (b *breaking) press(e screen.Env) {
	list, err := b.control.Faults()
	if err != nil {
		b.says.say(e, "nothing to break: "+advised(err), true)
		return
	}
	if !slices.Contains(list, b.fault) && b.fault != "" {
		list = append([]string{b.fault}, list...)
	}
	b.askFault(list, max(slices.Index(list, b.fault), 0))
}

// askFault asks which of a list it is to be, or one that is typed.
func (b *breaking) askFault(list []string, at int) {
	b.says.prompt = &prompt{
		label: "Fault (1 of 2), ↑↓ for others", field: widget.NewField(list[at]),
		turn: func(by int) widget.Field {
			at = (at + by + len(list)) % len(list)
			return widget.NewField(list[at])
		},
		done: func(e screen.Env, text string) tea.Cmd {
			b.fault = text
			if err := b.control.CanBreak(text, time.Second); err != nil {
				b.refuse(e, err)
				return nil
			}
			b.askTime()
			return nil
		},
	}
}

// refuse says why nothing is broken.
func (b *breaking) refuse(e screen.Env, err error) {
	b.says.say(e, "nothing is broken: "+advised(err), true)
}

// usualFault is how long a fault lasts unless another time is typed.
const usualFault = "10s"

// askTime asks for how long.
func (b *breaking) askTime() {
	if b.long == "" {
		b.long = usualFault
	}
	b.says.prompt = &prompt{label: "For how long (2 of 2)", field: widget.NewChosen(b.long), done: func(e screen.Env, text string) tea.Cmd {
		long, err := time.ParseDuration(text)
		if err != nil {
			err = fmt.Errorf("%q is not a time such as %s", text, usualFault)
		} else {
			err = b.control.CanBreak(b.fault, long)
		}
		if err != nil {
			b.refuse(e, err)
			return nil
		}
		b.long = text
		b.confirm(e, long)
		return nil
	}}
}

// confirm asks before anything breaks.
func (b *breaking) confirm(e screen.Env, long time.Duration) {
	text := b.fault
	b.says.prompt = &prompt{
		label: fmt.Sprintf("Fault: %s, for %s: y breaks it", ansi.Truncate(text, max(e.W-40, 10), "…"), b.long),
		yes:   "break it",
		done: func(e screen.Env, answer string) tea.Cmd {
			if answer == "" {
				b.says.say(e, "nothing is broken", false)
				return nil
			}
			b.says.hush()
			if err := b.control.Break("workbench", text, long); err != nil {
				b.refuse(e, err)
			}
			return nil
		},
	}
}

// advised is what an error says, and what to do, in which flags of the command line keep their names.
func advised(err error) string {
	text := reason(err)
	if hint := fault.HintOf(err); hint != "" {
		text += "; " + hint
	}
	return text
}

// reason is what an error says, without what it is about.
func reason(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "at: "), "fault: ")
}
