package eventstore

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// A single event whose content is over the limit even when compressed is kept in
// several rows: their ids are that of the event with the number of the part, padded
// so that they sort, and how many parts there are: ID~0001.0003. The first part
// counts the event.

// partMark stands between an id and the number of a part.
const partMark = '~'

// trunk is an id without the number of a part.
func trunk(id []byte) []byte {
	if before, _, ok := bytes.Cut(id, []byte{partMark}); ok {
		return before
	}
	return id
}

// partOf reads the number of a part from 1 and how many there are; 0 when the row is
// whole.
func partOf(id []byte) (number, of int) {
	_, after, ok := bytes.Cut(id, []byte{partMark})
	if !ok {
		return 0, 0
	}
	a, b, _ := bytes.Cut(after, []byte("."))
	number, _ = strconv.Atoi(string(a)) // 0 fits no part
	of, _ = strconv.Atoi(string(b))
	return number, of
}

// divide makes of a record as many as its body takes under the limit; r becomes the
// first.
func (r *record) divide(limit int) []*record {
	body := r.body
	of := (len(body) + limit - 1) / limit
	if of < 2 {
		return []*record{r}
	}
	out := make([]*record, of)
	for i := range out {
		p := r
		if i > 0 {
			p = newRecord()
			id, parent, links, whole := p.id, p.parent, p.links, p.body
			*p = *r
			p.id = append(id[:0], trunk(r.id)...)      //nolint:gocritic // into its own buffer again
			p.parent = append(parent[:0], r.parent...) //nolint:gocritic // as above
			p.links, p.name, p.kind = links[:0], nil, nil
			p.body = append(whole[:0], body[i*limit:min((i+1)*limit, len(body))]...) //nolint:gocritic // as above
			p.count, p.failed, p.rawLinks, p.size, p.raw = 0, 0, 0, 0, 0
		}
		p.id = fmt.Appendf(p.id, "%c%04d.%04d", partMark, i+1, of)
		out[i] = p
	}
	r.body = body[:limit]
	return out
}

// fragments are the parts of one event that have come so far.
type fragments struct {
	first row
	parts [][]byte
	left  int
}

// join puts the parts of an event together, in whatever order they come. It returns
// nil until all have come.
func (o *opener) join(w *row) (*row, error) {
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
