package replay

import (
	"context"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/workload"
)

// pipelines reports whether calls are sent at once that were.
func (s *Spec) pipelines() bool {
	return s.talk.pipelines && s.Header.Timing == capture.Exact && !s.ByKey && !s.OneByOne
}

// sent are calls of one thread that are sent at once.
type sent struct {
	by   sender
	told func(i int, err error)
	// it, mark, due and start are of the iteration that they are.
	it         *workload.Iteration
	mark       workload.Mark
	due, start int64
	// again are those of them that have to be made once more.
	again []call
	err   error
}

// together makes calls that were sent at once. All are due when the first is.
func (k *task) together(ctx context.Context, it *workload.Iteration) error {
	s := &k.sent
	s.it, s.again, s.err = it, s.again[:0], nil
	s.by.gather(k.in, k.calls)
	s.start = it.Now()
	s.due, s.mark = min(it.Due(), s.start), it.Begin(workload.Op(k.calls[0].op))
	s.by.send(ctx, s.told)
	k.calls = append(k.calls[:0], s.again...)
	return s.err
}

// told takes what came of one of several calls.
func (k *task) told(i int, err error) {
	s, c := &k.sent, &k.calls[i]
	if hit, is := k.by.found(); is && err == nil {
		k.note(c.found, hit)
	}
	if i == 0 {
		err = s.it.End(s.mark, 1, err)
	} else {
		s.it.Record(workload.Op(c.op), 1, s.due, s.start, s.it.Now(), err)
	}
	if s.it.LastAgain() {
		s.again = append(s.again, *c)
	}
	if s.err == nil {
		s.err = err
	}
}
