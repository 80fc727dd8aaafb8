package part

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/remote"
)

// All joins a run and does its part of it, and of those that its coordinator says will follow.
// Where o says that it stays, it does so with run after run until ctx ends, and says one
// sentence of each.
func All(ctx context.Context, env Env, o remote.JoinOptions) error {
	if o.Stay {
		env.Say("waiting for runs at " + o.URL)
	}
	for {
		w, err := remote.Join(ctx, o)
		switch {
		case errors.Is(err, remote.ErrOver):
			env.Say("no other run follows")
			return nil
		case errors.Is(err, remote.ErrIdle), err != nil && o.Stay && ctx.Err() != nil: // between two runs
			return nil
		case err != nil:
			return err
		}
		if o.Stay {
			if err := one(ctx, env, w); err != nil {
				return err
			}
		} else {
			if err := Do(ctx, env, w); err != nil || !w.Place.More {
				return err
			}
			env.Say("waiting for the next run")
			o.Patience = cmp.Or(env.Patience, remote.DefaultAbsence)
		}
		o.After = w
	}
}

// one does the part of a worker that stays, and says what came of it. Errors are those that
// end it: what went wrong in one run may go well in the next.
func one(ctx context.Context, env Env, w *remote.Worker) error {
	quiet := env
	quiet.Say = func(string) {}
	p := newWork(quiet, w)
	err := p.do(ctx)
	if ctx.Err() != nil {
		return err
	}
	came := p.came
	if err != nil {
		came = "failed: " + err.Error()
	}
	env.Say(fmt.Sprintf("run %s, worker %d of %d: %s", w.Place.Run, w.Place.Index+1, w.Place.Of, came))
	return nil
}
