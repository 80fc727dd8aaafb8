package run

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// Facts returns the record of what has been done so far.
func (b *binding) Facts(*measure.Result) any {
	f := report.Facts{Schema: 1, Flavour: b.s.Flavour, Database: b.s.Database, TestCount: b.s.TestCount, IntervalMS: b.s.Interval.Milliseconds(), Groups: []report.TrackFacts{}}
	f.Zone, _ = time.Now().Zone()
	for _, r := range b.runs {
		f.Groups = append(f.Groups, r.facts())
	}
	for _, st := range b.inOrder() {
		f.Loaded += st.loaded
		if !st.op.Kind.Topic() {
			continue
		}
		t := b.topic(st.op)
		tf := report.TopicFacts{
			Topic: st.op.Target, Kind: string(st.op.Kind), Subscribers: b.s.Subscribers, Published: t.published.Load(),
			Owed: t.owed(), Delivered: t.delivered.Load(), Untimed: t.untimed.Load(), Strange: t.strange.Load(),
		}
		tf.Lost = max(tf.Owed-tf.Delivered, 0)
		f.Topics = append(f.Topics, tf)
	}
	if n, ok := b.layer.(layer.Nearer); ok {
		f.Near = n.NearFacts()
	}
	return f
}

func (r *groupRun) facts() report.TrackFacts {
	g := r.g
	f := report.TrackFacts{
		Group: g.Name, Track: g.Track, Step: g.Step + 1, Concurrent: g.Together, Comment: g.Comment, Operations: g.Operations,
		Total: g.Total, PerThread: g.Per, Threads: g.Start.Threads, Resumed: r.found.Load(), Ops: make([]report.OpFacts, len(g.Names)-1),
	}
	for o, i := range g.Index {
		f.Ops[i-1] = report.OpFacts{Op: g.Names[i], Structure: string(o.Kind), Name: o.Target, TestCase: string(o.Action)}
		if o.Factory != nil {
			f.Ops[i-1].Object = o.Factory.Entity.Word
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
