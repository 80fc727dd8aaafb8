package remote

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// How a coordinator goes on in the place of one that died: it is told who has joined and
// when all began, and reads what the stream has kept from its first message on, as if it
// came now. Workers notice nothing but that their connection is back.

// Known is a worker as one coordinator tells of it to another.
type Known struct {
	Hello  Hello         `json:"hello"`
	Offset time.Duration `json:"offset_ns"`
	Trip   time.Duration `json:"trip_ns"`
}

// Restored is what a coordinator must know to go on in the place of another.
type Restored struct {
	// At is when the run began.
	At      time.Time `json:"at"`
	Workers []Known   `json:"workers"`
}

// Replay owns how far what the stream has kept of a run has been read again, by a coordinator
// that goes on with it. Its methods may be called from any goroutine.
type Replay struct {
	roster *Roster
	last   uint64        // message of the stream that is to be read again
	reread chan struct{} // closed when it was
	upto   atomic.Int64
}

func newReplay(roster *Roster) *Replay {
	p := &Replay{roster: roster, reread: make(chan struct{})}
	p.upto.Store(math.MaxInt64)
	return p
}

// begin has all be read again up to a message; 0: there is none.
func (p *Replay) begin(last uint64) {
	p.last = last
	p.upto.Store(math.MinInt64)
	if last == 0 {
		p.caughtUp()
	}
}

// heard takes what a message of the stream tells of.
func (p *Replay) heard(r *Report) {
	if at := p.upto.Load(); r.Part != nil && at != math.MaxInt64 {
		p.upto.Store(max(at, int64(r.Part.T+1)*int64(time.Second)))
	}
}

// passed takes that a message of the stream has been dealt with.
func (p *Replay) passed(m jetstream.Msg) {
	if p.done() {
		return
	}
	if meta, err := m.Metadata(); err == nil && meta.Sequence.Stream >= p.last {
		p.caughtUp()
	}
}

// caughtUp says that all that was kept has been read again. Nobody is silent before that.
func (p *Replay) caughtUp() {
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	for _, m := range p.roster.members {
		m.beat = time.Now()
	}
	p.upto.Store(math.MaxInt64)
	close(p.reread)
}

// done says that nothing is left to be read again.
func (p *Replay) done() bool { return p.upto.Load() == math.MaxInt64 }

// Reread is closed when all that was kept has been read again.
func (p *Replay) Reread() <-chan struct{} { return p.reread }

// Upto says up to when, in ns since measurement began, what was kept has been read again;
// math.MaxInt64 when all has.
func (p *Replay) Upto() int64 { return p.upto.Load() }
