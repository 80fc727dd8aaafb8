package rundir

import (
	"math"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
)

// TrackOf cuts the name of a setting into its track, which may be empty, and what
// is set.
func TrackOf(name string) (track, base string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// SettingText writes a live setting by its name as people read it: of what has a
// fraction, as a step of a ramp may, four digits, or all before the point.
func SettingText(name string, v float64) string {
	switch base := name[strings.LastIndexByte(name, '.')+1:]; {
	case base == "payload", base == "principal":
		return units.Size(int64(v))
	case base == "rate" && v == 0:
		return "max"
	case base == "paused":
		return map[bool]string{true: "yes", false: "no"}[v != 0]
	}
	if v != math.Trunc(v) && !math.IsInf(v, 0) {
		unit := math.Pow(10, max(3-math.Floor(math.Log10(math.Abs(v))), 0))
		v = math.Round(v*unit) / unit
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
