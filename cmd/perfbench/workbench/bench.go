package workbench

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/tui"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/picker"
)

// surroundings are what the command was given, and where its files are.
type surroundings struct {
	env session.Env
	// out is the folder of run directories, state and presets are the user's own.
	out, state, presets string
	// home is what ~ stands for in a path that is typed; empty when there is none.
	home string
	// lab returns the targets of the lab that run, and all that there may be; nil: none.
	lab func() (running, all []string)
	// crew is who does the work of runs; nil: this process.
	crew *cli.Workers
	// crashed keeps the stack of a panic, as cli.Call.Crashed does; nil keeps nothing.
	crashed func(what any, stack []byte) string
	// soft ends at the first interrupt, hard at the second.
	soft, hard context.Context
}

// labs is lab, if there is any.
func (s *surroundings) labs() (running, all []string) {
	if s.lab == nil {
		return nil, nil
	}
	return s.lab()
}

// path is one that was typed: no shell has replaced its ~.
func (s *surroundings) path(typed string) string {
	if rest, ok := strings.CutPrefix(typed, "~"); ok && s.home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return filepath.Join(s.home, rest)
	}
	return typed
}

// bench is the rest of the program, as the screens see it, in the parts that they ask for.
type bench struct {
	catalogue catalogue
	memory    memory
	requests  *requests
	pinger    pinger
	kept      *kept
	presets   presets
	starter   starter
	sweeper   sweeper
}

func newBench(at *surroundings) *bench {
	b := &bench{catalogue: catalogue{at.env}, memory: memory{at}, requests: &requests{surroundings: at}, kept: &kept{surroundings: at}}
	b.presets = presets{at, b.catalogue}
	b.pinger = pinger{at}
	b.starter = starter{at, b.requests, b.kept}
	b.sweeper = sweeper{at, b.requests, b.kept, b.pinger}
	return b
}

// screens gives each screen what it needs.
func (b *bench) screens(logs func() []string) tui.Bench {
	runs := listed{b.kept, b.requests}
	return tui.Bench{
		Picker:    picker.Bench{Catalogue: b.catalogue, Memory: b.memory, Planner: b.requests, Pinger: b.pinger, Runs: runs},
		Starter:   b.starter,
		Planner:   b.starter,
		Dashboard: dashboard.Bench{Past: b.kept, Presets: b.presets},
		Results:   runs, Runs: runs, Finished: b.kept,
		Sweeper: b.sweeper, Suites: b.sweeper, Plans: b.requests,
		Logs: logs,
	}
}
