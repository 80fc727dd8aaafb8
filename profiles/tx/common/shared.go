package common

import (
	"strconv"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// Zipf is the parameter for how unevenly data are accessed. The profile lists it once.
var Zipf = workload.Param{
	Name: "zipf", Kind: workload.Number, Default: "0", Min: 0, Max: 5,
	Help: "contention: exponent of the distribution of groups (pbm: 0 visits them in turn) or accounts (saga: 0 makes all equally likely)",
}

// Count reads and shows how much is to be done: the value of that parameter, or of
// --count. Problems are added to r.
func Count(r *values.Reader, p workload.Param) int64 {
	v := r.Pick(p, "count", p.Name)
	n, err := v.Int(int64(p.Min), int64(p.Max))
	r.Problems.Add(err)
	r.Show(p.Name, strconv.FormatInt(n, 10), v)
	return n
}
