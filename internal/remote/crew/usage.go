package crew

import (
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/perfbench/perfbench/internal/rundir"
)

// usage owns how many processors each worker used in the last second that it told of.
type usage struct {
	mu    sync.Mutex
	cores map[int]used // by worker
}

// used is how many processors a worker used in a second.
type used struct {
	second int
	cores  float64
}

// add takes what a worker used in a second.
func (u *usage) add(worker, second int, cores float64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.cores == nil {
		u.cores = map[int]used{}
	}
	u.cores[worker] = used{second, cores}
}

// samples are what each worker used in a second that has ended, of those that have told of it.
func (u *usage) samples(second int) (out []rundir.Sample) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, i := range slices.Sorted(maps.Keys(u.cores)) {
		if one := u.cores[i]; one.second >= second {
			out = append(out, rundir.Sample{T: second, Source: rundir.OfWorker, Node: strconv.Itoa(i + 1), Name: "cpu_cores", Value: one.cores})
		}
	}
	return out
}
