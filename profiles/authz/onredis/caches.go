package onredis

import (
	"context"

	"github.com/perfbench/perfbench/profiles/authz/model"
)

// Closure returns which of some groups are cached for a principal. Whether they are
// cached, and which, is queried in one transaction: a drop in between would look like a
// denial.
func (r *Adapter) Closure(ctx context.Context, w *model.Work, principal string, among []string) ([]string, bool, error) {
	w.Statements += 2
	key := r.key("mc", principal)
	b := r.calls.Acquire()
	defer b.Release()
	if len(among) == 0 {
		c := b.Command("EXISTS", key)
		err := b.Do(ctx)
		return nil, err == nil && c.Reply.N > 0, err
	}
	c := b.Call()
	c.Multi()
	c.Next("EXISTS")
	c.Add(key)
	c.Next("SMISMEMBER")
	c.Add(key)
	add(c, among)
	c.Exec()
	c.Reply.Keep = true
	if err := b.Do(ctx); err != nil {
		return nil, false, err
	}
	yes := func(i int) bool { // of the last replies
		text, _ := c.Reply.At(c.Reply.Len() - 1 - len(among) + i)
		return string(text) == "1"
	}
	if !yes(0) {
		return nil, false, nil
	}
	var out []string
	for i, g := range among {
		if yes(i + 1) {
			out = append(out, g)
		}
	}
	return out, true, nil
}

// PutClosure caches the groups of a principal, the direct ones first.
func (r *Adapter) PutClosure(ctx context.Context, w *model.Work, principal string, groups []string, direct int) error {
	indirect := groups[direct:]
	if len(groups) == 0 {
		groups = []string{model.EmptyClosure}
	}
	b := r.calls.Acquire()
	defer b.Release()
	if len(indirect) > 0 {
		w.Statements++
		add(b.Command("SADD", r.key("mi", principal)), indirect)
	}
	w.Statements++
	add(b.Command("SADD", r.key("mc", principal)), groups)
	return b.Do(ctx)
}

// DropClosures drops the cached groups of principals.
func (r *Adapter) DropClosures(ctx context.Context, w *model.Work, principals []string) error {
	if err := r.unlink(ctx, w, "mc", principals); err != nil {
		return err
	}
	return r.unlink(ctx, w, "mi", principals)
}

func (r *Adapter) unlink(ctx context.Context, w *model.Work, kind string, ids []string) error {
	w.Statements += int64(len(ids))
	b := r.calls.Acquire()
	defer b.Release()
	for _, id := range ids {
		b.Command("DEL", r.key(kind, id))
	}
	return b.Do(ctx)
}

// Permitted reads a cached permission.
func (r *Adapter) Permitted(ctx context.Context, w *model.Work, principal, resource, role string) (bool, error) {
	w.Statements++
	b := r.calls.Acquire()
	defer b.Release()
	c := b.Command("HEXISTS", r.key("pc", principal))
	c.Add(resource, "\x00", role)
	err := b.Do(ctx)
	return err == nil && c.Reply.N > 0, err
}

// Permit caches a permission.
func (r *Adapter) Permit(ctx context.Context, w *model.Work, principal, resource, role string) error {
	return r.set(ctx, w, r.key("pc", principal), resource+"\x00"+role, "1")
}

// Forbid drops all cached permissions of the principals: only a scan of the hash would
// tell which roles are cached for a resource.
func (r *Adapter) Forbid(ctx context.Context, w *model.Work, _ string, principals []string) error {
	return r.unlink(ctx, w, "pc", principals)
}
