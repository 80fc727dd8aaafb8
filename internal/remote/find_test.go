package remote

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// Which of the runs that there are a worker joins: after one of a line the next of that, also
// where others share the NATS; one that stays takes the oldest that needs workers.
func TestAWorkerKnowsWhichRunIsNext(t *testing.T) {
	t.Parallel()
	first := JoinOptions{URL: "nats://x"}
	of := func(p Slot) JoinOptions { return JoinOptions{After: &Worker{Place: p}} }
	line := of(Slot{Run: "a", Coordinator: "1", Line: "l", More: true})
	stay := JoinOptions{Stay: true}
	lineStay, last := line, of(Slot{Run: "a", Coordinator: "1"})
	lineStay.Stay, last.Stay = true, true
	for name, tt := range map[string]struct {
		o    JoinOptions
		all  []offer
		want string
		err  string
	}{
		"the only one":              {first, []offer{{Run: "a"}}, "a", ""},
		"the only one, to hear why": {first, []offer{{Run: "a", Full: true}}, "a", ""},
		"the one that is named":     {JoinOptions{Run: "b"}, []offer{{Run: "a"}, {Run: "b"}}, "b", ""},
		"the one that needs some":   {first, []offer{{Run: "a", Full: true}, {Run: "b"}}, "b", ""},
		"several":                   {first, []offer{{Run: "b"}, {Run: "a"}}, "", "run: there are several at nats://x: a, b"},
		"between two runs":          {first, []offer{{Run: "a", Full: true, Over: true, Line: "l", More: true}}, "", ""},

		"its line goes on":                 {line, []offer{{Run: "a", Full: true, Over: true, Line: "l", More: true}}, "", ""},
		"the next of its line":             {line, []offer{{Run: "b", Line: "l", More: true}, {Run: "0", Shared: true}}, "b", ""},
		"nobody is there":                  {line, nil, "", ""},
		"its line has ended":               {line, []offer{{Run: "a", Full: true, Over: true, Line: "l"}}, "", "no other run follows"},
		"the next did not begin":           {line, []offer{{Run: "b", Over: true, Line: "l"}}, "", "no other run follows"},
		"others took the last place":       {line, []offer{{Run: "b", Full: true, Line: "l"}}, "", "no other run follows"},
		"others took a place":              {line, []offer{{Run: "b", Full: true, Line: "l", More: true}}, "", ""},
		"its run was resumed by itself":    {line, []offer{{Run: "a", Full: true}}, "", "no other run follows"},
		"another line at a shared NATS":    {line, []offer{{Run: "b", Line: "m", Shared: true}}, "", ""},
		"another coordinator in its place": {line, []offer{{Run: "b", Line: "m"}}, "b", ""},

		"stays, the oldest":              {stay, []offer{{Run: "c"}, {Run: "b"}, {Run: "a", Full: true}}, "b", ""},
		"stays, none needs any":          {stay, []offer{{Run: "a", Full: true}}, "", ""},
		"stays, its own is still there":  {last, []offer{{Run: "a", Full: true}}, "", ""},
		"stays, another":                 {last, []offer{{Run: "a", Full: true}, {Run: "b", Shared: true}}, "b", ""},
		"stays, its own did not begin":   {last, []offer{{Run: "a", Coordinator: "1"}}, "", ""},
		"stays, another of the same id":  {last, []offer{{Run: "a", Coordinator: "2"}}, "a", ""},
		"stays, first those of its line": {lineStay, []offer{{Run: "0", Shared: true}, {Run: "a", Full: true, Over: true, Line: "l", More: true}}, "", ""},
		"stays, its line has ended":      {lineStay, []offer{{Run: "0", Shared: true}, {Run: "a", Full: true, Over: true, Line: "l"}}, "0", ""},
	} {
		s := newSeek(tt.o)
		s.open, s.live = true, true
		got, err := s.pick(tt.all)
		assert.Equal(t, tt.want, got, name)
		if tt.err == "" {
			require.NoError(t, err, name)
			continue
		}
		assert.EqualError(t, err, tt.err, name)
	}
}

// Workers of a run that has ended wait for the next of its line, and are told when there is
// none; who joins then waits for it, too.
func TestAWorkerWaitsForTheNextRunUntilItIsToldThatThereIsNone(t *testing.T) {
	t.Parallel()
	k := &taken{}
	c := open(t, Options{Workers: 1, Line: "l", More: true, Received: k.take})
	w, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Version: "1"})
	require.NoError(t, err)
	assert.True(t, w.Place.More)
	w.Outbox.Report(Report{Over: true})
	<-c.Progress.Over(-1)
	require.NoError(t, w.Leave(t.Context()))
	c.Hold()
	ended := make(chan error)
	go func() {
		_, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Version: "1", After: w, Patience: DefaultAbsence})
		ended <- err
	}()
	c.Dismiss(t.Context(), 1)
	assert.True(t, errors.Is(<-ended, ErrOver))
}

// A coordinator that is not there yet is waited for, however that shows: a service whose pod
// has not started has no address, and one that starts closes connections.
func TestWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"no address":       &net.DNSError{Err: "no such host", Name: "perfbench", IsNotFound: true},
		"closed":           io.EOF,
		"closed half-way":  io.ErrUnexpectedEOF,
		"reset":            &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		"reset, unwrapped": syscall.ECONNRESET,
		"refused":          &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
	} {
		assert.True(t, passes(err), name)
	}
	assert.False(t, passes(nats.ErrAuthorization))
	_, err := Join(t.Context(), JoinOptions{URL: "nats://nobody.invalid:4222", Version: "1", Patience: time.Second})
	require.ErrorContains(t, err, "join nats://nobody.invalid:4222")
	assert.Contains(t, fault.HintOf(err), "wait longer with --wait")
}
