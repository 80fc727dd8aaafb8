package pictures

import (
	"bytes"
	"context"

	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/workload"
)

var update = flag.Bool("update", false, "draw the pictures of docs/pictures anew")

// Pictures are so wide; edge is what is free on either side.
const wide, edge = 720.0, 24.0

// picture is an SVG being drawn, in the colours of a light or a dark page.
type picture struct {
	bytes.Buffer
	title  string
	height float64
}

const style = `.paper { fill: #fff } text { font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 } .dim { fill: #59636e } .b { font-weight: 600 } .m { text-anchor: middle } .e { text-anchor: end }
.line { stroke: #59636e; fill: none } .dash { stroke: #59636e; stroke-dasharray: 4 4; fill: none } .call { stroke: #1158c7; stroke-width: 1.2; fill: none }
.store { fill: #80ccff } .wait { fill: #eac54f } .ours { fill: #cf222e } .good { fill: #1a7f37 } .calm { fill: #afb8c1 } .near { fill: #afb8c1; opacity: .25 } .stall { fill: #cf222e; opacity: .13 }
@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #e6edf3 } .dim { fill: #9198a1 } .line, .dash { stroke: #9198a1 } .call { stroke: #80ccff } .store { fill: #1158c7 } .wait { fill: #845306 } .ours { fill: #f85149 } .good { fill: #3fb950 } .calm { fill: #484f58 } .stall { fill: #f85149; opacity: .2 } }`

// text writes at a place, in classes of the style.
func (p *picture) text(x, y float64, class, format string, args ...any) {
	fmt.Fprintf(p, "<text x=\"%.5g\" y=\"%.5g\" class=\"%s\">%s</text>\n", x, y, class, html.EscapeString(fmt.Sprintf(format, args...)))
}

// bar draws a rectangle from x to another one, if it can be seen.
func (p *picture) bar(from, to, y, height float64, class string) {
	if to > from {
		fmt.Fprintf(p, "<rect x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%.5g\" class=\"%s\" rx=\"2\"/>\n", from, y, to-from, height, class)
	}
}

// path draws a line by the commands of SVG.
func (p *picture) path(class, format string, args ...any) {
	fmt.Fprintf(p, "<path class=\"%s\" d=\"%s\"/>\n", class, fmt.Sprintf(format, args...))
}

// drawn compares a picture with the one of the pages, or replaces that.
func (p *picture) drawn(t *testing.T, name string) {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" role="img" aria-labelledby="t">
<title id="t">%[3]s</title>
<style>
%[4]s
</style>
<rect class="paper" width="%[1]g" height="%[2]g" rx="6"/>
%[5]s</svg>
`, wide, p.height, html.EscapeString(p.title), style, p.String())
	file := filepath.Join("..", "..", "..", "docs", "pictures", name)
	if *update {
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(bytes.ReplaceAll(kept, []byte("\r\n"), []byte("\n"))), b.String(), "make golden draws it")
}

// call is when a call of a run was due, began and ended, in the run's time.
type call struct{ due, start, end time.Duration }

func (c call) response() time.Duration { return c.end - c.due }

// calls does a run in virtual time, whose calls take as long as takes says by when they begin,
// and returns them in the order in which they were due.
func calls(t *testing.T, s workload.Settings, how workload.Arrivals, seed int64, lasts time.Duration, takes func(number int64, at time.Duration) time.Duration) (out []call) {
	t.Helper()
	var mu sync.Mutex
	track := workload.Track{Name: "calls", Ops: []string{"call"}, Start: s, NewTask: func(int) (workload.Task, error) {
		return workload.TaskFunc(func(_ context.Context, it *workload.Iteration) error {
			c := call{due: time.Duration(it.Due())}
			m := it.Begin(0)
			c.start = time.Duration(it.Now())
			if s.Rate == 0 {
				c.due = c.start
			}
			time.Sleep(takes(it.Seq, c.start))
			err := it.End(m, 1, nil)
			c.end = time.Duration(it.Now())
			mu.Lock()
			defer mu.Unlock()
			out = append(out, c)
			return err
		}), nil
	}}
	synctest.Test(t, func(t *testing.T) {
		r, err := engine.Start(t.Context(), engine.Options{
			Plan: &workload.Plan{
				Unit: "calls", Knobs: []workload.Knob{workload.Threads(), workload.Rate("calls")},
				Phases: []workload.Phase{{Name: "main", Duration: lasts, Tracks: []workload.Track{track}}},
			},
			Classify: func(error) uint8 { return 1 }, Classes: []string{"ok", "other"}, Arrivals: how, Seed: seed,
		})
		require.NoError(t, err)
		res, err := r.Wait()
		require.NoError(t, err)
		require.Equal(t, int64(len(out)), res.Ops[0].Count)
	})
	slices.SortFunc(out, func(a, b call) int { return int(a.due - b.due) })
	return out
}
