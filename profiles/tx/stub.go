package tx

import (
	"errors"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

const (
	mapElig, mapProfile                                           = "eligibility", "profile"
	caseGet, caseGetAll, caseTx                                   = "get", "getall", "tx"
	loadAuto, loadOnly, loadNever                                 = "auto", "only", "never"
	layoutAuto, layoutMap, layoutGroup                            = "auto", "map", "group"
	atomicScript, atomicFunction, atomicWatch, atomicNone         = "script", "function", "watch", "none"
	formatPadogrid, formatAB, formatRedisBenchmark, formatCeiling = "padogrid-tx", "ab", "redis-benchmark", "ceiling"
)

func designPBM(*values, workload.Inputs) (*workload.Plan, error) {
	return nil, fault.Input(errors.New("pbm later"), "")
}
func designBaseline(*values, workload.Inputs) (*workload.Plan, error) {
	return nil, fault.Input(errors.New("baseline later"), "")
}
func Read([]workload.File) (workload.Values, []string, error) { return nil, nil, nil }
func fromProperties(workload.Value) bool                      { return false }
func Formats() []rundir.Format                                { return nil }
