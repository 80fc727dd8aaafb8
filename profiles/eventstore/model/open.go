package model

import (
	"bytes"
	"fmt"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// Opener decodes rows into events. It belongs to one goroutine and is reused.
type Opener struct {
	Batch  wire.Batch
	raw    []byte
	links  []byte
	Traits Traits // of the layer
	// pending are events of which some parts have been read, by id.
	pending map[string]*fragments
}

// Events returns a row's events: none if it is a part and others are still missing.
func (r *Opener) Events(w *Record) ([]wire.Event, error) {
	r.Batch.Reset()
	r.raw = r.raw[:0]
	w, err := r.join(w)
	if w == nil {
		return nil, err
	}
	if r.raw, err = wire.Expand(w.Codec, r.raw, w.Body); err != nil {
		return nil, err
	}
	if w.Single && r.Traits.PlainSingle {
		r.Batch.Events = append(r.Batch.Events, wire.Event{ID: wire.EventID{ID: w.ID, Start: wire.StampOf(w.Start), Set: true}, End: wire.StampOf(w.End), Failed: !w.OK, Name: w.Name, Kind: w.Kind, Body: r.raw})
		return r.Batch.Events, nil
	}
	if err := r.Batch.ReadContent(r.raw); err != nil {
		return nil, err
	}
	if len(r.Batch.Events) != w.Count {
		return nil, fmt.Errorf("%w: %d events in place of %d", wire.ErrContent, len(r.Batch.Events), w.Count)
	}
	links := w.Links
	if len(links) > 0 && w.Codec != wire.None && !w.LinksRaw && !r.Traits.LinksRaw {
		if r.links, err = wire.Expand(w.Codec, r.links[:0], links); err != nil {
			return nil, err
		}
		links = r.links
	}
	return r.Batch.Events, r.Batch.ReadLinks(links)
}

// fragments are the parts of one event read so far.
type fragments struct {
	first Record
	parts [][]byte
	left  int
}

// join joins the parts of an event, in whatever order they come. It returns nil until
// all have come.
func (o *Opener) join(w *Record) (*Record, error) {
	number, of := PartOf(w.ID)
	if of == 0 && number == 0 {
		return w, nil
	}
	id := string(Trunk(w.ID))
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
	f.parts[number-1] = bytes.Clone(w.Body)
	if number == 1 {
		f.first = *w
		f.first.ID, f.first.Parent, f.first.Links = []byte(id), bytes.Clone(w.Parent), bytes.Clone(w.Links)
	}
	if f.left--; f.left > 0 {
		return nil, nil
	}
	delete(o.pending, id)
	f.first.Body = bytes.Join(f.parts, nil)
	return &f.first, nil
}
