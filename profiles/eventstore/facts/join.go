package facts

import "cmp"

// Join adds what another process did in the same step; one without duration means that
// it did nothing.
func (s *Step) Join(o *Step) {
	if s.FromNs == 0 && s.ToNs == 0 && s.Batch == 0 {
		s.FromNs = o.FromNs
	}
	s.FromNs, s.ToNs = min(s.FromNs, o.FromNs), max(s.ToNs, o.ToNs)
	s.Batch, s.Payload = cmp.Or(s.Batch, o.Batch), cmp.Or(s.Payload, o.Payload)
	s.Rate += o.Rate
	s.Generators += o.Generators
	s.MaxBatch = max(s.MaxBatch, o.MaxBatch)
	for _, a := range []struct{ to, from *Amount }{
		{&s.Offered, &o.Offered},
		{&s.Sent, &o.Sent},
		{&s.Confirmed, &o.Confirmed},
		{&s.Received, &o.Received},
		{&s.Stored, &o.Stored},
		{&s.Acked, &o.Acked},
	} {
		a.to.Events += a.from.Events
		a.to.Batches += a.from.Batches
	}
	s.SentBytes += o.SentBytes
	s.ReceivedBytes += o.ReceivedBytes
	s.RawBytes += o.RawBytes
	s.CompressedBytes += o.CompressedBytes
	s.LinkBytes += o.LinkBytes
	s.StoredBytes += o.StoredBytes
	s.Rows += o.Rows
	s.Statements += o.Statements
	s.Retries += o.Retries
	s.DeadLettered += o.DeadLettered
	s.BlockedNs += o.BlockedNs
}

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
