package session

import (
	"context"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/watch"
)

// heapPatience is how long a JVM may take to tell its heap before a run.
const heapPatience = 2 * time.Second

// muchHeap is what a plan must store for a word where nobody can tell the heap: a
// quarter of what a server is commonly tried with.
const muchHeap = 128 << 20

// heapNow asks the JVM of a store that keeps all in its heap how large that is; 0 where
// it cannot be asked: only a server of the lab has an agent that tells.
func (l *Live) heapNow(ctx context.Context) (free, limit int64) {
	if !l.Info.InHeap || l.Inputs.Agent == "" {
		return 0, 0
	}
	ctx, cancel := context.WithTimeout(ctx, heapPatience)
	defer cancel()
	h, err := watch.NewJVM(l.Inputs.Agent).Heap(ctx)
	if err != nil || h.Limit == nil || h.Used == nil {
		l.env.Log.Debug("The heap of the store is not known", "error", err)
		return 0, 0
	}
	return max(*h.Limit-*h.Used, 1), *h.Limit
}

// heapNotice sets what the plan stores beside the heap that is to hold it; "" where
// there is room enough.
func (l *Live) heapNotice(ctx context.Context) string {
	if !l.Info.InHeap {
		return ""
	}
	free, limit := l.heapNow(ctx)
	size := units.Size(l.Plan.Bytes)
	switch {
	case limit > 0:
		l.heap = limit
		l.Info.Details["heap"] = fmt.Sprintf("%s, %s of it free at the start", units.Size(limit), units.Size(free))
		if l.Plan.Bytes > free/2 {
			return fmt.Sprintf("this run stores %s in the heap of %s, which is %s and has %s free; a server whose heap is full dies", size, l.Info.Name, units.Size(limit), units.Size(free))
		}
	case l.Plan.Bytes >= muchHeap:
		return fmt.Sprintf("this run stores %s in the heap of %s, and a client cannot ask how large that is; a server whose heap is full dies", size, l.Info.Name)
	}
	return ""
}

// diedOfHeap says what became of a store that keeps all in its heap and went away in
// mid-run; "" when it did not.
func (l *Live) diedOfHeap(run *rundir.Run) string {
	if !l.Info.InHeap {
		return ""
	}
	gone, said := false, ""
	for _, e := range run.Errors {
		gone = gone || e.Class == store.Unreachable.String()
		if e.Class == store.OutOfMemory.String() {
			gone, said = true, first(e.Messages)
		}
	}
	if gone && said == "" && l.env.OutOfHeap != nil {
		said = l.env.OutOfHeap(l.Target.Redacted())
	}
	size := units.Size(l.Plan.Bytes)
	heap := ""
	if l.heap > 0 {
		heap = " of " + units.Size(l.heap)
	}
	switch {
	case !gone:
		return ""
	case said != "":
		return fmt.Sprintf("%s ran out of its heap%s mid-run (%s): this run stores %s there; give it more heap, or store less", l.Info.Name, heap, said, size)
	}
	return fmt.Sprintf("%s went away mid-run, and a client cannot tell whether its heap%s was full: this run stores %s there; its log says", l.Info.Name, heap, size)
}

func first(list []string) string {
	if len(list) == 0 {
		return store.OutOfMemory.String()
	}
	return list[0]
}
