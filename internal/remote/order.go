package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// Order is what workers are to do: the values that a plan is made from, never code. It has
// no secrets.
type Order struct {
	Profile string `json:"profile"`
	// Target is the URL of the store without its secrets, which workers have of their own.
	Target string          `json:"target"`
	Inputs workload.Inputs `json:"inputs"`
	// Found is what the coordinator has found in the store that the work goes by.
	Found []byte `json:"found,omitempty"`
	// Stay says that a worker that is through with its part stays until all are: it may have
	// to take on that of another.
	Stay bool `json:"stay,omitempty"`
	// Leased says that the store has a lease for the run, which workers go by that do not hear
	// the coordinator.
	Leased bool `json:"leased,omitempty"`
	// Faults says that the run breaks connections, so that a worker's go through a proxy.
	Faults bool `json:"faults,omitempty"`
	// Sum is that of the coordinator's plan: a worker's has the same, or they differ.
	Sum string `json:"sum"`
}

// Remake makes the plan of an order once more, from the profiles that there are here: for a
// worker, for one who watches, and for a coordinator that goes on in the place of another.
func (o *Order) Remake(all []workload.Profile) (profile workload.Profile, plan *workload.Plan, err error) {
	for _, p := range all {
		if p.Name == o.Profile && p.Design != nil {
			profile = p
		}
	}
	if profile.Design == nil {
		return profile, nil, fault.Hint(fmt.Errorf("there is no profile %q here", o.Profile), "use the same version for both")
	}
	if plan, err = profile.Design(o.Inputs); err != nil {
		return profile, nil, fmt.Errorf("make the plan: %w", err)
	}
	if Sum(plan) != o.Sum {
		return profile, nil, fault.Hint(errors.New("the plan comes out otherwise here than at the coordinator that began the run"), "set TZ to the same for both")
	}
	return profile, plan, nil
}

// Sum is a digest of what a plan does.
func Sum(p *workload.Plan) string {
	type track struct {
		Name  string
		Ops   []string
		Start workload.Settings
		Total int64
	}
	all := struct {
		Parameters []workload.Value
		Writes     []string
		Tracks     []track
	}{p.Parameters, p.Writes, nil}
	for _, t := range p.Tracks() {
		all.Tracks = append(all.Tracks, track{t.Name, t.Ops, t.Start, t.Total})
	}
	data, _ := json.Marshal(all) // plain data
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
