package report

import "cmp"

// Join adds what another process lost.
func (l *Losses) Join(o *Losses) {
	l.RootRejected += o.RootRejected
	l.Remainder += o.Remainder
	l.LateTicks += o.LateTicks
	l.Unconfirmed += o.Unconfirmed
	l.Rejected += o.Rejected
	l.Exhausted += o.Exhausted
	l.Oversized += o.Oversized
	l.Duplicates += o.Duplicates
}

// Join adds the state of another process at the same moment; unknown values, -1, add
// nothing.
func (p *SeriesPoint) Join(o *SeriesPoint) {
	p.Step = max(p.Step, o.Step)
	for _, v := range []struct{ to, from *int64 }{{&p.Ready, &o.Ready}, {&p.Unacked, &o.Unacked}, {&p.QueuedBytes, &o.QueuedBytes}} {
		switch {
		case *v.to < 0:
			*v.to = *v.from
		case *v.from > 0:
			*v.to += *v.from
		}
	}
	p.BacklogEvents += o.BacklogEvents
	p.LagNs = max(p.LagNs, o.LagNs)
	p.Tasks += o.Tasks
	p.TaskBytes += o.TaskBytes
	p.Blocked = cmp.Or(p.Blocked, o.Blocked)
}

// Join adds the drain of another process.
func (d *Drain) Join(o *Drain) {
	d.FromNs, d.ToNs = min(d.FromNs, o.FromNs), max(d.ToNs, o.ToNs)
	d.Backlog += o.Backlog
	d.Left += o.Left
}
