package run

import (
	"context"
	"fmt"
	"maps"
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
	// resizes says that what an earlier run has left is of other sizes, and is to be deleted and
	// loaded again. Only the process that prepares the run knows.
	resizes []bool
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
	return r.work.Does(s.Data, verbs...)
}

// preparation is what happens to the store before the work: what is there is found out, taken over
// or loaded, and recorded for later runs.
type preparation struct {
	r     *Run
	claim *ownership.Claim // nil where nothing is kept
	ended bool             // no process inserts any more
}

// goes reports whether records of a data set may be gone after the run.
func (p *preparation) goes(s *set) bool { return s.absent || s.Cached || p.r.uses(s, model.Delete) }

// Admit looks at what earlier runs have left, and says what is to be recorded.
func (p *preparation) Admit(ctx context.Context, c *ownership.Claim) error {
	p.claim = c
	if p.r.layer.Tables != nil {
		if err := p.r.layer.Tables.Check(ctx, c); err != nil {
			return err
		}
	}
	p.r.there.mu.Lock()
	defer p.r.there.mu.Unlock()
	for i, s := range p.r.sets {
		if i >= len(p.r.layer.Spaces) {
			break
		}
		spot := c.Spot(p.r.layer.Spaces[i].Space)
		if err := p.earlier(i, s, spot); err != nil {
			return err
		}
	}
	return p.record(ctx)
}

// earlier takes over what an earlier run has left of a data set.
func (p *preparation) earlier(i int, s *set, spot ownership.Spot) error {
	p.r.there.Loaded[i], p.r.there.Base[i], p.r.there.Open[i], p.r.there.resizes[i] = 0, s.Records, false, false
	old := spot.Earlier.Params
	if !spot.Recorded || spot.State == ownership.Fresh {
		return nil
	}
	if old[paramShape] != shapeOf(s.Data) {
		return fault.Input(fmt.Errorf("%s exists in another form: an earlier run made it as %s, and this one is %s", s.Name, old[paramShape], shapeOf(s.Data)),
			fmt.Sprintf("delete it with  %s,  or use another --namespace", ownership.DeleteCommand(spot.Space.Namespace)))
	}
	if _, is := p.claim.Resized(spot.Space.Space, p.sizes(s)); is {
		p.r.there.resizes[i] = true
		switch {
		case spot.State == ownership.Shared:
			return p.claim.RefuseSize(spot.Space.Space, p.sizes(s), ownership.ErrShared.Error())
		case p.r.spec.Load == LoadSkip:
			return p.claim.RefuseSize(spot.Space.Space, p.sizes(s), "load=skip loads nothing")
		}
		return nil
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(old[name], 10, 64) // of ours, or not there
		return max(n, 0)
	}
	if old[paramGone] == "" {
		p.r.there.Loaded[i] = min(number(paramLoaded), s.Records)
	}
	if p.r.uses(s, model.Insert) {
		p.r.there.Base[i] = max(s.Records, number(paramNext), number(paramLoaded))
		p.r.there.Open[i] = old[paramOpen] != ""
	}
	return nil
}

// sizes are how large the records of a data set are by what the run was asked for.
func (p *preparation) sizes(s *set) ownership.Sizes {
	return p.r.work.Sizes(s.Data, p.r.spec.Payload)
}

// stored are how large those are that are stored: beside those asked for, what is still there of an
// earlier run, and what was written after somebody had changed the payload.
func (p *preparation) stored(i int, s *set) ownership.Sizes {
	sizes := p.r.storedSizes(i)
	if p.r.there.resizes[i] {
		was, _ := p.claim.Resized(p.r.layer.Spaces[i].Space, p.sizes(s))
		sizes = sizes.With(was...)
	}
	return sizes
}

// storedSizes are how large the values of a data set are that this run stores.
func (r *Run) storedSizes(i int) ownership.Sizes {
	d := r.sets[i].Data
	sizes := ownership.Sizes(r.work.Sizes(d, r.spec.Payload))
	writes := r.spec.Load == LoadOnly
	for range r.work.Writers(d) {
		writes = true
		break
	}
	if !writes {
		return sizes
	}
	for _, n := range r.payloads.All() {
		sizes = sizes.With(r.work.Sizes(d, n)...)
	}
	return sizes
}

// payloadChanged writes down that values of another size are among those stored from now on.
func (p *preparation) payloadChanged() {
	if p.claim == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), ownership.TTL)
	defer cancel()
	p.r.there.mu.Lock()
	defer p.r.there.mu.Unlock()
	_ = p.record(ctx) // the end of the run says it again
}

