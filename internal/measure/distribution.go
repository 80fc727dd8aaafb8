package measure

import (
	"bytes"
	"encoding/gob"
	"errors"
)

// Distribution counts durations that are measured beside the operations of a plan: as
// precisely as those, and for as long as a run takes many of them. Where a histogram
// takes 270 KB, one at rest takes ten bytes for each bucket that it uses. The zero value
// is empty and at rest. One goroutine at a time may use it.
type Distribution struct {
	live *hist // nil at rest
	rest packed
	sum  Summary // of rest, once it was asked for
}

// Record counts a duration in nanoseconds. A negative one counts as 0, one of more than
// an hour as an hour.
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

// Rest makes d small. A value that comes late has it grow again.
func (d *Distribution) Rest() {
	if d.live != nil {
		d.rest, d.sum, d.live = d.live.pack(), d.live.summary(), nil
	}
}

// Summary digests what was counted so far.
func (d *Distribution) Summary() Summary {
	if d.live != nil {
		return d.live.summary()
	}
	if d.sum.Count == 0 && len(d.rest.Index) > 0 { // it has come from elsewhere
		h := newHist()
		d.rest.into(h)
		d.sum = h.summary()
	}
	return d.sum
}

// Merge adds what another has counted.
func (d *Distribution) Merge(from *Distribution) {
	if h := d.wake(); from.live != nil {
		h.merge(from.live)
	} else {
		from.rest.into(h)
	}
}

// GobEncode writes what was counted.
func (d *Distribution) GobEncode() ([]byte, error) {
	p := d.rest
	if d.live != nil {
		p = d.live.pack()
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(p)
	return out.Bytes(), err
}

// GobDecode reads what GobEncode wrote.
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
