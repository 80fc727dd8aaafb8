package store

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
)

// Drivers are those that targets may name, in the order to show them.
type Drivers []Driver

// missing says of schemes that are known and that nobody speaks yet what works instead.
var missing = map[string]string{
	"amqp":  brokerHint,
	"amqps": brokerHint,
	"lab":   "start the lab first with  perfbench lab up,  or use embedded:",
}

// A broker is no store.
const brokerHint = "a broker only stands in front of a store: --profile event-store --target embedded: --set via=…"

// ByScheme returns the driver for the targets of a scheme. The error has the code
// of bad input and names what works instead.
func (ds Drivers) ByScheme(scheme string) (Driver, error) {
	for _, d := range ds {
		if slices.Contains(d.Schemes, scheme) {
			return d, nil
		}
	}
	if scheme == "lab" {
		return Driver{}, fault.Input(fmt.Errorf("lab: this target was not resolved to a running server"), missing[scheme])
	}
	if _, known := schemes[scheme]; known {
		return Driver{}, fault.Input(fmt.Errorf("%s: this is not a store that perfbench can speak to", scheme), missing[scheme])
	}
	_, err := ParseTarget(scheme + ":")
	return Driver{}, err
}

// Parse reads a --target and checks its parameters against those of its driver.
// It returns the driver too. Nothing is connected.
func (ds Drivers) Parse(s string) (Target, Driver, error) {
	t, err := ParseTarget(s)
	if err != nil {
		return Target{}, Driver{}, err
	}
	d, err := ds.ByScheme(t.Scheme)
	if err != nil {
		return Target{}, Driver{}, err
	}
	return t, d, CheckParams(t, d.Params)
}

// Open opens a target with its driver. Threads below 1 count as 1, and a nil Log
// discards.
func (ds Drivers) Open(ctx context.Context, t Target, o OpenOptions) (Conn, error) {
	d, err := ds.ByScheme(t.Scheme)
	if err != nil {
		return nil, err
	}
	if err := CheckParams(t, d.Params); err != nil {
		return nil, err
	}
	o.Threads = max(o.Threads, 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return d.Open(ctx, t, o)
}
