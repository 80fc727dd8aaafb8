package run

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// record is what the run tells of itself in reports.
type record struct{ w *work }

// Facts returns the record of what has been done so far.
func (x *record) Facts(*measure.Result) any {
	w := x.w
	f := report.Facts{Schema: 1, Flavour: w.s.Flavour, Database: w.s.Database, TestCount: w.s.TestCount, IntervalMS: w.s.Interval.Milliseconds(), Groups: []report.TrackFacts{}}
	f.Zone, _ = time.Now().Zone()
	for _, r := range w.runs {
		f.Groups = append(f.Groups, r.facts())
	}
	for _, st := range w.structures.all {
		f.Loaded += st.loaded
		if !st.op.Kind.Topic() {
			continue
		}
		t := w.topics.of(st.op)
		tf := report.TopicFacts{
			Topic: st.op.Target, Kind: string(st.op.Kind), Subscribers: w.s.Subscribers, Published: t.published.Load(),
			Owed: t.owed(), Delivered: t.delivered.Load(), Untimed: t.untimed.Load(), Strange: t.strange.Load(),
		}
		tf.Lost = max(tf.Owed-tf.Delivered, 0)
		f.Topics = append(f.Topics, tf)
	}
	if n, ok := w.layer.(model.Nearer); ok {
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
