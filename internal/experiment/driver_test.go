package experiment

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
)

// line is a crew that notes whether its workers are to wait after each run.
type line struct {
	Crew

	follows []bool
}

func (l *line) Follows(another bool) { l.follows = append(l.follows, another) }

// Workers wait after each run but the last of all, however deep the runs are nested.
func TestAnotherRunFollowsUntilTheLastOfAll(t *testing.T) {
	l := &line{}
	d := NewDriver(nil, l)
	turns := func(n int) { d.Each(t.Context(), n, func(int) bool { return true }) }
	turns(3)
	assert.Equal(t, []bool{true, true, false}, l.follows)

	l.follows = nil
	begun := d.Each(t.Context(), 3, func(i int) bool {
		turns([]int{2, 0, 2}[i])
		return true
	})
	assert.Equal(t, 3, begun)
	assert.Equal(t, []bool{true, true, true, true, false, true, false}, l.follows)
}

func TestEachEndsEarly(t *testing.T) {
	d := NewDriver(nil, &line{})
	assert.Equal(t, 2, d.Each(t.Context(), 5, func(i int) bool { return i < 1 }))
	ctx, cancel := context.WithCancel(t.Context())
	assert.Equal(t, 1, d.Each(ctx, 5, func(int) bool { cancel(); return true }))
	assert.Zero(t, d.Each(ctx, 5, func(int) bool { return true }))
}

// What ends a series, and with which code.
func TestWhatEndsASeries(t *testing.T) {
	of := func(code int) error { return fault.Code(errors.New("failed"), code) }
	for name, tt := range map[string]struct {
		outcomes []error // of runs in turn
		begun    int
		code     int
	}{
		"nothing":                           {[]error{nil, nil, nil}, 3, fault.CodeOK},
		"a missed threshold does not":       {[]error{of(fault.CodeThreshold), nil, nil}, 3, fault.CodeThreshold},
		"a run that failed does":            {[]error{nil, errors.New("failed"), nil}, 2, fault.CodeOther},
		"the code is that of what ended it": {[]error{of(fault.CodeThreshold), of(fault.CodeVerification), nil}, 2, fault.CodeVerification},
	} {
		t.Run(name, func(t *testing.T) {
			begun := 0
			errs := NewDriver(nil, &line{}).turns(t.Context(), Rounds(3, 1, 1), func(_ context.Context, turn Turn) (*session.Concluded, error) {
				begun++
				err := tt.outcomes[turn.Round]
				return &session.Concluded{Err: err}, err
			})
			assert.Equal(t, tt.begun, begun)
			assert.Equal(t, tt.code, fault.CodeOf(worst(errs)))
		})
	}
}

func TestARunWithoutAnOutcomeEndsASeries(t *testing.T) {
	begun := 0
	errs := NewDriver(nil, &line{}).turns(t.Context(), Rounds(3, 1, 1), func(context.Context, Turn) (*session.Concluded, error) {
		begun++
		return nil, fault.Code(errors.New("its folder is gone"), fault.CodeThreshold)
	})
	assert.Equal(t, 1, begun)
	assert.Equal(t, fault.CodeThreshold, fault.CodeOf(worst(errs)))
}

// An interrupt that no run has heard of is told all the same.
func TestAnInterruptBetweenTwoRuns(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	errs := NewDriver(nil, &line{}).turns(ctx, Rounds(3, 1, 1), func(context.Context, Turn) (*session.Concluded, error) {
		interrupt()
		return &session.Concluded{}, nil
	})
	assert.Equal(t, fault.CodeInterrupted, fault.CodeOf(worst(errs)))

	ctx, interrupt = context.WithCancel(t.Context())
	defer interrupt()
	errs = NewDriver(nil, &line{}).turns(ctx, Rounds(3, 1, 1), func(_ context.Context, turn Turn) (*session.Concluded, error) {
		if turn.Round == 2 {
			interrupt()
		}
		return &session.Concluded{}, nil
	})
	assert.NoError(t, worst(errs), "after the last there is nothing to interrupt")
}
