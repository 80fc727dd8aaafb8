package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// mostCounters is how many charts the resources may have, most of them low ones.
const mostCounters = 40

// counter is one number of store.csv, over all nodes that have it.
type counter struct {
	source, name string
	nodes        []string
}

// sources are the sources in display order.
var sources = []string{rundir.OfStore, rundir.OfProcess, rundir.OfOther, rundir.OfMachine, rundir.OfWorker, rundir.OfClient}

// countersOf lists what was sampled, except for processors and memory of processes,
// which have charts of their own.
func countersOf(f *rundir.Folder) []counter {
	var out []counter
	at := map[[2]string]int{}
	for _, s := range f.Samples {
		process := s.Source == rundir.OfClient || s.Source == rundir.OfProcess
		if process && (s.Name == "cpu_cores" || s.Name == "memory_bytes") {
			continue
		}
		key := [2]string{s.Source, s.Name}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, counter{source: s.Source, name: s.Name})
		}
		if !slices.Contains(out[i].nodes, s.Node) {
			out[i].nodes = append(out[i].nodes, s.Node)
		}
	}
	slices.SortStableFunc(out, func(a, b counter) int {
		return cmp.Compare(slices.Index(sources, a.source), slices.Index(sources, b.source))
	})
	for i := range out {
		slices.Sort(out[i].nodes)
	}
	return out
}

// title names the counter for people: what it is, and whose.
func (c counter) title() string {
	words := strings.NewReplacer("_per_s", " per second", "_bytes", "", "_", " ").Replace(c.name)
	if c.source == rundir.OfProcess {
		return Plain("store's process: " + words)
	}
	return Plain(c.source + ": " + words)
}

// lines returns a line for each node.
func (c counter) lines(f *rundir.Folder, a axis) []rundir.Line {
	out := make([]rundir.Line, len(c.nodes))
	for i, n := range c.nodes {
		out[i] = rundir.Line{Name: n, Values: rundir.Gaps(a.n)}
	}
	for _, s := range f.Samples {
		if i := s.T - a.first; s.Source == c.source && s.Name == c.name && i >= 0 && i < a.n {
			at, _ := slices.BinarySearch(c.nodes, s.Node)
			out[at].Values[i] = s.Value
		}
	}
	return out
}

func (c counter) graph(a axis, lines []rundir.Line) Graph {
	format, unit := units.Number, ""
	if strings.Contains(c.name, "bytes") {
		format, unit = size, plot.Bytes
	}
	caption := "Sampled once a second."
	if len(lines) > 1 {
		caption = "Sampled once a second, with a line for each node."
	}
	g := a.graph(c.title(), caption, format, lines...)
	g.Low, g.Mean, g.Unit = true, strings.HasSuffix(c.name, "_per_s"), unit
	return g
}

// size formats a number of bytes.
func size(v float64) string { return units.Size(int64(math.Round(v))) }
