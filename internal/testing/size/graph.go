package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// action is a step of a build, as go build -debug-actiongraph writes it.
type action struct {
	ID                       int
	Mode                     string // "build" compiles a package, "link" links the program
	Package                  string
	Deps                     []int // the actions that must have ended before it
	CmdReal, CmdUser, CmdSys time.Duration
}

func readActions(file string) ([]action, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var actions []action
	if err := json.Unmarshal(data, &actions); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return actions, nil
}

// compiling returns the processor time that the compiler took for each package.
func compiling(actions []action) map[string]cost {
	costs := map[string]cost{}
	for _, a := range actions {
		if a.Mode == "build" {
			c := costs[a.Package]
			c.seconds += (a.CmdUser + a.CmdSys).Seconds()
			costs[a.Package] = c
		}
	}
	return costs
}

// shown is how many of our packages are listed.
const shown = 20

// ownTable prints what our own packages cost, the slowest to compile first, and how many
// functions of libraries each compiles again.
func ownTable(costs map[string]cost, counts map[string]int) {
	own := slices.DeleteFunc(slices.Collect(maps.Keys(costs)), func(p string) bool { return !strings.HasPrefix(p, ours) })
	slices.SortFunc(own, func(a, b string) int {
		return cmp.Or(cmp.Compare(costs[b].seconds, costs[a].seconds), strings.Compare(a, b))
	})
	all := sum(costs, func(p string) bool { return strings.HasPrefix(p, ours) })
	fmt.Printf("| our package (%d of them: %.0f seconds) | seconds | functions of libraries |\n| --- | --: | --: |\n", len(own), all.seconds)
	for _, p := range own[:min(shown, len(own))] {
		fmt.Printf("| %s | %.1f | %d |\n", strings.TrimPrefix(p, ours), costs[p].seconds, counts[p])
	}
}

// chain prints the packages that wait for each other longest: with any number of
// processors, a build takes at least that long.
func chain(actions []action) {
	steps := longest(actions)
	var whole time.Duration
	for _, a := range steps {
		whole += a.CmdReal
	}
	fmt.Printf("The longest chain, %.0f s:", whole.Seconds())
	for _, a := range steps {
		if a.CmdReal < 300*time.Millisecond {
			continue
		}
		name := strings.TrimPrefix(a.Package, ours)
		if a.Mode != "build" {
			name = a.Mode
		}
		fmt.Printf(" %s %.1f", name, a.CmdReal.Seconds())
	}
	fmt.Println()
}

// longest returns the actions of the chain that takes longest, the first one first.
func longest(actions []action) []action {
	byID := map[int]action{}
	for _, a := range actions {
		byID[a.ID] = a
	}
	ends, before := map[int]time.Duration{}, map[int]int{}
	var end func(id int) time.Duration
	end = func(id int) time.Duration {
		if t, ok := ends[id]; ok {
			return t
		}
		var wait time.Duration
		before[id] = -1
		for _, d := range byID[id].Deps {
			if t := end(d); t > wait {
				wait, before[id] = t, d
			}
		}
		ends[id] = wait + byID[id].CmdReal
		return ends[id]
	}
	last := -1
	for id := range byID {
		if end(id) > ends[last] {
			last = id
		}
	}
	var steps []action
	for id := last; id >= 0; id = before[id] {
		steps = append(steps, byID[id])
	}
	slices.Reverse(steps)
	return steps
}
