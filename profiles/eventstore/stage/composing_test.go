//go:build unix

package stage

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/eventstoretest"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// BenchmarkPath is the way of an event from being made to being compressed, on one
// goroutine: generated, encoded as protobuf, encoded as content with its links, and
// compressed. The documented event, 300 or 400 in a batch.
func BenchmarkPath(b *testing.B) {
	benchPath(b, (*path).whole)
}

// BenchmarkPathValidated is the same with what the store stage does besides, because
// batches come to it as bytes from somebody else: it decodes them and checks every rule.
func BenchmarkPathValidated(b *testing.B) {
	benchPath(b, func(p *path, at int64, n int) []piece { return p.validated(b, at, n) })
}

// path is what a batch goes through in the benchmarks.
type path struct {
	g    *generate.Generator
	c    *composer
	e    *transport.Envelope
	j    *job
	born int64
}

func newPath(t testing.TB, n int) *path {
	c, err := newComposer(&Stage{Options: limited()})
	require.NoError(t, err)
	return &path{eventstoretest.Some(t, generate.Documented(), n, generate.DocumentedBody), c, transport.NewEnvelope(), &job{}, generate.Documented().Born}
}

// whole makes a batch at a time, and lets the store stage take it as it is.
func (p *path) whole(at int64, n int) []piece {
	first := p.g.Fill(wire.StampOf(at), n, generate.DocumentedBody)
	p.e.Body = p.g.Encode(p.e.Body[:0])
	p.e.Seal(p.g.Number, first, n)
	p.c.b = p.g.Batch
	p.c.pieces = append(p.c.pieces[:0], piece{to: len(p.g.Batch.Events)})
	return p.c.pieces
}

// validated makes one as a run does, and lets the store stage decode and check it, as it
// does with one from a transport.
func (p *path) validated(t testing.TB, at int64, n int) []piece {
	var first int64
	p.e.Body, first, n = p.g.Make(p.e.Body[:0], wire.StampOf(at), n, generate.DocumentedBody)
	p.e.Seal(p.g.Number, first, n)
	require.NoError(t, p.c.b.Decode(p.e.Body))
	inner, err := p.c.valid.check(&p.c.b, at)
	require.NoError(t, err)
	p.c.pieces = cut(p.c.pieces, &p.c.b, inner, p.c.st.Options.BatchLimit)
	return p.c.pieces
}

// pass composes the pieces of a batch, and returns the size of its content,
// uncompressed and compressed.
func (p *path) pass(pieces []piece) (raw, small int, err error) {
	for _, pc := range pieces {
		r, err := p.c.item(p.j, pc, p.c.b.Events[pc.from:pc.to])
		if err != nil {
			return 0, 0, err
		}
		raw, small = raw+r.Raw, small+len(r.Body)
		r.release()
	}
	return raw, small, nil
}

func benchPath(b *testing.B, made func(*path, int64, int) []piece) {
	for _, n := range []int{300, 400} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			p := newPath(b, n)
			born := p.born
			for i := range 10 { // buffers grow, pools fill
				_, _, err := p.pass(made(p, born+int64(i), n))
				require.NoError(b, err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			began, events, raw, small := eventstoretest.CPUTime(), 0, 0, 0
			for b.Loop() {
				r, s, err := p.pass(made(p, born+int64(events), n))
				require.NoError(b, err)
				raw, small, events = raw+r, small+s, events+n
			}
			b.ReportMetric(float64(eventstoretest.CPUTime()-began)/float64(events), "cpu-ns/event")
			b.ReportMetric(float64(raw)/float64(small), "lz4-ratio")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}

// BenchmarkSteps is what each part of PathValidated costs by itself, with everything in
// the caches.
func BenchmarkSteps(b *testing.B) {
	const n = 300
	p := newPath(b, n)
	at := p.born
	es := p.validated(b, at, n)[0]
	r := newItem()
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"make", func() error {
			p.e.Body, _, _ = p.g.Make(p.e.Body[:0], wire.StampOf(at), n, generate.DocumentedBody)
			return nil
		}},
		{"decode", func() error { return p.c.b.Decode(p.e.Body) }},
		{"check", func() error {
			inner, err := p.c.valid.check(&p.c.b, at)
			p.c.pieces = cut(p.c.pieces, &p.c.b, inner, p.c.st.Options.BatchLimit)
			return err
		}},
		{"encode", func() error {
			events := p.c.b.Events[es.from:es.to]
			p.c.raw = wire.AppendContent(p.c.raw[:0], events)
			p.c.rawL = p.c.link.AppendLinks(p.c.rawL[:0], &p.c.b, events)
			r.Raw, r.rawLinks = len(p.c.raw), len(p.c.rawL)
			return nil
		}},
		{"compress", func() error {
			r.Body, r.Links = r.Body[:0], r.Links[:0]
			return p.c.squeeze(r)
		}},
	} {
		b.Run(step.name, func(b *testing.B) {
			for range 10 {
				require.NoError(b, step.do())
			}
			b.ReportAllocs()
			began, events := eventstoretest.CPUTime(), 0
			for b.Loop() {
				if err := step.do(); err != nil {
					b.Fatal(err)
				}
				events += n
			}
			b.ReportMetric(float64(eventstoretest.CPUTime()-began)/float64(events), "cpu-ns/event")
		})
	}
}
