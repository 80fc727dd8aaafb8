package picker

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
)

func TestDurationsAreTurned(t *testing.T) {
	for _, c := range []struct {
		from string
		by   int
		want string
	}{
		{"", 1, "10s"}, {"", -1, ""}, {"60s", 1, "2m"}, {"60s", -1, "30s"}, {"90s", 1, "2m"}, {"90s", -1, "1m"}, {"1s", -1, ""}, {"0s", 1, "1s"}, {"48h", 1, "48h"}, {"30m", 1, "1h"}, {"odd", 1, "10s"},
	} {
		assert.Equal(t, c.want, nextTime(c.from, c.by, false), "%q %+d", c.from, c.by)
	}
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "duration")
	a.Send(t, "right", "right", "left")
	assert.Equal(t, "10s", rowNamed(t, p, "duration").text)
	a.Send(t, "left", "left", "left", "left")
	assert.Equal(t, "forever", rowNamed(t, p, "duration").text, "as nobody has said how long")
}

func TestAWarmUpIsTurnedToAuto(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	goTo(t, a, p, "warmup")
	var got []string
	for _, key := range []string{"left", "left", "left", "left", "right", "left", "left", "left"} {
		a.Send(t, key)
		got = append(got, rowNamed(t, p, "warmup").text)
	}
	assert.Equal(t, []string{"2s", "1s", "auto", "5s", "10s", "5s", "2s", "1s"}, got, "5s is the default")
	a.Send(t, "left", "right")
	assert.Equal(t, "1s", rowNamed(t, p, "warmup").text)
}

func TestATimetableIsTypedAsAtHasIt(t *testing.T) {
	b := tuitest.NewDemo()
	b.Previewed = func(r request.Request) (*request.Preview, error) {
		if slices.Contains(r.Timetable, "odd") {
			return nil, fault.Field("at", fault.Input(errors.New(`at "odd": has no time and change`), "write it like 10s:threads=32"))
		}
		return &request.Preview{Run: []request.Line{{Name: "at", Text: "30m:batch=400", From: "preset long"}}, Timetable: []string{"at 30m: batch = 400"}}, nil
	}
	a, p := pick(t, b, 120, 40)
	goTo(t, a, p, "at")
	assert.Equal(t, "30m:batch=400", rowNamed(t, p, "at").text, "as the preset has it")
	assert.Contains(t, a.Picture(t), "at 30m: batch = 400")
	a.Send(t, "enter", "ctrl+u")
	a.Type(t, "10s..40s:rate=1000..20000,threads=4..9 ; odd")
	assert.Contains(t, a.Picture(t), `at "odd": has no time and change`, "while it is typed")
	a.Send(t, "enter", "S")
	assert.Empty(t, a.Started())
	goTo(t, a, p, "at")
	a.Send(t, "enter", "backspace", "backspace", "backspace", "enter", "S")
	require.Len(t, a.Started(), 1)
	assert.Equal(t, []string{"10s..40s:rate=1000..20000,threads=4..9"}, a.Started()[0].Timetable)
	goTo(t, a, p, "at")
	a.Send(t, "delete")
	assert.Empty(t, p.drafts.request().Timetable)
}
