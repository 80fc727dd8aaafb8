package ownership

import (
	"context"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// A run may have other processes write for it, its workers. While they hear its
// coordinator, that one's lease covers them. A worker that does not hear it, or that was
// stopped, goes by what the store says: as long as the lease names its run, and does not say
// that it is ending, it keeps the lease alive and goes on, for as long as it was told to. So
// nobody else gets the namespace while a worker may write there, and no worker writes there
// once somebody else may have it.

// Settle is how long after End a worker may take that has lost its coordinator: until it has
// asked once more, and its last call has come to its end.
const Settle = 5 * time.Second

// Ask asks the store whether a worker of a run may still write, and renews the lease of the
// run for it. until is when it ends by itself if it does not hear its coordinator again; the
// zero time: it hears it. gone is why it may not write any more, err why that is not known.
func Ask(ctx context.Context, conn store.Conn, namespace, run string, until time.Time) (gone, err error) {
	leaser, ok := store.Has[store.Leaser](conn)
	if !ok {
		return nil, nil
	}
	for {
		holder, held, err := leaser.Holder(ctx, namespace)
		switch {
		case err != nil:
			return nil, err
		case !held:
			return fault.Code(fmt.Errorf("%s is not that of run %s any more: its coordinator has ended", nameOf(namespace), run), fault.CodeOther), nil
		case holder.Run != run:
			return fault.Code(fmt.Errorf("%s was taken over by %s", nameOf(namespace), words(holder)), fault.CodeOther), nil
		case holder.Ending:
			return fault.Code(fmt.Errorf("run %s is ending without this worker", run), fault.CodeOther), nil
		case until.IsZero():
			return nil, nil
		}
		next := holder
		if t, err := time.Parse(time.RFC3339, holder.WriteUntil); err != nil || t.Before(until.Add(-time.Second)) {
			next.WriteUntil = until.Add(time.Second).UTC().Format(time.RFC3339) // in whole seconds
		}
		if done, err := leaser.Swap(ctx, namespace, holder, next, TTL); done || err != nil {
			return nil, err
		}
	}
}

// Cede gives the lease up by a connection of its own, where that of the run has been closed.
// begun says that workers may have begun to write: then they are told in the lease to end, and it
// lapses, whatever they have said in it meanwhile.
func (l *lease) Cede(ctx context.Context, conn store.Conn, begun bool) error {
	leaser, ok := store.Has[store.Leaser](conn)
	if !ok || l == nil {
		return nil
	}
	l.end()
	l.stop()
	l.mu.Lock()
	l.mine.Ending = begun
	l.mu.Unlock()
	for mine := l.as(); ; {
		holder, held, err := leaser.Holder(ctx, l.namespace)
		switch {
		case err != nil:
			return fault.Code(err, fault.CodeStore)
		case !held || holder.Token != mine.Token || begun && holder == mine:
			return nil
		case begun:
			_, err = leaser.Swap(ctx, l.namespace, holder, mine, TTL)
		default:
			err = leaser.Free(ctx, l.namespace, holder)
		}
		if err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
}

// End says in the lease that workers may not write any more. Those that do not hear this
// process take up to Settle to notice.
func (l *lease) End(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.mine.Ending = true
	l.mu.Unlock()
	_, err := l.renew(ctx, l.leaser, l.keep)
	if err == nil {
		err = l.lost()
	}
	return fault.Code(err, fault.CodeStore)
}
