package store

import "context"

// Usage is what the server of a connection has used since it began, as far as that
// is told: a number that is not is below 0.
type Usage struct {
	// CPU is seconds of processor time, Cores how many threads of the server do the
	// work.
	CPU, Cores float64
	// Memory is bytes of data.
	Memory int64
	// Calls is how many calls of applications it has counted, Kind what they are:
	// "scripts", "statements".
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
	// asked for every second. The error says why they tell nothing.
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
