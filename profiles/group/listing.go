package group

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/onredis"
)

// Listing lists the structures that the plan names, in the layout of PadoGrid's
// listing, with their current sizes. With a claim on the namespace, those recorded as
// ours are deleted; the size is then that before the removal, and "deleted" says
// whether the structure is gone. With compat=on it says, as in the original, whether it
// still exists. Topics are never deleted. Any goroutine may call it.
func (b binder) Listing(ctx context.Context, c store.Conn, remove *ownership.Claim) (string, error) {
	s := b.s
	keep, err := store.As[store.Keeper](c)
	if err != nil {
		return "", err
	}
	onredis.LayTogether(s, c)
	l := lister{s: s, keep: keep, remove: remove, gone: map[store.Space]bool{}, were: map[store.Space]store.Found{}}
	for _, step := range s.Steps {
		fmt.Fprintf(&l.b, "\nRunning Group(s): %s\n\n", step[0].Together)
		for _, g := range step {
			fmt.Fprintf(&l.b, "group: %s\n", g.Name)
			for _, o := range g.Ops {
				for _, member := range o.Family() {
					if err := l.operation(ctx, member); err != nil {
						return l.b.String(), err
					}
				}
			}
		}
	}
	return l.b.String(), nil
}

type lister struct {
	s      *model.Spec
	keep   store.Keeper
	remove *ownership.Claim
	gone   map[store.Space]bool
	were   map[store.Space]store.Found // deleted before they were listed
	b      strings.Builder
}

func (l *lister) operation(ctx context.Context, o *model.Op) error {
	if o.Kind == model.KindSleep {
		return nil
	}
	fmt.Fprintf(&l.b, "  - name: %s\n    data: %s\n", o.Target, o.Kind.Label())
	if o.Kind.Topic() && o.Kind != model.KindRTopic {
		l.b.WriteString("    deleted: N/A\n")
		return nil
	}
	found, err := l.inspect(ctx, o)
	if err != nil {
		return err
	}
	if found.Size >= 0 {
		fmt.Fprintf(&l.b, "    size: %d\n", found.Size)
	} else {
		l.b.WriteString("    size: unknown\n")
	}
	if l.remove != nil && found.Exists {
		if err := l.drop(ctx, o); err != nil {
			return err
		}
		if found, err = l.keep.Inspect(ctx, o.Space); err != nil {
			return fmt.Errorf("look at %s: %w", o.Target, err)
		}
	}
	gone := !found.Exists
	if l.s.Compat {
		gone = found.Exists
	}
	fmt.Fprintf(&l.b, "    deleted: %t\n", gone)
	return nil
}

// inspect returns what a structure contains, or contained before it was deleted along with
// another one.
func (l *lister) inspect(ctx context.Context, o *model.Op) (store.Found, error) {
	if was, ok := l.were[o.Space]; ok {
		delete(l.were, o.Space)
		return was, nil
	}
	found, err := l.keep.Inspect(ctx, o.Space)
	if err != nil {
		err = fmt.Errorf("look at %s: %w", o.Target, err)
	}
	return found, err
}

// drop removes a structure that is ours, and the sorted set that belongs to a cache.
// Tables that refer to it with foreign keys are removed first.
func (l *lister) drop(ctx context.Context, o *model.Op) error {
	for _, child := range l.s.Order {
		if !child.Table || !child.RefersTo(o.Object()) || l.gone[child.Space] {
			continue
		}
		was, err := l.inspect(ctx, child)
		if err == nil {
			err = l.drop(ctx, child)
		}
		if err != nil {
			return err
		}
		l.were[child.Space] = was
	}
	for _, sp := range []store.Space{o.Space, {Namespace: o.Space.Namespace, Name: model.Timeouts(o.Space)}} {
		if _, ours := l.remove.Earlier(sp); !ours || l.gone[sp] {
			continue
		}
		if _, err := l.remove.Delete(ctx, sp, nil); errors.Is(err, ownership.ErrShared) {
			continue
		} else if err != nil {
			return fmt.Errorf("delete %s: %w", sp.Name, err)
		}
		l.gone[sp] = true
	}
	return nil
}
