package store

import (
	"cmp"
	"context"
	"math"

	"github.com/perfbench/perfbench/internal/watch"
)

// Usage is what the server of a connection has used since it began, as far as that
// is told: a number that is not is below 0.
type Usage struct {
	// CPU is seconds of processor time, Cores how many threads of the server do the
	// work.
	CPU, Cores float64
	// Memory is bytes of data.
	Memory int64
	// Calls is how many calls of applications it has counted, Kind what they are:
	// "scripts", "statements". Those that the connection itself made beside them, to keep
	// the lease and to ask what the server tells, are left out: only differences mean
	// something.
	Calls int64
	Kind  string
	// Received and Sent are bytes that it got and gave.
	Received, Sent int64
	// Here says that it runs on this machine.
	Here bool
}

// Untold is a usage of which nothing is told.
func Untold() Usage { return Usage{CPU: -1, Memory: -1, Calls: -1, Received: -1, Sent: -1} }

// Metered is implemented by connections whose server tells what it uses. Asking
// costs it a call or two. Any goroutine may ask.
type Metered interface {
	Usage(ctx context.Context) Usage
	// Readings are what the servers tell of themselves at this moment, cheap enough to be
	// asked for every second. The error says why they tell nothing or, beside readings, why
	// they do not tell all of them.
	Readings(ctx context.Context) ([]Reading, error)
}

// Reading is one number that a server tells of itself.
type Reading struct {
	// Node is where the server listens; empty when the store has only one.
	Node string
	// Name ends in its unit, of a sum in that of its growth: "memory_bytes",
	// "commands_per_s", "cpu_cores".
	Name string
	// Value is a state, or with Sum what has been counted since the server began.
	Value float64
	Sum   bool
}

// BeanReading is a reading that a Java server keeps as a management bean.
type BeanReading struct {
	Bean watch.Bean
	Name string
	Sum  bool
	// Scale is what one unit of the bean is in the reading's; 0: the same.
	Scale float64
}

// ReadBeans asks an agent for readings. What the server has not is left out.
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

// UsageOf is the usage that readings tell of: processor time, and calls of that name.
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
