package store

import (
	"context"
	"time"
)

// Lease says who is using the spaces of a namespace. Two leases are the same if all
// their fields are equal.
type Lease struct {
	// Run is the id of the run, or a description of what else is done there.
	Run string `json:"run"`
	// Host and PID identify the process; Since is when it began (RFC 3339).
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Since string `json:"since"`
	// Machine and Born distinguish the process from others with the same number, on
	// systems that make this possible.
	Machine string `json:"machine,omitempty"`
	Born    string `json:"born,omitempty"`
	// Token distinguishes leases of one process.
	Token string `json:"token"`
	// Workers is how many other processes write for the holder; 0: none does. They go on
	// for a while when they have lost it, and WriteUntil, which they set then, is when the last
	// of them ends (RFC 3339).
	Workers    int    `json:"workers,omitempty"`
	WriteUntil string `json:"write_until,omitempty"`
	// Ending means that none of them may write any more.
	Ending bool `json:"ending,omitempty"`
}

// Neighbours is implemented by connections that can tell who else of perfbench uses the
// same servers, under other namespaces, so that their calls are counted with ours. Any
// goroutine may call it.
type Neighbours interface {
	// Neighbours returns the leases that others hold there, and the last of those that were
	// taken there since ours was, though its holder may be gone. It looks through all keys
	// or tables, so it is for moments at which nothing is measured.
	Neighbours(ctx context.Context) ([]Lease, error)
}

// Hold is the outcome of asking for a lease.
type Hold uint8

// Answers of Leaser.Hold.
const (
	// Denied means that somebody else has it.
	Denied Hold = iota
	// Taken means that nobody had it, and now it is ours.
	Taken
	// Renewed means that it was already ours.
	Renewed
)

// Leaser is implemented by keepers that can ensure that only one process at a time uses
// the spaces of a namespace. The store itself decides atomically who that is, and lets
// a lease expire that is not renewed.
type Leaser interface {
	// Hold takes the lease of a namespace for ttl, or renews it, and returns who has it
	// now.
	Hold(ctx context.Context, namespace string, l Lease, ttl time.Duration) (Lease, Hold, error)
	// Swap replaces the lease old by l, which then lasts for ttl. It returns false, and
	// changes nothing, if somebody else has it by now or nobody does. A lease that has
	// expired and that nobody has taken yet may still be replaced.
	Swap(ctx context.Context, namespace string, old, l Lease, ttl time.Duration) (bool, error)
	// Holder returns who has it, false if nobody does. It changes nothing.
	Holder(ctx context.Context, namespace string) (Lease, bool, error)
	// Free gives up the lease if it is l, and removes the place where records are kept
	// if there are none left.
	Free(ctx context.Context, namespace string, l Lease) error
}
