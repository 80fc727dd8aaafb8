package remote

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// What a report may take, in bytes that are no longer compressed: all of it, one operation's
// figures, and everything but those and what the profile tells. Some of its lists take thirty
// times the memory of their bytes, so the parts are read one by one.
const (
	mostUnpacked = 8 * MaxMessage
	mostOfRow    = 4 << 20
	mostBeside   = 4 << 20
)

// mostRows is how many operations, each under the settings of each segment, a second has.
const mostRows = 1 << 16

// sheet is a report as it is sent; the ledger and that many rows follow it.
type sheet struct {
	Report Report
	Rows   int
}

// writers are kept, as each takes a megabyte.
var writers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // a level that there is
	return w
}}

// pack writes a report as it is sent. Buckets are small numbers in a row, so that even the
// fastest compression is worth it.
func (r *Report) pack() *bytes.Buffer {
	b := &bytes.Buffer{}
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(b)
	s := sheet{Report: *r}
	s.Report.Ledger = nil
	var rows []measure.IncrementRow
	if r.Part != nil {
		part := *r.Part
		rows, part.Rows, s.Report.Part = part.Rows, nil, &part
	}
	s.Rows = len(rows)
	enc := gob.NewEncoder(w)
	err := errors.Join(enc.Encode(s), enc.Encode(r.Ledger))
	for i := range rows {
		err = errors.Join(err, enc.Encode(&rows[i]))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // plain data of ours, to memory
	}
	return b
}

// unpack reads what pack wrote. The error says what is wrong with it.
func (r *Report) unpack(data []byte) error {
	in := &portion{r: bufio.NewReader(flate.NewReader(bytes.NewReader(data))), all: mostUnpacked}
	dec := gob.NewDecoder(in)
	next := func(most int, into any) error {
		in.left = most
		if err := dec.Decode(into); err != nil {
			return fmt.Errorf("it is no report: %w", err)
		}
		return nil
	}
	var s sheet
	if err := next(mostBeside, &s); err != nil {
		return err
	}
	if s.Rows < 0 || s.Rows > mostRows || s.Rows > 0 && s.Report.Part == nil {
		return errors.New("it has figures of " + strconv.Itoa(s.Rows) + " operations")
	}
	*r = s.Report
	if err := next(mostUnpacked, &r.Ledger); err != nil {
		return err
	}
	if r.Part != nil {
		r.Part.Rows = nil // they come one by one
	}
	for range s.Rows {
		var row measure.IncrementRow
		if err := next(mostOfRow, &row); err != nil {
			return err
		}
		r.Part.Rows = append(r.Part.Rows, row)
	}
	if r.Part != nil {
		r.Part.Rows = slices.Clip(r.Part.Rows)
	}
	return nil
}

// portion lets so many bytes through, of one thing and of all.
type portion struct {
	r         *bufio.Reader
	left, all int
}

// take says how many of n bytes may be read.
func (p *portion) take(n int) (int, error) {
	most := min(p.left, p.all)
	if most <= 0 {
		return 0, fmt.Errorf("it takes more than %s", units.Size(min(mostUnpacked, mostOfRow)))
	}
	return min(n, most), nil
}

func (p *portion) Read(b []byte) (int, error) {
	n, err := p.take(len(b))
	if err != nil {
		return 0, err
	}
	n, err = p.r.Read(b[:n])
	p.left, p.all = p.left-n, p.all-n
	return n, err
}

// ReadByte keeps gob from reading ahead of what it decodes.
func (p *portion) ReadByte() (byte, error) {
	if _, err := p.take(1); err != nil {
		return 0, err
	}
	b, err := p.r.ReadByte()
	if err == nil {
		p.left, p.all = p.left-1, p.all-1
	}
	return b, err
}

var _ io.ByteReader = (*portion)(nil)
