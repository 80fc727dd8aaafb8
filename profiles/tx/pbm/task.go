package pbm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// errConflict means that a transaction conflicted with another one and was not carried
// out.
var errConflict = errors.New("the group was written by another transaction at the same time")

// summary is what a transaction writes about its group.
type summary struct {
	Members int64
	Bytes   int64
}

// kept is a summary as stored, with its filling.
type kept struct {
	summary
	filling string
}

// adapter is what the profile needs of a store. It is safe for use by several goroutines.
type adapter interface {
	// GetProfile reads the entry of a group in the map profile, or in another map of
	// that kind; false if there is none.
	GetProfile(ctx context.Context, at string, group []byte) (bool, error)
	// GetProfiles reads the entries of several groups, and returns how many exist.
	GetProfiles(ctx context.Context, at string, groups [][]byte) (int, error)
	// GetMembers reads entries of eligibility; the i-th key belongs to the i-th group.
	// It returns how many exist.
	GetMembers(ctx context.Context, groups, keys [][]byte) (int, error)
	// Summarize tries the transaction once: it atomically reads the group's members and
	// writes its summary, with or without a filling. It returns false if the group has
	// no profile, in which case nothing was written, and errConflict if it conflicted
	// with another transaction.
	Summarize(ctx context.Context, group, filling []byte) (summary, bool, error)
	// Summary reads what was written; false if nothing was.
	Summary(ctx context.Context, group []byte) (kept, bool, error)
}

// work is the work on one map, and its record. It is safe for use by several
// goroutines.
type work struct {
	*padogrid.Work[counts]
	s     *Spec
	m     *mapPlan
	layer adapter
	conn  store.Conn
	// touched has a bit for each group whose summary was acknowledged.
	touched []atomic.Uint64
	// sizes are the sizes of fillings with which summaries were written.
	sizes datagen.Sizes
	// hot are the summaries whose history is kept; nil: none is.
	hot *hot
}

// counts are what a client counts in addition to operations that succeeded or failed:
// those that found nothing, attempts that conflicted with another transaction, and
// transactions that did so at every attempt.
type counts struct{ missing, conflicts, gaveUp, unanswered atomic.Int64 }

func newWork(s *Spec, m *mapPlan, st adapter) *work {
	job := padogrid.Job{Shares: slices.Repeat([]int64{m.per}, m.start.Threads), Runs: s.runs(), Interval: s.interval, From: m.from, To: m.to}
	w := &work{Work: padogrid.NewWork[counts](job, nil, (*counts).list), s: s, m: m, layer: st}
	if m.op == caseTx {
		w.touched = make([]atomic.Uint64, w.highest()/64+1)
		if s.linearizable {
			w.hot = newHot(w)
		}
	}
	return w
}

// highest returns the highest group number that a transaction may visit.
func (w *work) highest() int64 {
	return max((int64(w.m.start.Threads-1)*w.m.per)/w.s.members+w.m.per, w.s.groups())
}

// task is one client. It belongs to its worker.
type task struct {
	w    *work
	loop *padogrid.Loop[counts]
	pick *datagen.Zipf

	groups, keys [][]byte
	slab         []byte
	// filling is the filling of the next summary; noted is the last size that was
	// noted.
	filling []byte
	noted   int
	// history is what this client has seen of hot summaries; nil: none is kept.
	history *historian
}

func (w *work) newTask(worker int) *task {
	k := &task{w: w, loop: w.Loop(worker), noted: -1, history: w.hot.of()}
	if w.s.zipf > 0 {
		k.pick = datagen.New(rand.New(rand.NewPCG(uint64(w.s.seed), uint64(worker))), w.s.zipf, w.s.groups()) //nolint:gosec // no secret
	}
	return k
}

// Do carries out one operation or one batch.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if k.w.s.load == loadOnly {
		return workload.ErrDone
	}
	if k.loop.Paused(ctx, it) {
		return nil
	}
	p, ok := k.loop.Next(it, int64(k.w.m.units(it.Settings)))
	if !ok {
		return workload.ErrDone
	}
	k.prepare(p)
	k.fill(it.Settings.Payload)
	k.loop.Enter(it)
	m := it.Begin(opWork)
	missing, err := k.call(ctx, it)
	err = it.End(m, int(p.N), err)
	if err == nil && !it.Warmup {
		k.loop.Tally.Own.missing.Add(missing)
	}
	if err != nil && k.w.m.op == caseTx && k.w.conn.Classify(err).Unanswered(err) {
		k.loop.Tally.Own.unanswered.Add(p.N)
	}
	k.loop.Leave(ctx, it, p, err)
	k.look(ctx, it)
	return err
}

