package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// there is what was there when the work began, by data set. All processes know it.
type there struct {
	mu sync.Mutex
	// Loaded is how many records are known to be there, Base how many there are to choose
	// from, Sums what all counters came to.
	Loaded, Base, Sums []int64
	// Open says that an earlier run has inserted records and has not said how many.
	Open []bool
}

// What is recorded of a data set, beside its shape: how many of its records are loaded, up to
// which number records were inserted (or that a run is about to), and whether records may be
// gone by now.
const (
	paramShape  = "shape"
	paramLoaded = "loaded"
	paramNext   = "next"
	paramOpen   = "open"
	paramGone   = "gone"
)

// shapeOf is what a data set must have in common with what an earlier run has loaded.
func shapeOf(d *model.Data) string {
	var fields []string
	for _, f := range d.Fields {
		fields = append(fields, f.Name)
	}
	return fmt.Sprintf("%s fields=%s key=%q/%d/%t zeros=%g", d.Type, strings.Join(fields, ","), d.Key.Prefix, d.Key.Length, d.Key.Hashed, d.Compressible)
}

// uses reports whether a step of the workload on a data set is any of some verbs.
func (r *Run) uses(s *set, verbs ...model.Verb) bool {
	return slices.ContainsFunc(r.work.Operations, func(o model.Operation) bool {
		return slices.ContainsFunc(o.Steps, func(st model.Step) bool { return st.Data == s.Name && slices.Contains(verbs, st.Do) })
	})
}

// goes reports whether records of a data set may be gone after the run.
func (r *Run) goes(s *set) bool { return s.absent || s.Cached || r.uses(s, model.Delete) }

// Admit looks at what earlier runs have left, and says what is to be recorded.
func (r *Run) Admit(ctx context.Context, c *ownership.Claim) error {
	r.claim = c
	if r.layer.Tables != nil {
		if err := r.layer.Tables.Check(ctx, c); err != nil {
			return err
		}
	}
	r.there.mu.Lock()
	defer r.there.mu.Unlock()
	for i, s := range r.sets {
		if i >= len(r.layer.Spaces) {
			break
		}
		spot := c.Spot(r.layer.Spaces[i].Space)
		if err := r.earlier(i, s, spot); err != nil {
			return err
		}
	}
	return r.record(ctx)
}

// earlier takes over what an earlier run has left of a data set.
func (r *Run) earlier(i int, s *set, spot ownership.Spot) error {
	r.there.Loaded[i], r.there.Base[i], r.there.Open[i] = 0, s.Records, false
	old := spot.Earlier.Params
	if !spot.Recorded || spot.State == ownership.Fresh {
		return nil
	}
	if old[paramShape] != shapeOf(s.Data) {
		return fault.Input(fmt.Errorf("%s exists in another form: an earlier run made it as %s, and this one is %s", s.Name, old[paramShape], shapeOf(s.Data)),
			fmt.Sprintf("delete it with  %s,  or use another --namespace", ownership.DeleteCommand(spot.Space.Namespace)))
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(old[name], 10, 64) // of ours, or not there
		return max(n, 0)
	}
	if old[paramGone] == "" {
		r.there.Loaded[i] = min(number(paramLoaded), s.Records)
	}
	if r.uses(s, model.Insert) {
		r.there.Base[i] = max(s.Records, number(paramNext), number(paramLoaded))
		r.there.Open[i] = old[paramOpen] != ""
	}
	return nil
}

// record says what is there, for later runs.
func (r *Run) record(ctx context.Context) error {
	if r.claim == nil {
		return nil
	}
	for i, s := range r.sets {
		if i >= len(r.layer.Spaces) {
			break
		}
		params := map[string]string{paramShape: shapeOf(s.Data), paramLoaded: strconv.FormatInt(r.there.Loaded[i], 10)}
		if r.uses(s, model.Insert) {
			params[paramNext], params[paramOpen] = strconv.FormatInt(max(r.there.Base[i], r.nexts(i)), 10), "yes"
			if r.ended {
				delete(params, paramOpen)
			}
		}
		if r.goes(s) {
			params[paramGone] = "yes"
		}
		if err := r.claim.Update(ctx, r.layer.Spaces[i].Space, maps.Clone(params)); err != nil {
			return err
		}
	}
	return nil
}

// Setup makes tables, and loads what is missing.
func (r *Run) Setup(ctx context.Context, progress func(done, total int64)) error {
	if r.layer.Tables != nil {
		if err := r.layer.Tables.Create(ctx); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	r.there.mu.Lock()
	defer r.there.mu.Unlock()
	r.loader.begin(r.there.Loaded)
	payload := r.spec.Payload
	if r.spec.Load == LoadAuto && !r.forgets {
		if err := r.loader.run(ctx, r.spec.LoadThreads, payload, progress); err != nil {
			return err
		}
		for i, s := range r.sets {
			if s.loads() {
				r.there.Loaded[i] = s.Records
			}
		}
		if err := r.record(ctx); err != nil {
			return err
		}
	}
	if err := r.recall(ctx); err != nil {
		return err
	}
	r.start()
	return nil
}

// start takes over what is there, before the work begins.
func (r *Run) start() {
	for i, s := range r.sets {
		s.base, s.loaded = r.there.Base[i], r.there.Loaded[i]
	}
	r.begin()
}

// Join begins the work of a process that others have prepared.
func (r *Run) Join(context.Context) error {
	r.there.mu.Lock()
	defer r.there.mu.Unlock()
	r.loader.begin(r.there.Loaded)
	r.start()
	return nil
}

// Succeed goes on in the place of another process.
func (r *Run) Succeed(ctx context.Context, _ workload.Predecessor) error { return r.Join(ctx) }

// recall finds out what the store has to say of what was there before: how far inserts of a
// run came that did not end, and what counters come to.
func (r *Run) recall(ctx context.Context) error {
	for i, s := range r.sets {
		if r.there.Open[i] {
			end, err := r.reach(ctx, s, r.there.Base[i])
			if err != nil {
				return err
			}
			r.there.Base[i] = end
		}
		if s.Type != model.Counter || !r.uses(s, model.Add) || r.forgets || s.Records > mostCounters {
			continue
		}
		sum, err := r.sum(ctx, s, s.Records)
		if err != nil {
			return fault.Code(err, fault.CodeStore)
		}
		r.there.Sums[i] = sum
	}
	return nil
}

// mostGap is how many records in a row may be missing among those that were inserted: as
// many as may have been under way, in any process.
const mostGap = 4096

// reach returns the number behind the last record that is there, from one on.
func (r *Run) reach(ctx context.Context, s *set, from int64) (int64, error) {
	client, err := r.layer.Open()
	if err != nil {
		return 0, err
	}
	defer client.Close()
	c := &model.Call{Do: model.Get, Set: s.at}
	end := from
	for at := from; at < end+mostGap; at += loadRows {
		c.Rows = room(c.Rows, loadRows)
		for i := range c.Rows {
			c.Rows[i].Key, c.Rows[i].Found = s.Key.Append(c.Rows[i].Key[:0], at+int64(i)), false
		}
		if err := client.Do(ctx, c); err != nil {
			return 0, fault.Code(fmt.Errorf("look how far %s goes: %w", s.Name, err), fault.CodeStore)
		}
		for i := range c.Rows {
			if c.Rows[i].Found {
				end = at + int64(i) + 1
			}
		}
	}
	return end, nil
}
