package measure

// Distribution counts durations that are measured beside the operations of a plan: as
// precisely as those, and for as long as a run takes many of them. Where a histogram
// takes 270 KB, one at rest takes ten bytes for each bucket that it uses. The zero value
// is empty and at rest. One goroutine at a time may use it.
type Distribution struct {
	live *hist // nil at rest
	rest packed
	sum  Summary // of rest
}

// Record counts a duration in nanoseconds. A negative one counts as 0, one of more than
// an hour as an hour.
func (d *Distribution) Record(ns int64) {
	if d.live == nil {
		d.live = newHist()
		d.rest.into(d.live)
		d.rest = packed{}
	}
	d.live.record(ns, 1)
}

// Rest makes d small. A value that comes late has it grow again.
func (d *Distribution) Rest() {
	if d.live != nil {
		d.rest, d.sum, d.live = d.live.pack(), d.live.summary(), nil
	}
}

// Summary digests what was counted so far.
func (d *Distribution) Summary() Summary {
	if d.live == nil {
		return d.sum
	}
	return d.live.summary()
}
