package eventstore

import (
	"bytes"
	"fmt"
	"strconv"
)

// A single event whose content is over the limit even when compressed is kept in
// several rows: their ids are that of the event with the number of the part, padded
// so that they sort, and how many parts there are: ID~0001.0003. The first part
// counts the event.

// partMark stands between an id and the number of a part.
const partMark = '~'

// trunk is an id without the number of a part.
func trunk(id []byte) []byte {
	if at := bytes.IndexByte(id, partMark); at >= 0 {
		return id[:at]
	}
	return id
}

// partOf reads the number of a part from 1 and how many there are; 0 when the row is
// whole.
func partOf(id []byte) (number, of int) {
	at := bytes.IndexByte(id, partMark)
	if at < 0 {
		return 0, 0
	}
	a, b, _ := bytes.Cut(id[at+1:], []byte("."))
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
			p.id, p.parent = append(id[:0], trunk(r.id)...), append(parent[:0], r.parent...)
			p.links, p.name, p.kind = links[:0], nil, nil
			p.body = append(whole[:0], body[i*limit:min((i+1)*limit, len(body))]...)
			p.count, p.rawLinks, p.size, p.raw = 0, 0, 0, 0
		}
		p.id = fmt.Appendf(p.id, "%c%04d.%04d", partMark, i+1, of)
		out[i] = p
	}
	r.body = body[:limit]
	return out
}

// join puts the parts of an event together. It returns nil until the last has come.
func (o *opener) join(w *row) (*row, error) {
	number, of := partOf(w.id)
	if of == 0 {
		return w, nil
	}
	if number == 1 {
		first := *w
		first.id, first.parent = bytes.Clone(trunk(w.id)), bytes.Clone(w.parent)
		first.links = bytes.Clone(w.links)
		first.body = append(make([]byte, 0, of*len(w.body)), w.body...)
		o.whole, o.parts = &first, 1
		return nil, nil
	}
	if o.whole == nil || number != o.parts+1 || !bytes.Equal(trunk(w.id), o.whole.id) {
		return nil, fmt.Errorf("%w: part %d of %s does not follow", errContent, number, trunk(w.id))
	}
	o.whole.body, o.parts = append(o.whole.body, w.body...), number
	if number < of {
		return nil, nil
	}
	whole := o.whole
	o.whole = nil
	return whole, nil
}
