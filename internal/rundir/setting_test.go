package rundir

import (
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
		{"rate", 1234567, "1234567"}, {"rate", 999.96, "1000"}, {"rate", 0, "max"}, {"threads", 0, "0"}, {"payload", 1536.5, "1.5 KiB"}, {"paused", 1, "yes"},
	} {
		assert.Equal(t, c.want, SettingText(c.name, c.v), "%s %v", c.name, c.v)
	}
}
