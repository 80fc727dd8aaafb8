package saga

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// usage is what the server and this process have used from the beginning of the measured part to its
// end. It is safe for use by several goroutines.
type usage struct {
	conn common.Meter
	// saw is what the layer has seen; counts means that the server's calls are compared.
	saw    func() model.Noticed
	counts bool

	mu     sync.Mutex
	before common.Usage
	after  common.Usage
	// extra counts the statements outside transactions.
	extra int64
	// neighbour says who else of perfbench used the server at the beginning or the end.
	neighbour string
}

func (u *usage) begin(ctx context.Context) {
	company, now := u.company(ctx), u.conn.Usage(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.before, u.neighbour = now, company
	u.extra = u.saw().Beside
}

// join begins in a worker: only what this process uses.
func (u *usage) join() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.before.Client = u.conn.Client()
}

func (u *usage) end(ctx context.Context) {
	now, company := u.conn.Usage(ctx), u.company(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.after, u.neighbour = now, cmp.Or(u.neighbour, company)
	u.extra = u.saw().Beside - u.extra
}

// company says who else of perfbench uses the server whose calls are compared; empty if
// they are not.
func (u *usage) company(ctx context.Context) string {
	if !u.counts {
		return ""
	}
	return u.conn.Company(ctx)
}

// used is the time that this process has used so far, in CPU seconds; whole that at the end.
func (u *usage) used() float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.conn.Client() - u.before.Client
}

func (u *usage) whole() float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.after.Client - u.before.Client
}

// span is what was used before and after, as far as that is known.
type span struct {
	before, after common.Usage
	extra         int64
	neighbour     string
}

func (u *usage) span() span {
	u.mu.Lock()
	defer u.mu.Unlock()
	return span{u.before, u.after, u.extra, u.neighbour}
}

// seconds is for how long the run can have gone on, by a clock that is a minute ahead.
func (u *usage) seconds() int64 {
	return int64((workload.Elapsed(u.span().before.At) + time.Minute) / time.Second)
}
