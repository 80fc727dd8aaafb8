package self

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/perfbench/perfbench/internal/watch"
)

// Processors describes the processors that perfbench has here: their model, how many
// there are and may be used, and the quota of the control group.
func Processors(ctx context.Context) string {
	model := runtime.GOARCH
	if infos, err := cpu.InfoWithContext(ctx); err == nil && len(infos) > 0 && infos[0].ModelName != "" {
		model = infos[0].ModelName
	}
	s := fmt.Sprintf("%s, %d processors, GOMAXPROCS %d", model, runtime.NumCPU(), runtime.GOMAXPROCS(0))
	if t := watch.Of(os.Getpid()); t.Known {
		s += fmt.Sprintf(", quota %.3g", t.Cores)
	}
	return s
}
