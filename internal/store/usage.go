package store

import (
	"cmp"
	"context"
	"math"

	"github.com/perfbench/perfbench/internal/watch"
)

// Usage is what the server of a connection has used since it started, as far as it
// reports that: unknown numbers are negative.
type Usage struct {
	// CPU is in seconds of processor time; Cores is how many threads of the server do
	// the work.
	CPU, Cores float64
	// Memory is the size of the data in bytes.
	Memory int64
	// Calls is how many calls of applications it has counted, Kind what they are:
	// "scripts", "statements". Those that the connection itself made to keep the lease
	// and to query the server are left out. Only differences are meaningful.
	Calls int64
	Kind  string
	// Asked is how many requests of any kind it has counted, also those of others and the
	// connection's own.
	Asked int64
	// Received and Sent are in bytes, from the server's point of view.
	Received, Sent int64
	// Here means that it runs on this machine.
	Here bool
}

// Untold returns a usage of which nothing is known.
func Untold() Usage { return Usage{CPU: -1, Memory: -1, Calls: -1, Asked: -1, Received: -1, Sent: -1} }

// Metered is implemented by connections whose server reports what it uses. A query
// costs it a call or two. Any goroutine may call it.
type Metered interface {
	Usage(ctx context.Context) Usage
	// Readings returns what the servers report about themselves at this moment; it is
	// cheap enough to be called every second. The error says why they report nothing
	// or, beside readings, why some are missing.
	Readings(ctx context.Context) ([]Reading, error)
}

// Reading is one number that a server reports about itself.
type Reading struct {
	// Node is the address of the server; empty if the store has only one.
	Node string
	// Name ends in its unit, for a counter in the unit of its growth: "memory_bytes",
	// "commands_per_s", "cpu_cores".
	Name string
	// Value is a current state or, if Sum is set, what has been counted since the
	// server started.
	Value float64
	Sum   bool
}

// Names of readings that tell of a server's process rather than of what it does. Uptime is for how
// many seconds the process has been there; Began is how many records it had of an earlier one when
// it began, where that is known. A server that is still reading its records tells neither.
const (
	Uptime = "uptime_s"
	Began  = "records_at_start"
)

// OfProcess reports whether readings of a name tell of the process of a server.
func OfProcess(name string) bool { return name == Uptime || name == Began }

// CountsRequests reports whether readings of a name count requests of any kind, as Usage.Asked does.
func CountsRequests(name string) bool {
	return name == "commands_per_s" || name == "statements_per_s" || name == "requests_per_s"
}

// BeanReading is a reading that a Java server provides as a management bean.
type BeanReading struct {
	Bean watch.Bean
	Name string
	Sum  bool
	// Scale converts the bean's unit to that of the reading; 0 means 1.
	Scale float64
}

// ReadBeans asks an agent for readings. Those that the server does not have are left
// out.
func ReadBeans(ctx context.Context, a *watch.Agent, list []BeanReading) ([]Reading, error) {
	beans := make([]watch.Bean, len(list))
	for i, r := range list {
		beans[i] = r.Bean
	}
	values, err := a.Sums(ctx, beans)
	if err != nil {
		return nil, err
	}
	var out []Reading
	for i, r := range list {
		if v := values[i]; !math.IsNaN(v) {
			out = append(out, Reading{Name: r.Name, Value: v * cmp.Or(r.Scale, 1), Sum: r.Sum})
		}
	}
	return out, nil
}

// ProcessorBean is the processor time of a Java server.
var ProcessorBean = BeanReading{Bean: watch.Bean{Name: "java.lang:type=OperatingSystem", Attribute: "ProcessCpuTime"}, Name: "cpu_cores", Sum: true, Scale: 1e-9}

// UptimeBean is the age of a Java server.
var UptimeBean = BeanReading{Bean: watch.Bean{Name: "java.lang:type=Runtime", Attribute: "Uptime"}, Name: Uptime, Scale: 1e-3}

// UsageOf computes the usage from readings: processor time, and calls from the reading
// of that name.
func UsageOf(readings []Reading, calls, kind string) Usage {
	u := Untold()
	for _, r := range readings {
		switch r.Name {
		case ProcessorBean.Name:
			u.CPU = max(u.CPU, 0) + r.Value
		case calls:
			u.Calls, u.Kind = max(u.Calls, 0)+int64(r.Value), kind
		}
	}
	return u
}
