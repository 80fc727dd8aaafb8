// Package experiment carries out what consists of several runs, whoever asked for it: repeats,
// comparisons in turn, suites and sweeps, over one Driver, and searches, which are one run at
// several levels.
package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/session"
)

// Crew provides the processes that do the work of the runs, the same for all.
type Crew interface {
	// N returns the number of workers; 0: this process does the work.
	N() int
	// Of returns a run with its workers. Errors have the code of bad input.
	Of(p *session.Prepared) (*session.Prepared, error)
	// Follows says, before a run begins, whether workers are to wait for another after it.
	Follows(another bool)
	// Close lets workers go that wait for a run which does not come; the end of ctx cuts
	// that short.
	Close(ctx context.Context)
}

// Driver has several runs done one after the other by the same crew. What it does may
// consist of several itself, as the runs of a suite may. It belongs to one goroutine.
type Driver struct {
	Crew

	env     func() session.Env
	another bool // follows what is being done
}

// NewDriver returns a driver; env says in which surroundings runs are prepared.
func NewDriver(env func() session.Env, crew Crew) *Driver { return &Driver{Crew: crew, env: env} }

// Prepare checks whether a run is possible, and gives it its workers. Errors have the code
// of bad input, all of them joined.
func (d *Driver) Prepare(ctx context.Context, r session.Request) (*session.Prepared, error) {
	p, err := session.Prepare(ctx, d.env(), r)
	if err != nil {
		return nil, err
	}
	return d.Of(p)
}

// Each does n things one after the other, until ctx ends or one of them says that the
// others are not to follow. It returns how many were begun.
func (d *Driver) Each(ctx context.Context, n int, do func(i int) (goOn bool)) (begun int) {
	outer := d.another
	defer func() { d.another = outer }()
	for i := range n {
		if ctx.Err() != nil {
			return i
		}
		d.another = outer || i < n-1
		d.Follows(d.another)
		if !do(i) {
			return i + 1
		}
	}
	return n
}

// Suite does the n runs of a plan file in order, until ctx ends or, with stop, one of them has
// failed: do does one, and says so. It returns how many were begun; the error counts those that
// failed and those that were not begun, and has the code of the worst.
func (d *Driver) Suite(ctx context.Context, n int, stop bool, do func(i int) error) (begun int, err error) {
	var errs []error
	begun = d.Each(ctx, n, func(i int) (goOn bool) {
		err := do(i)
		if err != nil {
			errs = append(errs, err)
		}
		return err == nil || !stop
	})
	left := n - begun
	if len(errs) == 0 && left == 0 {
		return begun, nil
	}
	text := fmt.Sprintf("%d of %d runs failed", len(errs), n)
	if left > 0 {
		text += fmt.Sprintf(", and %d did not start", left)
	}
	return begun, fault.Code(errors.New(text), fault.Worst(errs))
}

// Turn is one run of a series.
type Turn struct {
	// Round and Member say which it is, counted from 0; What says so in a few words.
	Round, Member int
	What          string
	Request       session.Request
	// Find is searched for during the run, which ends with it, and kept in its folder; nil
	// for a run without a search.
	Find *find.Asked
}

// Perform does the run of a turn, with its search, and says how it goes. An error without an outcome means that
// there is none to go by: the run did not start, or what is left of it is gone.
type Perform func(ctx context.Context, t Turn) (*session.Concluded, error)

// turns does a series of runs, and returns what went wrong. A run that fails for any reason but
// a threshold ends the series, as does one without an outcome; so does the end of ctx, which
// is an error between two runs.
func (d *Driver) turns(ctx context.Context, all []Turn, perform Perform) (errs []error) {
	goOn := true
	begun := d.Each(ctx, len(all), func(i int) bool {
		o, err := perform(ctx, all[i])
		errs = append(errs, err)
		goOn = o != nil && !failed(o)
		return goOn
	})
	if goOn && begun < len(all) {
		errs = append(errs, interrupted())
	}
	return errs
}

// interrupted is the error of a series that ended between two of its runs.
func interrupted() error {
	return fault.Code(errors.New("interrupted between two runs"), fault.CodeInterrupted)
}

// failed reports whether the outcome of a run ends its series.
func failed(o *session.Concluded) bool {
	c := o.Code()
	return c != fault.CodeOK && c != fault.CodeThreshold
}

// worst joins the errors of runs, so that the code is that of an error that ended the
// series, or otherwise that of a missed threshold.
func worst(errs []error) error {
	errs = slices.DeleteFunc(errs, func(e error) bool { return e == nil })
	slices.SortStableFunc(errs, func(a, b error) int {
		last := map[bool]int{true: 1}
		return last[fault.CodeOf(a) == fault.CodeThreshold] - last[fault.CodeOf(b) == fault.CodeThreshold]
	})
	for i, err := range errs {
		errs[i] = fault.Code(err, fault.CodeOther)
	}
	return errors.Join(errs...)
}
