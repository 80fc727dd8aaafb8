package tx

import (
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/baseline"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/pbm"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

var modeParam = workload.Param{
	Name: "mode", Kind: workload.Choice, Choices: modes, Default: pbm.Mode,
	Help: "pbm: look-ups and group summaries; saga: distributed transactions; baseline: the calls that they are made of, and the ceiling",
}

// params returns the parameters of all modes.
func params() []workload.Param {
	return slices.Concat([]workload.Param{modeParam, common.Zipf, common.Check}, workload.SessionParams(), pbm.Params(), saga.Params(), baseline.Params())
}
