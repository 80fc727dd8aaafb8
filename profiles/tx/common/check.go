package common

import (
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// CheckValues is the usual value of Check.
const CheckValues = "values"

// Check is the parameter for what is checked. The profile lists it once.
var Check = workload.Param{
	Name: "check", Kind: workload.Choice, Default: CheckValues, Choices: []string{CheckValues, histories.Check},
	Help: "values reads back what was acknowledged; linearizable also reads some sagas (saga) or summaries (pbm) as the run goes, and checks their histories after it",
}

// Linearizable reads Check, and reports whether histories are asked for.
func Linearizable(r *values.Reader) bool { return r.Choice(Check) == histories.Check }

// NotLinearizable reads Check where there are no histories, and refuses them with the reason.
func NotLinearizable(r *values.Reader, why string) {
	if Linearizable(r) {
		r.Blame(Check.Name, "use --set mode=saga or pbm, or leave --check out", "check: %s", why)
	}
}
