package engine

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

var update = flag.Bool("update", false, "draw docs/pictures/arrivals.svg anew")

const pictureFile = "../../docs/pictures/arrivals.svg"

// The picture of measurement.md is of arrivals as a run has them, and make golden draws it.
func TestThePictureOfArrivalsIsTrue(t *testing.T) {
	drawn := pictureOfArrivals()
	if *update {
		require.NoError(t, os.WriteFile(pictureFile, drawn, 0o644))
	}
	kept, err := os.ReadFile(pictureFile)
	require.NoError(t, err)
	assert.Equal(t, string(bytes.ReplaceAll(kept, []byte("\r\n"), []byte("\n"))), string(drawn), "make golden draws it")
}

// What is drawn: calls at a rate, on a store that works on one at a time, and does four fifths of
// what it can.
const (
	picturedSeconds = 16
	picturedRate    = 10.
	picturedService = load / picturedRate // in seconds
)

// came returns when calls fall due in the picture, in seconds.
func came(how workload.Arrivals, seed uint64) (out []float64) {
	s := newSchedule(0, picturedRate)
	if how.Poisson {
		s.gaps, s.units = newGaps(seed), 1
	}
	if how.Factor > 0 {
		s.stretchBy(newTide(how, seed, 0))
	}
	for k := int64(0); s.due(k) < picturedSeconds*int64(time.Second); k++ {
		out = append(out, float64(s.due(k))/1e9)
	}
	return out
}

// usual returns the calls of the first seed that has about as many as are usual.
func usual(how workload.Arrivals) []float64 {
	for seed := uint64(1); ; seed++ {
		if all := came(how, seed); math.Abs(float64(len(all))-picturedRate*picturedSeconds) <= 4 {
			return all
		}
	}
}

// pictureOfArrivals draws, for each way in which calls may come, their moments and how many are
// in the store.
func pictureOfArrivals() []byte {
	const left, right, row, bar, tall = 24.0, 696.0, 118.0, 16.0, 54.0
	rows := []struct {
		title, says string
		calls       []float64
	}{
		{"even", "nobody’s users come so", usual(workload.Arrivals{})},
		{"poisson", "each user comes independently of the others", usual(workload.Arrivals{Poisson: true})},
		{"bursts=6x,1s,3s", "six times as many, now and then", usual(workload.Arrivals{Poisson: true, Factor: 6, Burst: time.Second, Calm: 3 * time.Second})},
	}
	x := func(second float64) float64 { return left + min(second, picturedSeconds)/picturedSeconds*(right-left) }
	deepest := 0
	for _, r := range rows {
		for _, n := range inStore(r.calls) {
			deepest = max(deepest, n.calls)
		}
	}
	var b bytes.Buffer
	height := 20 + row*float64(len(rows)) + 24
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 %[1]g" width="720" height="%[1]g" role="img" aria-labelledby="t">
<title id="t">The same rate, three times: calls that come evenly, independently and in bursts, and how many of them are in the store</title>
<style>
.paper { fill: #fff } text { font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 } .dim { fill: #59636e } .b { font-weight: 600 } .e { text-anchor: end }
.line { stroke: #59636e; fill: none } .call { stroke: #1158c7; stroke-width: 1.2; fill: none } .store { fill: #80ccff }
@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #e6edf3 } .dim { fill: #9198a1 } .line { stroke: #9198a1 } .call { stroke: #80ccff } .store { fill: #1158c7 } }
</style>
<rect class="paper" width="720" height="%[1]g" rx="6"/>
`, height)
	for i, r := range rows {
		top := 20 + row*float64(i)
		fmt.Fprintf(&b, "<text x=\"%g\" y=\"%g\"><tspan class=\"b\">%s</tspan><tspan class=\"dim\">: %s</tspan></text>\n", left, top+12, r.title, r.says)
		b.WriteString(`<path class="call" d="`)
		for _, at := range r.calls {
			fmt.Fprintf(&b, "M%.1f %gv%g", x(at), top+20, bar)
		}
		b.WriteString("\"/>\n")
		foot, most := top+20+bar+tall, 0
		fmt.Fprintf(&b, "<path class=\"store\" d=\"M%g %g", left, foot)
		for _, n := range inStore(r.calls) {
			most = max(most, n.calls)
			fmt.Fprintf(&b, "H%.1fV%.1f", x(n.at), foot-float64(n.calls)/float64(deepest)*(tall-4))
		}
		fmt.Fprintf(&b, "H%[1]gV%[2]gz\"/>\n<path class=\"line\" d=\"M%[3]g %[2]gH%[1]g\"/>\n", right, foot, left)
		fmt.Fprintf(&b, "<text x=\"%g\" y=\"%g\" class=\"e dim\">%d calls, at most %d in the store</text>\n", right, top+12, len(r.calls), most)
	}
	fmt.Fprintf(&b, "<text x=\"%g\" y=\"%g\" class=\"dim\">%d s at %g/s; a call takes the store %g ms, one at a time</text>\n</svg>\n", left, height-12, picturedSeconds, picturedRate, 1000*picturedService)
	return b.Bytes()
}

// level is how many calls are in the store from a moment on.
type level struct {
	at    float64
	calls int
}

// inStore returns how many calls have come and are not done, each time that changes.
func inStore(calls []float64) (out []level) {
	var ends []float64
	n, done, free := 0, 0, 0.0
	for _, at := range calls {
		for done < len(ends) && ends[done] <= at {
			n--
			out = append(out, level{ends[done], n})
			done++
		}
		n++
		out = append(out, level{at, n})
		free = max(free, at) + picturedService
		ends = append(ends, free)
	}
	for ; done < len(ends); done++ {
		n--
		out = append(out, level{ends[done], n})
	}
	return out
}
