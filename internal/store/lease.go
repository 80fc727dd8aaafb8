package store

import (
	"context"
	"time"
)

// Lease says who uses the spaces of a namespace. Two leases are the same when all
// their fields are.
type Lease struct {
	// Run is the id of the run, or what else is done there.
	Run string `json:"run"`
	// Host and PID tell the process, Since when it began (RFC 3339).
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Since string `json:"since"`
	// Machine and Born tell the process from others of that number, where the system
	// has words for it.
	Machine string `json:"machine,omitempty"`
	Born    string `json:"born,omitempty"`
	// Token tells leases of one process apart.
	Token string `json:"token"`
}

// Hold is what came of asking for a lease.
type Hold uint8

// Answers of Leaser.Hold.
const (
	// Denied: somebody else has it.
	Denied Hold = iota
	// Taken: nobody had it, and now it is ours.
	Taken
	// Renewed: it was ours already.
	Renewed
)

// Leaser is implemented by keepers that can see to it that one process at a time
// uses the spaces of a namespace. The store itself decides who that is, in one
// step, and lets a lease lapse that is not renewed.
type Leaser interface {
	// Hold takes the lease of a namespace for so long, or renews it, and tells who
	// has it now.
	Hold(ctx context.Context, namespace string, l Lease, ttl time.Duration) (Lease, Hold, error)
	// Holder tells who has it, false when nobody does. It changes nothing.
	Holder(ctx context.Context, namespace string) (Lease, bool, error)
	// Free gives the lease up if it is l, and removes what is there for records when
	// none is left.
	Free(ctx context.Context, namespace string, l Lease) error
}
