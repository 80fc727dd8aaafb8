package telemetry

import (
	"strings"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// endings are the units in which names of samples end, with the base unit that Prometheus
// and OpenTelemetry want in its place, and how many of those one of them is. The first that
// fits counts.
// Source: https://prometheus.io/docs/practices/naming
var endings = []struct {
	unit, base string
	times      float64
}{
	{"_ms_per_s", "_seconds_per_second", 1e-3},
	{"_us_per_s", "_seconds_per_second", 1e-6},
	{"_per_s", "_per_second", 1},
	{"_ms", "_seconds", 1e-3},
	{"_us", "_seconds", 1e-6},
	{"_ns", "_seconds", 1e-9},
	{"_s", "_seconds", 1},
	{"_percent", "_ratio", 1e-2},
	{"_share", "_ratio", 1},
}

// base returns the name and the value of a sample in base units.
func base(name string, v float64) (string, float64) {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(name, e.unit); ok {
			return rest + e.base, v * e.times
		}
	}
	return name, v
}

// plain replaces the characters that the name of a metric must not contain.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// dress gives metrics that a bridge took from Prometheus what OpenTelemetry expects: a
// counter is known by its kind, so its name does not end in total, and each has its unit.
// Source: https://opentelemetry.io/docs/specs/otel/metrics/data-model
func dress(scopes []metricdata.ScopeMetrics) {
	for _, s := range scopes {
		for i := range s.Metrics {
			m := &s.Metrics[i]
			m.Name = strings.TrimSuffix(m.Name, "_total")
			for _, u := range unitCodes {
				if strings.HasSuffix(m.Name, u.ending) {
					m.Unit = u.code
					break
				}
			}
		}
	}
}

// unitCodes are the codes of units by which names end; the first that fits counts.
// Source: https://ucum.org/ucum
var unitCodes = []struct{ ending, code string }{
	{"_seconds_per_second", "s/s"}, {"_bytes_per_second", "By/s"}, {"_units_per_second", "{unit}/s"},
	{"_seconds", "s"}, {"_bytes", "By"}, {"_ratio", "1"}, {"_units", "{unit}"}, {"_calls", "{call}"}, {"_errors", "{call}"}, {"_cores", "{cpu}"},
}