// record says what is there, for later runs.
func (p *preparation) record(ctx context.Context) error {
	if p.claim == nil {
		return nil
	}
	for i, s := range p.r.sets {
		if i >= len(p.r.layer.Spaces) {
			break
		}
		params := map[string]string{paramShape: shapeOf(s.Data), paramLoaded: strconv.FormatInt(p.r.there.Loaded[i], 10)}
		if p.r.uses(s, model.Insert) {
			params[paramNext], params[paramOpen] = strconv.FormatInt(max(p.r.there.Base[i], p.r.nexts(i)), 10), "yes"
			if p.ended {
				delete(params, paramOpen)
			}
		}
		if p.goes(s) {
			params[paramGone] = "yes"
		}
		p.stored(i, s).In(params)
		if err := p.claim.Update(ctx, p.r.layer.Spaces[i].Space, maps.Clone(params)); err != nil {
			return err
		}
	}
	return nil
}

// resize deletes what is stored with other sizes than the run was asked for.
func (p *preparation) resize(ctx context.Context) error {
	var all []ownership.Resizing
	for i, s := range p.r.sets {
		if p.r.there.resizes[i] {
			all = append(all, ownership.Resizing{Space: p.r.layer.Spaces[i].Space, Asked: p.sizes(s)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := p.claim.Resize(ctx, all); err != nil {
		return err
	}
	clear(p.r.there.resizes)
	return p.record(ctx)
}

// Setup makes tables, and loads what is missing.
func (p *preparation) Setup(ctx context.Context, progress func(done, total int64)) error {
	p.r.there.mu.Lock()
	defer p.r.there.mu.Unlock()
	if err := p.resize(ctx); err != nil {
		return err
	}
	if p.r.layer.Tables != nil {
		if err := p.r.layer.Tables.Create(ctx); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	p.r.loader.begin(p.r.there.Loaded)
	payload := p.r.spec.Payload
	if p.r.spec.Load == LoadAuto && !p.r.forgets {
		if err := p.r.loader.run(ctx, p.r.spec.LoadThreads, payload, progress); err != nil {
			return err
		}
		for i, s := range p.r.sets {
			if s.loads() {
				p.r.there.Loaded[i] = s.Records
			}
		}
		if err := p.record(ctx); err != nil {
			return err
		}
	}
	if err := p.recall(ctx); err != nil {
		return err
	}
	p.start()
	return nil
}

// loadedAll notes that everything has been loaded, if it has.
func (p *preparation) loadedAll() {
	if p.r.loader.done.Load() < p.r.loader.all {
		return
	}
	p.r.there.mu.Lock()
	defer p.r.there.mu.Unlock()
	for i, s := range p.r.sets {
		if s.loads() {
			p.r.there.Loaded[i] = s.Records
		}
	}
}

// start takes over what is there, before the work begins.
func (p *preparation) start() {
	for i, s := range p.r.sets {
		s.base, s.loaded = p.r.there.Base[i], p.r.there.Loaded[i]
	}
	p.r.begin()
}

// Join begins the work of a process that others have prepared.
func (p *preparation) Join(context.Context) error {
	p.r.there.mu.Lock()
	defer p.r.there.mu.Unlock()
	p.r.loader.begin(p.r.there.Loaded)
	p.start()
	return nil
}

// Succeed goes on in the place of another process.
func (p *preparation) Succeed(ctx context.Context, _ workload.Predecessor) error {
	p.r.there.mu.Lock()
	clear(p.r.there.resizes) // that process has done it
	p.r.there.mu.Unlock()
	return p.Join(ctx)
}

// recall finds out what the store has to say of what was there before: how far inserts of a
// run came that did not end, and what counters come to.
func (p *preparation) recall(ctx context.Context) error {
	for i, s := range p.r.sets {
		if p.r.there.Open[i] {
			end, err := reach(ctx, p.r.layer, s, p.r.there.Base[i])
			if err != nil {
				return err
			}
			p.r.there.Base[i] = end
		}
		if s.Type != model.Counter || !p.r.uses(s, model.Add) || p.r.forgets || s.Records > mostCounters {
			continue
		}
		sum, _, err := sum(ctx, p.r.layer, s, s.Records)
		if err != nil {
			return fault.Code(err, fault.CodeStore)
		}
		p.r.there.Sums[i] = sum
	}
	return nil
}

// mostGap is how many records in a row may be missing among those that were inserted: as
// many as may have been under way, in any process.
const mostGap = 4096

// reach returns the number behind the last record that is there, from one on.
func reach(ctx context.Context, a *model.Adapter, s *set, from int64) (int64, error) {
	client, err := a.Open()
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
