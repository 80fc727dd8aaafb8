package session

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/watch"
)

// heapPatience is how long a JVM may take to report its heap before a run.
const heapPatience = 2 * time.Second

// muchHeap is how much a plan must store to be worth a notice if the heap is unknown: a
// quarter of the heap that servers are commonly tried with.
const muchHeap = 128 << 20

// heap is that of a store which keeps all data there, and what a run puts into it.
type heap struct {
	info  *store.Info
	agent string // of its JVM; empty: there is none
	bytes int64  // that the plan stores
	// limit is the size of the heap; 0 if unknown.
	limit int64
}

// now asks the JVM how large the heap is. It returns 0 if it cannot be asked: only
// servers of the lab have an agent for this.
func (h *heap) now(ctx context.Context, log *slog.Logger) (free, limit int64) {
	if !h.info.InHeap || h.agent == "" {
		return 0, 0
	}
	ctx, cancel := context.WithTimeout(ctx, heapPatience)
	defer cancel()
	has, err := watch.NewJVM(h.agent).Heap(ctx)
	if err != nil || has.Limit == nil || has.Used == nil {
		log.Debug("The heap of the store is not known", "error", err)
		return 0, 0
	}
	return max(*has.Limit-*has.Used, 1), *has.Limit
}

// notice compares what the plan stores with the heap that is to hold it; "" if there is
// enough room.
func (h *heap) notice(ctx context.Context, log *slog.Logger) string {
	if !h.info.InHeap {
		return ""
	}
	free, limit := h.now(ctx, log)
	size := units.Size(h.bytes)
	switch {
	case limit > 0:
		h.limit = limit
		h.info.Details["heap"] = fmt.Sprintf("%s, %s of it free at the start", units.Size(limit), units.Size(free))
		if h.bytes > free/2 {
			return fmt.Sprintf("this run stores %s in the heap of %s, which is %s and has %s free; a server whose heap is full dies", size, h.info.Name, units.Size(limit), units.Size(free))
		}
	case h.bytes >= muchHeap:
		return fmt.Sprintf("this run stores %s in the heap of %s, and a client cannot ask how large that is; a server whose heap is full dies", size, h.info.Name)
	}
	return ""
}

// death says what became of a store that went away during the run, by the errors of the
// run and by its log; "" if it did not.
func (h *heap) death(errs []rundir.Error, log func() string) string {
	if !h.info.InHeap {
		return ""
	}
	gone, said := false, ""
	for _, e := range errs {
		gone = gone || e.Class == store.Unreachable.String()
		if e.Class == store.OutOfMemory.String() {
			gone, said = true, first(e.Messages)
		}
	}
	if gone && said == "" {
		said = log()
	}
	size := units.Size(h.bytes)
	of := ""
	if h.limit > 0 {
		of = " of " + units.Size(h.limit)
	}
	switch {
	case !gone:
		return ""
	case said != "":
		return fmt.Sprintf("%s ran out of its heap%s mid-run (%s): this run stores %s there; give it more heap, or store less", h.info.Name, of, said, size)
	}
	return fmt.Sprintf("%s went away mid-run, and a client cannot tell whether its heap%s was full: this run stores %s there; see its log", h.info.Name, of, size)
}

func first(list []string) string {
	if len(list) == 0 {
		return store.OutOfMemory.String()
	}
	return list[0]
}
