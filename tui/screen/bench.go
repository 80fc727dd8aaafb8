package screen

import (
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// Preset names a set of values and says in one line what it is.
type Preset struct{ Name, Summary string }

// StoreInfo describes one kind of store.
type StoreInfo struct {
	// Driver is the id that bindings name, Title is for people, Example a target.
	Driver, Title, Example string
}

// Pong is a store's answer to a ping.
type Pong struct {
	Info      store.Info
	RoundTrip time.Duration
}
