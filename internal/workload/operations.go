package workload

import (
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
)

// Operations lists the operations of a plan, in the order of the indexes that
// samples carry.
func (p *Plan) Operations() []measure.Operation {
	var out []measure.Operation
	for _, t := range p.Tracks() {
		for _, op := range t.Ops {
			out = append(out, measure.Operation{Track: t.Name, Op: op})
		}
	}
	return out
}

// OtherUnits maps TRACK.OP to the unit of each operation that does not count in
// the plan's unit; nil when there are none.
func (p *Plan) OtherUnits() map[string]string {
	var out map[string]string
	for _, t := range p.Tracks() {
		for i, op := range t.Ops {
			unit := t.UnitOf(i)
			if unit == "" {
				continue
			}
			if out == nil {
				out = map[string]string{}
			}
			out[t.Name+"."+op] = unit
		}
	}
	return out
}

// Counted reports for each operation of a plan, by the index that samples carry,
// whether its units count towards the totals of the run.
func (p *Plan) Counted() []bool {
	var out []bool
	for _, t := range p.Tracks() {
		for i := range t.Ops {
			out = append(out, t.Counts(i))
		}
	}
	return out
}

// Covered names what figures of the whole plan are of: all calls, or the counted operations.
func (p *Plan) Covered() string {
	all, counted := p.Counted(), 0
	for _, is := range all {
		if is {
			counted++
		}
	}
	return measure.CallsOf(counted, len(all))
}

// Warming reports for each operation of a plan, by the index that samples carry, whether
// it tells when a warm-up has settled. In a warm-up only the phases run that wait for no
// other: those of their operations tell that count or, where none does, such as in a load
// before queries, all of them.
func (p *Plan) Warming() []bool {
	var first, both []bool
	for i := range p.Phases {
		for _, t := range p.Phases[i].Tracks {
			for j := range t.Ops {
				runs := len(p.Phases[i].After) == 0
				first, both = append(first, runs), append(both, runs && t.Counts(j))
			}
		}
	}
	if slices.Contains(both, true) {
		return both
	}
	return first
}
