package run

import (
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// Bind puts the run to work on a plan that is being connected.
func (r *Run) Bind(p *workload.Bound) {
	t := &p.Phases[0].Tracks[0]
	if r.spec.Load == LoadOnly {
		t.NewTask = r.loader.newTask
	} else {
		t.NewTask = r.NewTask
	}
	prepared := &preparation{r: r}
	r.payloadChanged = prepared.payloadChanged
	p.Claims, p.Parts = r.layer.Spaces, workload.Parts{prepared, &verification{r: r, prepared: prepared, shared: p.Shared, plan: p.Plan}, r}
	r.share(p)
}

// Fits says what of a workload a store cannot do; nil if it can do all of it.
func Fits(w *model.Workload, l *model.Adapter) error {
	var errs []error
	for i := range w.Operations {
		o := &w.Operations[i]
		for j := range o.Steps {
			st := &o.Steps[j]
			if st.Do == model.Think {
				continue
			}
			var d *model.Data
			if at := w.Index(st.Data); at >= 0 {
				d = &w.Data[at]
			}
			if err := l.Lacks(o, st, d); err != nil {
				errs = append(errs, fault.Input(fmt.Errorf("operation %s: %w", o.Name, err), fault.HintOf(err)))
			}
		}
	}
	return errors.Join(errs...)
}

// Status says which part of the gets has found something.
func (r *Run) Status() string {
	t := r.tallies.sums()
	if t.hits+t.misses == 0 {
		return ""
	}
	return "hits " + units.PartOf(t.hits, t.hits+t.misses)
}

// Facts returns the record of what has been done so far.
func (r *Run) Facts(*measure.Result) any {
	t := r.tallies.sums()
	f := &Facts{
		Schema: 1, Workload: r.work.Name, Hits: t.hits, Misses: t.misses, Early: t.early, TriedAgain: t.again,
		BytesRead: t.bytesRead, BytesWritten: t.bytesWritten,
		Wrong: r.wrongs.Load(), Lost: r.losts.Load(), Stale: r.stales.Load() + r.allowed.Load(), ReadBack: r.read.Load(), Data: []Data{},
	}
	if t.hits+t.misses > 0 {
		ratio := float64(t.hits) / float64(t.hits+t.misses)
		f.HitRatio = &ratio
	}
	if r.histories != nil {
		f.Linearizable = r.histories.Found()
	}
	r.there.mu.Lock()
	defer r.there.mu.Unlock()
	for i, s := range r.sets {
		f.Data = append(f.Data, Data{Name: s.Name, Type: string(s.Type), Records: s.Records, Loaded: r.there.Loaded[i], Inserted: max(r.nexts(i)-r.there.Base[i], 0), Sizes: r.storedSizes(i)})
	}
	return f
}
