package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
)

// Command is what a fault that is a command runs at its beginning and, unless Heal is empty, at its
// end. Each is a program and its arguments; no shell reads them.
type Command struct {
	Run  []string `json:"run"`
	Heal []string `json:"heal,omitempty"`
}

// Commands are those of the faults of a run. The value of such a fault is the number of its command,
// from 1. The zero value has none; any goroutine may call the methods.
type Commands struct {
	mu   sync.Mutex
	list []Command
}

// All returns the commands, the first of which is number 1; nil has none.
func (c *Commands) All() []Command {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

// parse reads a command, and that of its end, which may be "", and returns its number.
func (c *Commands) parse(text, heal string) (float64, error) {
	var one Command
	for _, part := range []struct {
		text string
		to   *[]string
	}{{text, &one.Run}, {heal, &one.Heal}} {
		words, err := SplitWords(part.text)
		if err != nil {
			return 0, fault.Input(fmt.Errorf("fault: %s: %w", Exec, err), "write it like fault=exec:./failover.sh --to 2,heal=exec:./back.sh; quotes keep blanks and commas together")
		}
		*part.to = words
	}
	if len(one.Run) == 0 {
		return 0, fault.Input(errors.New("fault: the command of exec is missing"), "write fault=exec:COMMAND, for example fault=exec:./failover.sh")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.list {
		if slices.Equal(other.Run, one.Run) && slices.Equal(other.Heal, one.Heal) {
			return float64(i + 1), nil
		}
	}
	c.list = append(c.list, one)
	return float64(len(c.list)), nil
}

// Numbered returns the command of a list with a number; false if there is none.
func Numbered(list []Command, v float64) (Command, bool) {
	i := int(v) - 1
	if i < 0 || i >= len(list) {
		return Command{}, false
	}
	return list[i], true
}

// Command returns the command of the plan with a number; false if there is none.
func (p *Plan) Command(v float64) (Command, bool) {
	return Numbered(p.Commands.All(), v)
}

// FaultSize writes how large a fault of the plan is: FaultSize of its commands.
func (p *Plan) FaultSize(k *FaultKind, v float64) string {
	return FaultSize(k, v, p.Commands.All())
}

// textCommand stands for a command of which only the number is known.
func textCommand(v float64) string { return fmt.Sprintf("command %d", int(v)) }

// FaultSize writes how large a fault is, as FaultKind.Format does, and a command as it was typed.
func FaultSize(k *FaultKind, v float64, list []Command) string {
	if one, ok := Numbered(list, v); ok && k.Means(v) == OfCommand {
		return JoinWords(one.Run)
	}
	return k.Format(v)
}

// SplitWords parts a text into words at blanks; quotes, single or double, keep blanks together.
func SplitWords(text string) (words []string, err error) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%q: a quote is not closed", text)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// JoinWords writes words as SplitWords and a timetable read them.
func JoinWords(words []string) string {
	out := slices.Clone(words)
	for i, w := range out {
		if w == "" || strings.ContainsAny(w, " \t\n\"',;") {
			var b strings.Builder
			for j, part := range strings.Split(w, "'") { // a single quote stands between double ones
				if j > 0 {
					b.WriteString(`"'"`)
				}
				if part != "" || w == "" {
					b.WriteString("'" + part + "'")
				}
			}
			out[i] = b.String()
		}
	}
	return strings.Join(out, " ")
}
