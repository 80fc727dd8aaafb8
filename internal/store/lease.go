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
	// Holder returns who has it, false if nobody does. It changes nothing.
	Holder(ctx context.Context, namespace string) (Lease, bool, error)
	// Free gives up the lease if it is l, and removes the place where records are kept
	// if there are none left.
	Free(ctx context.Context, namespace string, l Lease) error
}
