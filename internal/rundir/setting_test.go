package rundir

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A ramp comes to values that nobody has asked for: they have no more digits than tell.
func TestSettingText(t *testing.T) {
	for _, c := range []struct {
		name string
		v    float64
		want string
	}{
		{"rate", 920.8333333333333, "920.8"}, {"feed.rate", 12345.678, "12346"}, {"rate", 2.5, "2.5"}, {"rate", 0.0012345678, "0.001235"},
		{"rate", 1234567, "1234567"}, {"rate", 999.96, "1000"}, {"rate", 0, "unlimited"}, {"threads", 0, "0"}, {"payload", 1536.5, "1.5 KiB"}, {"a.payload", 0, "as planned"}, {"paused", 1, "yes"}, {"arrivals", 1, "even"},
		{"think", 1500, "1.5s"}, {"mix.think", 0.25, "250µs"},
	} {
		assert.Equal(t, c.want, SettingText(c.name, c.v), "%s %v", c.name, c.v)
	}
}

// From what to what a setting went is said with its values in short.
func TestSpanText(t *testing.T) {
	for want, c := range map[string]struct {
		name     string
		from, to float64
	}{
		"8–60": {"threads", 8, 60}, "2k – unlimited": {"rate", 2000, 0}, "2k–12345": {"feed.rate", 2000, 12345}, "1 KiB – 4 KiB": {"payload", 1024, 4096}, "300k": {"rate", 3e5, 3e5},
	} {
		assert.Equal(t, want, SpanText(c.name, c.from, c.to))
	}
}

// What tells segments apart is said of all tracks together where that says it all, and of
// each where tracks differ: no segment is told of by a value that it does not have.
func TestVaried(t *testing.T) {
	one := func(payload float64) map[string]float64 {
		return map[string]float64{"payload": payload, "a.payload": payload, "b.payload": payload, "threads": 8, "a.threads": 4, "b.threads": 4}
	}
	with := func(of map[string]float64, name string, v float64) map[string]float64 {
		if of = maps.Clone(of); v < 0 {
			delete(of, name)
		} else {
			of[name] = v
		}
		return of
	}
	apart := with(with(one(10), "payload", -1), "b.payload", 20)
	for _, c := range []struct {
		name     string
		segments []map[string]float64
		want     []string
	}{
		{"the same on all", []map[string]float64{one(10), one(20)}, []string{"payload"}},
		{"tracks that come apart", []map[string]float64{one(10), apart}, []string{"b.payload"}},
		{"tracks that come together", []map[string]float64{apart, one(20)}, []string{"a.payload"}},
		{"tracks that change places", []map[string]float64{one(10), with(with(one(10), "a.threads", 3), "b.threads", 5)}, []string{"a.threads", "b.threads"}},
		{
			"a total that hides that they do later",
			[]map[string]float64{one(10), with(with(one(10), "a.threads", 5), "threads", 9), with(with(one(10), "b.threads", 5), "threads", 9)},
			[]string{"a.threads", "b.threads"},
		},
		{"a pause", []map[string]float64{one(10), with(one(10), "paused", 1)}, []string{"paused"}},
	} {
		var list []Segment
		for _, s := range c.segments {
			list = append(list, Segment{Settings: s})
		}
		assert.Equal(t, c.want, Varied(list), c.name)
	}
}

// A knob and the parameter that sets it are listed once, as the knob.
func TestAKnobIsGivenOnce(t *testing.T) {
	r := Run{
		Settings:   map[string]float64{"threads": 8, "a.threads": 4, "b.threads": 4, "batch": 10},
		Parameters: map[string]string{"a.threadCount": "4", "b.threadCount": "4", "a.batchSize": "10", "put1.batchSize": "10", "threads": "8", "seed": "1"},
		Origins:    map[string]string{"threads": "default", "a.threads": "default", "b.threads": "default", "batch": "default", "a.batch": "default", "seed": "default"},
		SetBy:      map[string]string{"threads": "threadCount", "batch": "batchSize"},
	}
	assert.Equal(t, []string{"a.threads", "b.threads", "batch", "threads", "put1.batchSize", "seed"}, r.Given(), "what sets the knob of no track is a value of its own")
	r.SetBy = nil
	assert.Len(t, r.Given(), 9, "earlier runs do not say what sets what")
}