// prepare makes groups and keys. It is not part of the operation's time.
func (k *task) prepare(p padogrid.Piece) {
	s, m := k.w.s, k.w.m
	k.groups, k.keys = k.groups[:0], k.keys[:0]
	if need := int(p.N) * (2*len(s.prefix) + 96); cap(k.slab) < need {
		k.slab = make([]byte, 0, need) // all of it is used up before the next call
	}
	b := k.slab[:0]
	piece := func(from int) []byte { return b[from:len(b):len(b)] }
	switch {
	case m.op == caseTx:
		g := int64(p.Share)*m.per/s.members + p.Off + 1
		if k.pick != nil {
			g = k.pick.Next() + 1
		}
		b = padogrid.AppendGroup(b, s.prefix, g)
		k.groups = append(k.groups, piece(0))
	case !m.elig:
		for i := range p.N {
			from := len(b)
			b = padogrid.AppendGroup(b, s.prefix, int64(p.Share)*m.per+p.Off+i+1)
			k.groups = append(k.groups, piece(from))
		}
	default:
		sh := s.share(p.Share)
		for i := range p.N {
			e, from := sh.EligibilityKey(p.Off+i), len(b)
			b = padogrid.AppendGroup(b, s.prefix, e.Group)
			k.groups = append(k.groups, piece(from))
			from = len(b)
			if s.grouped() {
				b = e.AppendMember(b)
			} else {
				b = e.AppendText(b, s.prefix)
			}
			k.keys = append(k.keys, piece(from))
		}
	}
	k.slab = b[:0]
}

// fill makes the filling of the current group's summary. It is not part of the
// operation's time.
func (k *task) fill(size int) {
	if k.w.m.op != caseTx {
		return
	}
	if size != k.noted {
		k.w.sizes.Note(size)
		k.noted = size
	}
	if k.history != nil {
		k.filling = k.history.filling(k.filling[:0], k.groups[0], size)
		return
	}
	k.filling = datagen.Append(k.filling[:0], datagen.Of(k.groups[0], 0), size)
}

// call calls the store, and returns how many entries did not exist.
func (k *task) call(ctx context.Context, it *workload.Iteration) (missing int64, err error) {
	st := k.w.layer
	var n int
	switch {
	case k.w.m.op == caseTx:
		return k.transact(ctx, it)
	case k.w.m.op == caseGet:
		found, err := st.GetProfile(ctx, k.w.m.name, k.groups[0])
		if err == nil && !found {
			missing = 1
		}
		return missing, err
	case k.w.m.elig:
		n, err = st.GetMembers(ctx, k.groups, k.keys)
	default:
		n, err = st.GetProfiles(ctx, k.w.m.name, k.groups)
	}
	if err != nil {
		return 0, err
	}
	return int64(len(k.groups) - n), nil
}

// transact tries a transaction until it succeeds without a conflict.
func (k *task) transact(ctx context.Context, it *workload.Iteration) (missing int64, err error) {
	for try := 1; ; try++ {
		start := it.Now()
		found, err := k.summarize(ctx)
		switch {
		case err == nil && !found:
			return 1, nil
		case err == nil:
			k.touch()
			return 0, nil
		case !errors.Is(err, errConflict):
			return 0, err
		}
		it.Record(opConflict, 1, start, start, it.Now(), nil)
		if !it.Warmup {
			k.loop.Tally.Own.conflicts.Add(1)
		}
		if try >= k.w.s.attempts {
			if !it.Warmup {
				k.loop.Tally.Own.gaveUp.Add(1)
			}
			return 0, fmt.Errorf("%w, %d times in a row", err, try)
		}
		if err := store.Pause(ctx, time.Duration(rand.Int64N(int64(min(try, 10))*int64(50*time.Microsecond)))); err != nil { //nolint:gosec // no secret
			return 0, err
		}
	}
}

// summarize tries the transaction once, and keeps it in the histories if it is about a hot group.
func (k *task) summarize(ctx context.Context) (found bool, err error) {
	if k.history == nil {
		_, found, err = k.w.layer.Summarize(ctx, k.groups[0], k.filling)
		return found, err
	}
	from := k.history.Now()
	_, found, err = k.w.layer.Summarize(ctx, k.groups[0], k.filling)
	if found && err == nil || err != nil && !errors.Is(err, errConflict) {
		k.history.wrote(k.w.s.prefix, k.groups[0], from, err)
	}
	return found, err
}

// touch notes that a group now has a summary.
func (k *task) touch() {
	n := numberOf(k.w.s.prefix, k.groups[0])
	word, bit := &k.w.touched[n/64], uint64(1)<<(n%64)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
}
