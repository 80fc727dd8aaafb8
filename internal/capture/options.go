package capture

import (
	"errors"
	"hash/maphash"
)

// Options say how calls are recorded.
type Options struct {
	// Values keeps the data of calls, not only their sizes.
	Values bool
	// Sample keeps one connection of so many, each whole; 0 and 1 keep all.
	Sample int
	// Disguise replaces keys and data; nil leaves them as they are.
	Disguise *Disguise
	// Max is how many bytes the file has at most; 0: any number.
	Max int64
}

// Header completes a header by what the options say.
func (o *Options) Header(h Header) Header {
	h.Values, h.Anonymised = o.Values, o.Disguise != nil
	if o.Sample > 1 {
		h.Sample = o.Sample
	}
	return h
}

// Names returns what tells which texts are the same where they are not kept.
func (o *Options) Names() *Disguise {
	if o.Disguise != nil {
		return o.Disguise
	}
	return NewDisguise(NewKey(), "") // which nobody keeps
}

// LeftSample is why a call is not recorded whose connection is not in the sample.
const LeftSample = "not in the sample"

// maxConnections is how many connections are told apart at a time.
const maxConnections = 1 << 20

// Connections numbers the connections of a recording in the order of their first call, and leaves
// out those that are not in the sample. It belongs to one goroutine.
type Connections struct {
	w      *Writer
	sample uint64
	seed   maphash.Seed
	conns  map[string]int64
}

// NewConnections returns the connections of a recording, one of so many.
func NewConnections(w *Writer, sample int) *Connections {
	return &Connections{w: w, sample: uint64(max(sample, 1)), seed: maphash.MakeSeed(), conns: map[string]int64{}}
}

// Number returns the number of a connection; 0: it is not in the sample, and the call is counted
// as left out.
func (c *Connections) Number(id []byte) int64 {
	if n, ok := c.conns[string(id)]; ok {
		return n
	}
	if c.sample > 1 && maphash.Bytes(c.seed, id)%c.sample != 0 {
		c.w.Leave(LeftSample, 1)
		return 0
	}
	if len(c.conns) >= maxConnections {
		clear(c.conns) // most are closed by now
	}
	c.w.Tally.Connections++
	c.conns[string(id)] = c.w.Tally.Connections
	return c.w.Tally.Connections
}

// End closes the file, after what may have gone wrong: a file that is full has ended as it
// should, and any other error leaves none behind.
func (w *Writer) End(ended string, err error) error {
	if errors.Is(err, ErrFull) {
		ended, err = "it has as many bytes as it may", nil
	}
	if err != nil {
		return errors.Join(err, w.Discard())
	}
	return w.Close(ended)
}
