package authz

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/dataset"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

// Operations of the mix's track.
const (
	opDirect = iota
	opNear
	opDeep
	opDeny
	opList
	opExpand
	opGrant
	opRevoke
	opUpdate
)

// granted is a resource that belongs to one worker: nobody else changes who may see it,
// so the right answer to a check is always known.
type granted struct {
	resource string
	member   int32
	revoked  bool
}

// mixTask checks, lists, expands, grants and revokes by weights.
type mixTask struct {
	*worker
	tally  *tally
	wrap   bool
	n      int64
	users  *datagen.Zipf
	groups *datagen.Zipf
	mine   []granted
	made   int
}

// Do makes one operation.
func (k *mixTask) Do(ctx context.Context, it *workload.Iteration) error {
	if _, ok := k.t.next(2, k.n, k.wrap, it); !ok {
		return workload.ErrDone
	}
	from := it.Now()
	var err error
	weights := k.b.s.weights[:]
	if weights[updateMix] == 0 {
		weights = weights[:updateMix]
	}
	switch dataset.Pick(k.r, weights...) {
	case 0:
		err = k.check(ctx, it)
	case 1:
		err = k.list(ctx, it)
	case 2:
		err = k.expand(ctx, it)
	case 3:
		err = k.grant(ctx, it)
	case updateMix:
		err = k.update(ctx, it)
	default:
		err = k.revoke(ctx, it)
	}
	if cost := k.cost(); !it.Warmup {
		k.tally.note(from, it.Now(), cost, err)
	}
	return err
}

func (k *mixTask) check(ctx context.Context, it *workload.Iteration) error {
	m := k.b.s.model
	p := int32(k.users.Next())
	if len(k.mine) > 0 && k.r.IntN(10) == 0 {
		g := k.mine[k.r.IntN(len(k.mine))]
		want := false
		if !g.revoked {
			k.o.Walk(p, func(q int32, _ int) bool { want = want || q == g.member; return !want })
		}
		return k.decide(ctx, it, p, g.resource, "viewer", want, opDeny)
	}
	group := int32(m.Users + int(k.groups.Next()))
	role := m.Role(k.b.s.permission)
	if links := m.Down[group]; len(links) > 0 && k.r.IntN(2) == 0 {
		role = links[k.r.IntN(len(links))].Role
		// Someone below a member is allowed too; choose one by walking down.
		if q := links[k.r.IntN(len(links))].To; k.r.IntN(4) > 0 {
			for range 8 {
				if int(q) < m.Users || len(m.Down[q]) == 0 {
					break
				}
				q = m.Down[q][k.r.IntN(len(m.Down[q]))].To
			}
			p = q
		}
	}
	want, depth := k.o.Allowed(p, group, int(role))
	op := opDeny
	if want {
		op = min(depth-1, opDeep)
	}
	return k.decide(ctx, it, p, k.t.id(group), m.Roles[role], want, op)
}

func (k *mixTask) decide(ctx context.Context, it *workload.Iteration, p int32, resource, role string, want bool, op int) error {
	if want && op == opDeny {
		op = opNear
	}
	mark := it.Begin(workload.Op(op))
	got, err := k.c.Allowed(ctx, k.t.id(p), resource, role)
	if it.End(mark, 1, err) != nil {
		return err
	}
	if !it.Warmup {
		k.tally.decided(got)
	}
	k.t.judge(got, want, k.t.id(p), resource, role)
	return nil
}

// list requests all groups that a user is in.
func (k *mixTask) list(ctx context.Context, it *workload.Iteration) error {
	p := int32(k.users.Next())
	mark := it.Begin(opList)
	got, _, err := k.c.Explode(ctx, k.t.id(p))
	if it.End(mark, 1, err) != nil {
		return err
	}
	want := len(k.o.Closure(p))
	k.t.judge(len(got) == want, true, k.t.id(p), fmt.Sprintf("a list of %d groups where there are %d", len(got), want), "anything")
	return nil
}

// expand requests everybody below a group.
func (k *mixTask) expand(ctx context.Context, it *workload.Iteration) error {
	g := int32(k.b.s.model.Users + int(k.groups.Next()))
	mark := it.Begin(opExpand)
	got, err := k.c.Below(ctx, k.t.id(g))
	if it.End(mark, 1, err) != nil {
		return err
	}
	want := k.o.BelowOf(g)
	k.t.judge(len(got) == want, true, k.t.id(g), fmt.Sprintf("an expansion to %d where there are %d", len(got), want), "anything")
	return nil
}

func (k *mixTask) grant(ctx context.Context, it *workload.Iteration) error {
	k.made++
	g := granted{fmt.Sprintf("c:%s:%s-%d-%d", k.t.name, k.t.site.runID, k.number, k.made), int32(k.users.Next()), false}
	if k.r.IntN(2) == 0 {
		g.member = int32(k.b.s.model.Users + int(k.groups.Next()))
	}
	change := model.Grant{Resource: g.resource, Member: k.t.id(g.member), Role: "viewer"}
	mark := it.Begin(opGrant)
	err := it.End(mark, 1, k.c.Change(ctx, change))
	k.t.remember(change, err, k.b.unanswered(err))
	if err == nil {
		k.mine = append(k.mine, g)
	}
	return err
}

func (k *mixTask) revoke(ctx context.Context, it *workload.Iteration) error {
	at := -1
	for i := range k.mine {
		if !k.mine[i].revoked {
			at = i
			break
		}
	}
	if at < 0 {
		return k.grant(ctx, it)
	}
	g := k.mine[at]
	change := model.Grant{Resource: g.resource, Member: k.t.id(g.member), Role: ""}
	mark := it.Begin(opRevoke)
	err := it.End(mark, 1, k.c.Change(ctx, change))
	k.t.remember(change, err, k.b.unanswered(err))
	k.mine[at].revoked = true
	if err != nil || !k.b.s.invalidate || len(k.mine) > 64 {
		// The outcome is unknown, or may be cached, so nobody asks for it again.
		k.mine = append(k.mine[:at], k.mine[at+1:]...)
	}
	return err
}

// update stores a principal again, with its filling.
func (k *mixTask) update(ctx context.Context, it *workload.Iteration) error {
	p := int32(k.users.Next())
	if k.r.IntN(2) == 0 {
		p = int32(k.b.s.model.Users + int(k.groups.Next()))
	}
	a, err := k.accountOf(k.t, p, it.Settings.Payload)
	if err != nil {
		return err
	}
	mark := it.Begin(opUpdate)
	return it.End(mark, 1, k.b.l.Accounts.PutAccount(ctx, &k.c.Work, a))
}
