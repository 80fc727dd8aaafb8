package measure

import (
	"bytes"
	"encoding/gob"
	"errors"
)

// Distribution counts durations measured beside the operations of a plan, with
// the same precision. It is made for runs that need many of them: a histogram
// takes 270 KB, but a Distribution at rest only ten bytes for each bucket in use.
// The zero value is empty and at rest. One goroutine at a time may use it.
type Distribution struct {
	live *hist // nil at rest
	rest packed
	sum  Summary // of rest, once it was requested
}

// Record counts a duration in nanoseconds. Negative durations count as 0, those
// over an hour as an hour.
func (d *Distribution) Record(ns int64) {
	d.wake().record(ns, 1)
}

// wake makes d ready to grow.
func (d *Distribution) wake() *hist {
	if d.live == nil {
		d.live = newHist()
		d.rest.into(d.live)
		d.rest, d.sum = packed{}, Summary{}
	}
	return d.live
}

// Rest makes d small. Recording another value makes it grow again.
func (d *Distribution) Rest() {
	if d.live != nil {
		d.rest, d.sum, d.live = d.live.pack(), d.live.summary(), nil
	}
}

// Summary summarizes what has been counted so far.
func (d *Distribution) Summary() Summary {
	if d.live != nil {
		return d.live.summary()
	}
	if d.sum.Count == 0 && len(d.rest.Index) > 0 { // it was received from another process
		h := newHist()
		d.rest.into(h)
		d.sum = h.summary()
	}
	return d.sum
}

// Merge adds the counts of another distribution.
func (d *Distribution) Merge(from *Distribution) {
	if h := d.wake(); from.live != nil {
		h.merge(from.live)
	} else {
		from.rest.into(h)
	}
}

// Copy returns a copy, at rest.
func (d *Distribution) Copy() *Distribution {
	if d.live != nil {
		return &Distribution{rest: d.live.pack()}
	}
	return &Distribution{rest: d.rest, sum: d.sum} // what is at rest is never changed
}

// GobEncode encodes the counts.
func (d *Distribution) GobEncode() ([]byte, error) {
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(d.Copy().rest)
	return out.Bytes(), err
}

// GobDecode decodes the output of GobEncode.
func (d *Distribution) GobDecode(data []byte) error {
	var p packed
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&p); err != nil {
		return err
	}
	if !p.sound() {
		return errors.New("figures that are not a histogram")
	}
	*d = Distribution{rest: p}
	return nil
}
