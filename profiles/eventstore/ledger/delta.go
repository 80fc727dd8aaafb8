package ledger

import (
	"math"

	"github.com/perfbench/perfbench/internal/workload"
)

// Stretch is a range of consecutive sequence numbers.
type Stretch struct{ From, Count int64 }

// BookDelta is the account of one generator, for a process that has none of its events:
// how many there are so far, and what became of them since the last report.
type BookDelta struct {
	Generator                        uint32
	Generated, Sent, Unsent, Settled int64
	Confirmed, Acked, Refused        []Stretch
}

// Record makes the ledger keep what is to be reported by Delta. It must be called before
// the first event.
func (l *Ledger) Record() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.news = map[uint32]*BookDelta{}
}

// note keeps what is to be reported about a batch, if anything is. The caller holds
// l.mu.
func (l *Ledger) note(generator uint32, from, count int64, of func(*BookDelta) *[]Stretch) {
	if l.news == nil {
		return
	}
	t := l.news[generator]
	if t == nil {
		t = &BookDelta{}
		l.news[generator] = t
	}
	row := of(t)
	if n := len(*row); n > 0 && (*row)[n-1].From+(*row)[n-1].Count == from {
		(*row)[n-1].Count += count
		return
	}
	*row = append(*row, Stretch{from, count})
}

func toldConfirmed(t *BookDelta) *[]Stretch { return &t.Confirmed }
func toldAcked(t *BookDelta) *[]Stretch     { return &t.Acked }
func toldRefused(t *BookDelta) *[]Stretch   { return &t.Refused }

// Delta returns what happened since the last call.
func (l *Ledger) Delta() (out []BookDelta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for g, b := range l.books {
		t := BookDelta{}
		if news := l.news[g]; news != nil {
			t = *news
		}
		t.Generator, t.Generated, t.Sent, t.Unsent, t.Settled = g, b.generated, b.sent, b.unsent, b.settled
		out = append(out, t)
	}
	clear(l.news)
	return out
}

// What a report may claim at most: the number of a generator, also of one that does what many
// before it have left, and events since the last report.
const (
	mostGenerators = 100 * workload.MaxProcesses * workload.MaxThreads
	mostNews       = 1 << 32
)

// sound reports whether what another process has told can be what became of its events: no
// generator, event or count that there cannot be.
func sound(told []BookDelta) bool {
	for _, t := range told {
		if t.Generator >= mostGenerators || t.Generated < 0 || t.Sent < 0 || t.Unsent < 0 || t.Settled < 0 {
			return false
		}
		for _, row := range [][]Stretch{t.Confirmed, t.Acked, t.Refused} {
			news := int64(0)
			for _, s := range row {
				if s.From < 0 || s.From > math.MaxInt64/2 || s.Count < 0 || s.Count > mostNews {
					return false
				}
				if news += s.Count; news > mostNews {
					return false
				}
			}
		}
	}
	return true
}

// Merge takes in what another process told.
func (l *Ledger) Merge(_ workload.Process, told []BookDelta) bool {
	if !sound(told) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range told {
		b := l.of(t.Generator)
		b.generated, b.sent, b.unsent, b.settled = t.Generated, t.Sent, t.Unsent, t.Settled
		for _, row := range []struct {
			to   *seqset
			from []Stretch
		}{{&b.confirmed, t.Confirmed}, {&b.acked, t.Acked}, {&b.refused, t.Refused}} {
			for _, s := range row.from {
				row.to.add(s.From, s.Count)
			}
		}
	}
	return true
}

// Lose notes that the process of a generator has gone: it may have sent more than it
// reported, and nothing of it is on its way any more. What was confirmed and is not durable
// was in its queue.
func (l *Ledger) Lose(generator uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(generator).lost = true
}

// left returns how many events were sent and are neither durable nor given up.
func (b *book) left() int64 {
	if b.lost {
		return 0
	}
	return max(b.sent-b.acked.n-b.refused.n, 0)
}

// highest returns the highest number that the generator may have used.
func (b *book) highest() int64 {
	if b.lost {
		return math.MaxInt64
	}
	return b.generated
}
