package pbm

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

const (
	// hotGroups is how many groups have the history of their summary kept, and hotDraws how many
	// choices show which ones are hot.
	hotGroups = 8
	hotDraws  = 4096
	// lookEvery is after how many transactions a client reads a summary of a hot group.
	lookEvery = 96
)

// hot are the summaries whose history is kept: each is a register whose versions are those of the
// fillings. It is safe for use by several goroutines.
type hot struct {
	*histories.History
	// registers are those of the groups, by number, which groups lists.
	registers map[int64]int32
	groups    []int64
}

// historian is what one client has seen of them. It belongs to its worker.
type historian struct {
	*histories.Client
	hot *hot
	// origin is who this client is in the versions of fillings, and ordinal which of its fillings
	// the last one was.
	origin, ordinal uint32
	// made is the version of the next filling; histories.Missing: it has none.
	made  datagen.Version
	looks int
}

// newHot follows the groups that are visited most, or first if all are visited equally often.
func newHot(w *work) *hot {
	h := &hot{History: histories.New("hot summary"), registers: map[int64]int32{}}
	s, m := w.s, w.m
	if s.zipf > 0 {
		pick, counts := datagen.New(rand.New(rand.NewPCG(uint64(s.seed), 0)), s.zipf, s.groups()), map[int64]int{} //nolint:gosec // no secret
		for range hotDraws {
			counts[pick.Next()+1]++
		}
		all := slices.SortedFunc(maps.Keys(counts), func(a, b int64) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
		h.groups = all[:min(len(all), hotGroups)]
	} else {
		for i := range int64(hotGroups) {
			thread, off := i%int64(m.start.Threads), i/int64(m.start.Threads)
			if group := thread*m.per/s.members + off + 1; off < m.per && !slices.Contains(h.groups, group) {
				h.groups = append(h.groups, group)
			}
		}
	}
	for _, group := range h.groups {
		h.registers[group] = h.Follow(1)
	}
	return h
}

// of returns the part of one more client; nil if no history is kept.
func (h *hot) of() *historian {
	if h == nil {
		return nil
	}
	return &historian{Client: h.Client(), hot: h, origin: rand.Uint32()} //nolint:gosec // no secret
}

// filling appends the filling of a group's next summary, of a version of its own.
func (h *historian) filling(dst, group []byte, size int) []byte {
	if h.made = histories.Missing; size < datagen.VersionedFrom {
		return datagen.Append(dst, datagen.Of(group, 0), size)
	}
	h.ordinal++
	h.made = datagen.VersionOf(h.origin, h.ordinal)
	return datagen.Append(h.made.Append(dst), datagen.Of(group, 0).At(h.made, size), size-datagen.VersionBytes)
}

// wrote notes a summary that was written, or of which nobody knows whether it was.
func (h *historian) wrote(prefix string, group []byte, from int64, err error) {
	register, is := h.hot.registers[numberOf(prefix, group)]
	switch {
	case !is:
	case h.made == histories.Missing:
		h.hot.Blind()
	default:
		h.Note(histories.Event{Call: from, Back: h.Now(), Register: register, Version: h.made, Write: true, Failed: err != nil})
	}
}

// look reads the summary of a hot group, if it is time to. What was there before the run may have no
// version, and counts as one.
func (k *task) look(ctx context.Context, it *workload.Iteration) {
	h := k.history
	if h == nil || len(h.hot.groups) == 0 {
		return
	}
	if h.looks++; h.looks%lookEvery != lookEvery/2 {
		return
	}
	number := h.hot.groups[rand.N(len(h.hot.groups))] //nolint:gosec // no secret
	group := padogrid.AppendGroup(nil, k.w.s.prefix, number)
	start, from := it.Now(), h.Now()
	got, found, err := k.w.layer.Summary(ctx, group)
	e := histories.Event{Call: from, Back: h.Now(), Register: h.hot.registers[number], Version: histories.Missing}
	it.Record(opLook, 1, start, start, it.Now(), err)
	if err != nil {
		return
	}
	if found {
		e.Version, _ = datagen.ReadVersion(got.filling)
	}
	h.Note(e)
}

// numberOf is the number of a group.
func numberOf(prefix string, group []byte) int64 {
	n := int64(0)
	for _, c := range group[len(prefix):] {
		n = n*10 + int64(c-'0')
	}
	return n
}

// versioned returns what is wrong with a filling that begins with a version.
func versioned(group []byte, text string) error {
	v, ok := datagen.ReadVersion(text)
	if !ok {
		return datagen.Check(text, datagen.Of(group, 0))
	}
	return datagen.Check(text[datagen.VersionBytes:], datagen.Of(group, 0).At(v, len(text)))
}

// linearizable checks the histories, if they are kept.
func (b *run) linearizable(ctx context.Context, v *workload.Verification) {
	for _, w := range b.works {
		if w.hot == nil || v.State == workload.Skipped || v.State == workload.Incomplete {
			continue
		}
		l := w.hot.Check(ctx)
		c := l.Check()
		if v.Checks = append(v.Checks, c); !c.OK {
			v.State, v.Summary = workload.Failed, "summaries were not read as one copy of each would have answered: "+c.Name+": "+c.Words()
			continue
		}
		v.Summary += "; " + l.Words()
	}
}
