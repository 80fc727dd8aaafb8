package report

import (
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// sessions shows what users there were.
func sessions(r *rundir.Run) Section {
	if len(r.Sessions) == 0 {
		return Section{}
	}
	s := Section{Heading: "Sessions", Table: Table{Left: 1, Columns: []string{"track", "began", "ended", "in progress", "calls of each", "lasted"}}}
	for _, x := range r.Sessions {
		calls, lasted := "–", "–"
		if x.Ended > 0 {
			calls, lasted = fmt.Sprintf("%.3g", x.Calls), units.Duration(time.Duration(x.LastedS*1e9))
		}
		s.Table.Add(x.Track, Whole(x.Begun), Whole(x.Ended), fmt.Sprintf("%.3g", x.InProgress), calls, lasted)
	}
	s.Text = []string{"A user comes, makes calls, each once the last was answered and some time to think has passed, and goes. How many were in progress at a time, how many calls each made and how long it lasted are averages. Sessions that began and did not end were in progress at the end of the run, or of their thread."}
	return s
}
