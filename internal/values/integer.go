package values

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Integer reads a whole number or size of a parameter; if it is invalid, it records the
// problem and returns the default.
func (r *Reader) Integer(p workload.Param, v workload.Value) int64 {
	lo, hi := int64(p.Min), int64(p.Max)
	var n int64
	var err error
	switch {
	case FromProperties(v):
		n, err = r.decode(p, v)
	case p.Kind == workload.Size:
		n, err = v.Size(lo, hi)
	default:
		n, err = v.Int(lo, hi)
	}
	r.Problems.Add(err)
	if err != nil {
		n, _ = strconv.ParseInt(p.Default, 10, 64)
	}
	return n
}

// decode parses an integer of a properties file.
func (r *Reader) decode(p workload.Param, v workload.Value) (int64, error) {
	n, err := DecodeInt(v.Text, r.Compat)
	switch {
	case err != nil && r.Compat:
		r.Warn("%s: %s: %q is not an integer as Java reads it: not set, so %s (compat=on)", v.Where, v.Name, v.Text, p.Default)
		return strconv.ParseInt(p.Default, 10, 64)
	case err != nil:
		meant, ok := meantNumber(v.Text)
		if !ok || !r.Lenient {
			return 0, fault.Field(v.Name, fault.Input(fmt.Errorf("%s: %s: %q is not a whole number", v.Where, v.Name, v.Text),
				"PadoGrid would use its default "+p.Default+" silently; so does --set compat=on"))
		}
		r.Warn("%s: %s: %q is read as %d; PadoGrid would use its default %s", v.Where, v.Name, v.Text, meant, p.Default)
		return meant, inRange(p, v, meant)
	}
	if IsOctal(v.Text) {
		r.Warn("%s: %s: %q begins with 0 and so is octal: %d, as Java reads it", v.Where, v.Name, strings.TrimSpace(v.Text), n)
	}
	if t := strings.TrimSpace(v.Text); t != v.Text {
		r.Warn("%s: %s: blanks around %q are dropped; PadoGrid would use its default %s", v.Where, v.Name, t, p.Default)
	}
	return int64(n), inRange(p, v, int64(n))
}

func inRange(p workload.Param, v workload.Value, n int64) error {
	if lo, hi := int64(p.Min), int64(p.Max); n < lo || n > hi {
		return fault.Field(v.Name, fault.Input(fmt.Errorf("%s: %s: %d is not in %d..%d", v.Where, v.Name, n, lo, hi), ""))
	}
	return nil
}

// meantNumber parses numbers that people write but Java does not accept: 1_000, 1e3,
// 10k, 08.
func meantNumber(text string) (int64, bool) {
	n, err := units.ParseWhole(text)
	return n, err == nil
}
