package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// ways are what tasks do with their iterations, each of which must not upset the account of
// their workers' time.
var ways = map[string]func(ctx context.Context, it *workload.Iteration) error{
	"one call": func(ctx context.Context, it *workload.Iteration) error {
		m := it.Begin(0)
		return it.End(m, 1, takes(time.Duration(1+it.Seq%9)*time.Millisecond)(ctx, it))
	},
	"several, with pauses": func(ctx context.Context, it *workload.Iteration) error {
		for op := range workload.Op(3) {
			_ = takes(2*time.Millisecond)(ctx, it)
			m := it.Begin(op % 2)
			_ = it.End(m, 1, takes(3*time.Millisecond)(ctx, it))
		}
		return nil
	},
	"at the same time": func(ctx context.Context, it *workload.Iteration) error {
		a, b, c := it.Begin(0), it.Begin(1), it.Begin(1)
		_ = takes(4*time.Millisecond)(ctx, it)
		_, _, _ = it.End(a, 1, nil), it.End(b, 1, nil), takes(time.Millisecond)(ctx, it)
		return it.End(c, 1, nil)
	},
	"within another": func(ctx context.Context, it *workload.Iteration) error {
		from := it.Now()
		m := it.Begin(1)
		_ = it.End(m, 1, takes(3*time.Millisecond)(ctx, it))
		_ = takes(time.Millisecond)(ctx, it)
		it.Record(0, 1, it.Due(), from, it.Now(), nil)
		return nil
	},
	"recorded alone": func(ctx context.Context, it *workload.Iteration) error {
		from := it.Now()
		_ = takes(3*time.Millisecond)(ctx, it)
		it.Record(0, 1, from, from, it.Now(), nil)
		return nil
	},
	"recorded of others": func(ctx context.Context, it *workload.Iteration) error {
		_ = takes(3*time.Millisecond)(ctx, it)
		now := it.Now()
		it.Record(1, 1, now-int64(20*time.Millisecond), now-int64(20*time.Millisecond), now-int64(5*time.Millisecond), nil)
		it.Record(1, 1, now, now, now+int64(time.Millisecond), nil) // a clock that is ahead
		return nil
	},
	"nothing now and then": func(ctx context.Context, it *workload.Iteration) error {
		_ = takes(2*time.Millisecond)(ctx, it)
		if it.Seq%3 == 0 {
			return nil
		}
		m := it.Begin(0)
		return it.End(m, 1, takes(2*time.Millisecond)(ctx, it))
	},
	"failing": func(ctx context.Context, it *workload.Iteration) error {
		m := it.Begin(0)
		_ = takes(2*time.Millisecond)(ctx, it)
		switch it.Seq % 8 {
		case 1:
			return it.End(m, 0, errTimeout)
		case 3:
			return it.End(m, 0, errGone)
		case 5:
			return it.End(m, 0, errors.New("no"))
		case 7:
			panic("a bug")
		}
		return it.End(m, 1, nil)
	},
	"tried again": func(ctx context.Context, it *workload.Iteration) error {
		var err error
		for try := range int64(3) {
			m := it.Begin(0)
			_ = takes(time.Millisecond)(ctx, it)
			if err = errTimeout; it.Seq%4 >= try {
				err = nil
			}
			if it.End(m, 1, err) == nil {
				break
			}
			_ = takes(time.Duration(try)*time.Millisecond)(ctx, it)
		}
		return err
	},
}

// accounted carries out a plan of one track with changes of threads, rate and pause, and returns
// the accounts of its segments.
func accounted(t *testing.T, s workload.Settings, call func(context.Context, *workload.Iteration) error, change func(*Options)) []measure.Account {
	t.Helper()
	plan := onePhase(6*time.Second, workload.Track{Name: "p", Ops: []string{"call", "more"}, Start: s, NewTask: func(int) (workload.Task, error) {
		return workload.TaskFunc(call), nil
	}})
	r := start(t, plan, func(o *Options) {
		o.Warmup = time.Second
		o.Arrivals, o.Seed = workload.Arrivals{Poisson: true}, 7
		o.Timetable = []At{
			{After: 1500 * time.Millisecond, Track: workload.AllTracks, Knob: knobs[0], Value: 9},
			{After: 3 * time.Second, Track: workload.AllTracks, Knob: knobs[0], Value: 2},
		}
		change(o)
	})
	time.Sleep(4500 * time.Millisecond)
	r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = true; return s })
	time.Sleep(700 * time.Millisecond)
	r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = false; return s })
	var all []measure.Account
	for _, s := range result(t, r).Segments {
		all = append(all, s.Accounts...)
	}
	return all
}

// ratio is how much more time the figures know of than the engine, over all segments.
func ratio(accounts []measure.Account) float64 {
	var worked, figures float64
	for _, a := range accounts {
		worked += a.Worked.Seconds()
		figures += (a.Calls + a.Pauses).Seconds()
	}
	return figures / worked
}

func TestFiguresAgreeWithTheEngine(t *testing.T) {
	for name, call := range ways {
		for _, rate := range []float64{0, 20, 200, 5000} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					all := accounted(t, workload.Settings{Threads: 4, Rate: rate}, call, func(*Options) {})
					require.GreaterOrEqual(t, len(all), 4, "segments")
					for _, a := range all {
						assert.InDelta(t, a.Worked.Seconds(), (a.Calls + a.Pauses).Seconds(), 0.001*a.Calls.Seconds()+1e-6, "rate %g: %+v", rate, a)
					}
				})
			})
		}
	}
}

// breaks is a recorder that counts some calls twice and loses others.
type breaks struct {
	workload.Recorder
	twice, lost float64
	draw        *rand.Rand
}

func (b *breaks) Add(c measure.Call) {
	if b.draw.Float64() >= b.lost {
		b.Recorder.Add(c)
	}
	if b.draw.Float64() < b.twice {
		b.Recorder.Add(c)
	}
}

func TestBrokenFiguresDisagreeWithTheEngine(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for _, c := range []struct {
		name       string
		with       breaks
		fast, want float64
	}{
		{"a fast clock", breaks{}, 1.1, 1.1},
		{"a slow clock", breaks{}, 0.9, 0.9},
		{"calls twice", breaks{twice: 0.1}, 1, 1.1},
		{"lost calls", breaks{lost: 0.1}, 1, 0.9},
	} {
		for name, call := range ways {
			for _, rate := range []float64{0, 200} {
				t.Run(c.name+"/"+name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var seeds atomic.Uint64
						all := accounted(t, workload.Settings{Threads: 4, Rate: rate}, call, func(o *Options) {
							o.binds = func(it *workload.Iteration, now workload.Clock, rec workload.Recorder, base int) {
								broken := c.with
								broken.Recorder, broken.draw = rec, rand.New(rand.NewPCG(seeds.Add(1), 1))
								it.Bind(func() int64 { return int64(c.fast * float64(now())) }, &broken, base)
							}
						})
						assert.InDelta(t, c.want, ratio(all), 0.03, "rate %g", rate)
					})
				})
			}
		}
	}
}
