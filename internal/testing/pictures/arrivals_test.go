package pictures

import (
	"math"
	"strings"
	"testing"
	"time"

	"fmt"

	"github.com/perfbench/perfbench/internal/workload"
)

// What is drawn: calls at a rate, on a store that works on one at a time, and does four fifths of
// what it can.
const (
	arrivalsSeconds = 16
	arrivalsRate    = 10.0
	arrivalsService = 0.8 / arrivalsRate // in seconds
)

// usual returns when the calls of a run fall due, in seconds, of the first seed that has about as
// many as are usual.
func usual(t *testing.T, how workload.Arrivals) (out []float64) {
	t.Helper()
	for seed := int64(1); ; seed++ {
		all := calls(t, workload.Settings{Threads: 1, Rate: arrivalsRate}, how, seed, arrivalsSeconds*time.Second, func(int64, time.Duration) time.Duration { return 0 })
		if math.Abs(float64(len(all))-arrivalsRate*arrivalsSeconds) > 4 {
			continue
		}
		for _, c := range all {
			out = append(out, c.due.Seconds())
		}
		return out
	}
}

// For each way in which calls may come, their moments and how many are in the store.
func TestArrivals(t *testing.T) {
	const right, row, bar, tall = wide - edge, 118.0, 16.0, 54.0
	rows := []struct {
		title, says string
		calls       []float64
	}{
		{"even", "nobody’s users come so", usual(t, workload.Arrivals{})},
		{"poisson", "each user comes independently of the others", usual(t, workload.Arrivals{Poisson: true})},
		{"bursts=6x,1s,3s", "six times as many, now and then", usual(t, workload.Arrivals{Poisson: true, Factor: 6, Burst: time.Second, Calm: 3 * time.Second})},
	}
	x := func(second float64) float64 {
		return edge + min(second, arrivalsSeconds)/arrivalsSeconds*(right-edge)
	}
	deepest := 0
	for _, r := range rows {
		for _, n := range inStore(r.calls) {
			deepest = max(deepest, n.calls)
		}
	}
	p := picture{
		title:  "The same rate, three times: calls that come evenly, independently and in bursts, and how many of them are in the store",
		height: 20 + row*float64(len(rows)) + 24,
	}
	for i, r := range rows {
		top := 20 + row*float64(i)
		fmt.Fprintf(&p, "<text x=\"%g\" y=\"%g\"><tspan class=\"b\">%s</tspan><tspan class=\"dim\">: %s</tspan></text>\n", edge, top+12, r.title, r.says)
		var came strings.Builder
		for _, at := range r.calls {
			fmt.Fprintf(&came, "M%.1f %gv%g", x(at), top+20, bar)
		}
		p.path("call", "%s", came.String())
		foot, most := top+20+bar+tall, 0
		var in strings.Builder
		fmt.Fprintf(&in, "M%g %g", edge, foot)
		for _, n := range inStore(r.calls) {
			most = max(most, n.calls)
			fmt.Fprintf(&in, "H%.1fV%.1f", x(n.at), foot-float64(n.calls)/float64(deepest)*(tall-4))
		}
		p.path("store", "%sH%gV%gz", in.String(), right, foot)
		p.path("line", "M%g %gH%g", edge, foot, right)
		p.text(right, top+12, "e dim", "%d calls, at most %d in the store", len(r.calls), most)
	}
	p.text(edge, p.height-12, "dim", "%d s at %g/s; a call takes the store %g ms, one at a time", arrivalsSeconds, arrivalsRate, 1000*arrivalsService)
	p.drawn(t, "arrivals.svg")
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
		free = max(free, at) + arrivalsService
		ends = append(ends, free)
	}
	for ; done < len(ends); done++ {
		n--
		out = append(out, level{ends[done], n})
	}
	return out
}
