package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

// hits is a part of a plan that has something to tell.
type hits struct{}

func (hits) Status() string { return "hits 97 %" }

// What only a profile knows of its run stands beside what all runs show.
func TestWhatAProfileTellsOfItsRun(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		a, _, run := live(t, time.Second, size[0], size[1])
		assert.NotContains(t, a.Picture(t), "hits 97 %")
		run.Designed.Parts = workload.Parts{hits{}}
		run.Tick(100 * time.Millisecond)
		a.Send(t, a.Frame())
		assert.Contains(t, a.Picture(t), "hits 97 %")
	}
}
