package screen

import (
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// Preset is the name of a set of values, with a one-line summary.
type Preset struct{ Name, Summary string }

// StoreInfo describes one kind of store.
type StoreInfo struct {
	// Driver is the id that bindings use, Title is for display, Example a target.
	Driver, Title, Example string
}

// Pong is a store's answer to a ping.
type Pong struct {
	Info      store.Info
	RoundTrip time.Duration
}
