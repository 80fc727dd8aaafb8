package tx

import (
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/baseline"
	"github.com/perfbench/perfbench/profiles/tx/pbm"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

func params() []workload.Param {
	all := []workload.Param{
		{
			Name: "mode", Kind: workload.Choice, Choices: modes, Default: pbm.Mode,
			Help: "pbm: look-ups and group summaries; saga: distributed transactions; baseline: the calls that they are made of, and the ceiling",
		},
		{
			Name: "zipf", Kind: workload.Number, Default: "0", Min: 0, Max: 5,
			Help: "contention: exponent of the distribution of groups (pbm: 0 visits them in turn) or accounts (saga: 0 all alike)",
		},
	}
	return append(append(append(all, pbm.Params()...), saga.Params()...), baseline.Params()...)
}
