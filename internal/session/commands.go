package session

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

const (
	// commandLimit is how long a command of a fault may take; then it is killed, with all that it
	// has started.
	commandLimit = time.Minute
	// outputLimit is how long its output is waited for once it has ended, as what it has left
	// running may hold that open.
	outputLimit = time.Second
	// lineLimit is how much is kept of the first line of its output, in bytes.
	lineLimit = 200
)

// commandHand has faults happen by commands of the user.
type commandHand struct {
	ctx     context.Context // ends what is under way
	plan    *workload.Plan
	environ []string
	limit   time.Duration
	// owe is that of Env, and settled takes away what it has noted of the command that broke something.
	owe     func(broke, heal []string) (settled func(), err error)
	settled func()
}

func (h *commandHand) means() workload.Means { return workload.OfCommand }

func (h *commandHand) spoil(_ int, v float64) (string, error) {
	one, _ := h.plan.Command(v) // it was checked
	if len(one.Heal) > 0 && h.owe != nil {
		settled, err := h.owe(one.Run, one.Heal)
		if err != nil {
			return "", fmt.Errorf("The command %s was not run, as the one that puts it right could not be noted: %w.", workload.JoinWords(one.Run), err) //nolint:staticcheck // a sentence
		}
		h.settled = settled
	}
	return h.run(h.ctx, one.Run)
}

// follow has nothing to do: a command does all of it.
func (*commandHand) follow(int) (string, error) { return "", nil }

// heal runs the command of the end, even where that of the beginning failed, as that may have done
// half of what it was to do.
func (h *commandHand) heal(_ int, v float64) (string, error) {
	one, _ := h.plan.Command(v)
	if len(one.Heal) == 0 {
		return "", nil
	}
	note, err := h.run(context.Background(), one.Heal)
	if h.settled != nil && err == nil {
		h.settled()
	}
	h.settled = nil
	return note, err
}

// run runs a command.
func (h *commandHand) run(ctx context.Context, argv []string) (string, error) {
	return runCommand(ctx, argv, h.environ, "", h.limit)
}

// RunCommand runs a command of a fault to its end or for a minute at most, in a folder, and says in a
// sentence what came of it.
func RunCommand(ctx context.Context, argv, environ []string, dir string) (string, error) {
	return runCommand(ctx, argv, environ, dir, commandLimit)
}

// runCommand runs a command to its end, and says what came of it.
func runCommand(ctx context.Context, argv, environ []string, dir string, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	own(cmd)
	out := &firstLine{}
	cmd.Dir = dir
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = environ, out, out, outputLimit
	began := time.Now()
	err := cmd.Run()
	took, text := units.Duration(time.Since(began).Round(time.Millisecond)), out.text()
	if errors.Is(err, exec.ErrWaitDelay) { // what it has left running still writes
		err = nil
	}
	name := workload.JoinWords(argv)
	_, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return fmt.Sprintf("%s ended with exit code 0 after %s%s", name, took, text), nil
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("The command %s was killed, as it had not ended after %s%s.", name, units.Duration(limit), text) //nolint:staticcheck // a sentence
	case ctx.Err() != nil:
		return "", fmt.Errorf("The command %s was killed, as the run was%s.", name, text) //nolint:staticcheck // a sentence
	case ended && cmd.ProcessState.ExitCode() >= 0:
		return "", fmt.Errorf("The command %s ended with exit code %d after %s%s.", name, cmd.ProcessState.ExitCode(), took, text) //nolint:staticcheck // a sentence
	case ended:
		return "", fmt.Errorf("The command %s ended after %s by a %s%s.", name, took, cmd.ProcessState, text) //nolint:staticcheck // a sentence
	}
	return "", fmt.Errorf("The command %s was not run: %w.", name, err) //nolint:staticcheck // a sentence
}

// firstLine keeps the first line that is written with anything on it.
type firstLine struct {
	mu   sync.Mutex
	line []byte
	over bool
}

// Write takes everything.
func (f *firstLine) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range p {
		switch {
		case f.over:
			return len(p), nil
		case c == '\n' && len(strings.TrimSpace(string(f.line))) == 0:
			f.line = f.line[:0]
		case c == '\n' || len(f.line) == lineLimit:
			f.over = true
		default:
			f.line = append(f.line, c)
		}
	}
	return len(p), nil
}

// text is what stands behind a sentence: the line, after a colon.
func (f *firstLine) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	line := strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, string(f.line)))
	if line == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(line, ".")
}
