package eventstore

import "github.com/perfbench/perfbench/internal/workload"

// How the rest of a part goes from a process that was lost to another. Events that were measured and
// had not been stored by its last report are made anew, without being measured again; then it goes on
// up to the count. All of them are made by generators of numbers of their own, with trees of their own:
// no event is stored twice, whatever the lost process still stores, and what it has stored beyond its
// last report is found by verification.

// pass registers the work that another process can finish.
func (b *binding) pass(p *workload.Plan) {
	for k, t := range p.Tracks() {
		switch t.Name {
		case trackEvents:
			workload.Pass(p.Shared, k, unmade{b}, int(opPublish))
		case trackQuery:
			workload.Pass(p.Shared, k, unasked{b}, 0, 1, 2)
		}
	}
}

// Passes says that any process can do what another has left.
func (s *spec) Passes() error { return nil }

// unmade are the events that another process can make.
type unmade struct{ b *binding }

// made is how a part stands: so many events are yet to be made, and as many Anew as were measured and
// not stored.
type made struct{ Left, Anew int64 }

// Left tells how many events of a part were not measured, or not stored. Nothing is on its way any more
// from whoever had it.
func (u unmade) Left(of workload.Process, did []workload.Did) made {
	stake, stored := u.b.stake(of), int64(0)
	for g := range u.b.boxes.each() {
		if stake.Owns(g) {
			u.b.ledger.Lose(uint32(g))
			stored += u.b.ledger.Done(uint32(g))
		}
	}
	measured := did[0].Units
	return made{max(share(u.b.s.load.events, stake)-measured, 0), max(measured-stored, 0)}
}

// Inherit makes them, by generators that nobody has had.
func (u unmade) Inherit(m made, again int) bool {
	u.b.s.load.stake.Again, u.b.series.hosted = again, true
	u.b.quota.left.Store(m.Left)
	u.b.quota.anew.Store(m.Anew)
	return m.Left >= 0 && m.Anew >= 0
}

// unasked are the queries that another process can make.
type unasked struct{ b *binding }

// Left tells how many queries of the phase after the load a part has had.
func (u unasked) Left(_ workload.Process, did []workload.Did) (asked int64) {
	for _, d := range did {
		asked += d.Timed + d.Failed
	}
	return asked
}

// Inherit goes on after them.
func (u unasked) Inherit(asked int64, _ int) bool {
	u.b.queries.asked.Store(asked)
	return asked >= 0
}

// share is how many of a number a stake has.
func share(n int64, of workload.Stake) int64 {
	return n*int64(of.To)/int64(of.All) - n*int64(of.From)/int64(of.All)
}
