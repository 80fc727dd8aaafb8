package group

import "time"

// facts makes the record of what has been done so far.
func (b *binding) facts() Facts {
	f := Facts{Schema: 1, Flavour: b.s.flavour, Database: b.s.database, TestCount: b.s.testCount, IntervalMS: b.s.interval.Milliseconds(), Groups: []TrackFacts{}}
	f.Zone, _ = time.Now().Zone()
	for _, r := range b.runs {
		f.Groups = append(f.Groups, r.facts())
	}
	for _, st := range b.inOrder() {
		f.Loaded += st.loaded
		if !st.op.kind.topic() {
			continue
		}
		t := b.topic(st.op)
		tf := TopicFacts{
			Topic: st.op.target, Kind: string(st.op.kind), Subscribers: b.s.subs, Published: t.published.Load(),
			Owed: t.owed(), Delivered: t.delivered.Load(), Untimed: t.untimed.Load(), Strange: t.strange.Load(),
		}
		tf.Lost = max(tf.Owed-tf.Delivered, 0)
		f.Topics = append(f.Topics, tf)
	}
	if n, ok := b.room.(nearer); ok {
		f.Near = n.nearFacts()
	}
	return f
}

func (r *groupRun) facts() TrackFacts {
	g := r.g
	f := TrackFacts{
		Group: g.name, Track: g.track, Step: g.step + 1, Concurrent: g.together, Comment: g.comment, Operations: g.operations,
		Total: g.total, PerThread: g.per, Threads: g.start.Threads, Resumed: r.found.Load(), Ops: make([]OpFacts, len(g.names)-1),
	}
	for o, i := range g.index {
		f.Ops[i-1] = OpFacts{Op: g.names[i], Structure: string(o.kind), Name: o.target, TestCase: string(o.act)}
		if o.factory != nil {
			f.Ops[i-1].Object = o.factory.entity.word
		}
	}
	done := r.Record(func(c *counts) {
		for i := range f.Ops {
			o := &c.ops[i+1]
			f.Ops[i].Calls += o.calls.Load()
			f.Ops[i].Failed += o.failed.Load()
			f.Ops[i].Entries += o.entries.Load()
			f.Ops[i].Misses += o.misses.Load()
		}
	})
	f.Acknowledged, f.Failed, f.Started, f.Stopped = done.Done, done.Failed, done.Started, done.Stopped
	f.ThreadMS, f.ThreadsChanged = done.ThreadMS, done.ThreadsChanged
	return f
}
