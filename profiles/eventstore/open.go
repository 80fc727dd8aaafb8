package eventstore

import (
	"bytes"
	"fmt"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// opener turns rows into events. It belongs to one goroutine and is reused.
type opener struct {
	b      wire.Batch
	raw    []byte
	links  []byte
	traits traits // of the layer
	// pending are events of which some parts have come, by their ids.
	pending map[string]*fragments
}

// events reads a row's events: none when it is a part and more have to come.
func (r *opener) events(w *record) ([]wire.Event, error) {
	r.b.Reset()
	r.raw = r.raw[:0]
	w, err := r.join(w)
	if w == nil {
		return nil, err
	}
	if r.raw, err = wire.Expand(w.codec, r.raw, w.body); err != nil {
		return nil, err
	}
	if w.single && r.traits.plainSingle {
		r.b.Events = append(r.b.Events, wire.Event{ID: wire.EventID{ID: w.id, Start: wire.StampOf(w.start), Set: true}, End: wire.StampOf(w.end), Failed: !w.ok, Name: w.name, Kind: w.kind, Body: r.raw})
		return r.b.Events, nil
	}
	if err := r.b.ReadContent(r.raw); err != nil {
		return nil, err
	}
	if len(r.b.Events) != w.count {
		return nil, fmt.Errorf("%w: %d events in place of %d", wire.ErrContent, len(r.b.Events), w.count)
	}
	links := w.links
	if len(links) > 0 && w.codec != wire.None && !w.linksRaw && !r.traits.linksRaw {
		if r.links, err = wire.Expand(w.codec, r.links[:0], links); err != nil {
			return nil, err
		}
		links = r.links
	}
	return r.b.Events, r.b.ReadLinks(links)
}

// fragments are the parts of one event that have come so far.
type fragments struct {
	first record
	parts [][]byte
	left  int
}

// join puts the parts of an event together, in whatever order they come. It returns
// nil until all have come.
func (o *opener) join(w *record) (*record, error) {
	number, of := partOf(w.id)
	if of == 0 && number == 0 {
		return w, nil
	}
	id := string(trunk(w.id))
	f := o.pending[id]
	if f == nil {
		if o.pending == nil {
			o.pending = map[string]*fragments{}
		}
		f = &fragments{parts: make([][]byte, max(of, 1)), left: max(of, 1)}
		o.pending[id] = f
	}
	if number < 1 || number > len(f.parts) || of != len(f.parts) || f.parts[number-1] != nil {
		return nil, fmt.Errorf("%w: part %d of %d of %s", wire.ErrContent, number, of, id)
	}
	f.parts[number-1] = bytes.Clone(w.body)
	if number == 1 {
		f.first = *w
		f.first.id, f.first.parent, f.first.links = []byte(id), bytes.Clone(w.parent), bytes.Clone(w.links)
	}
	if f.left--; f.left > 0 {
		return nil, nil
	}
	delete(o.pending, id)
	f.first.body = bytes.Join(f.parts, nil)
	return &f.first, nil
}
