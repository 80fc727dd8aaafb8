package store

import (
	"context"
	"time"
)

// Noted is something that took a server long, as it has written it down itself.
type Noted struct {
	// Node is where the server listens; empty when the store has only one.
	Node string
	// Event is what took long other than a command, in the words of the server: "fork";
	// empty for a command.
	Event string
	// Command is the name of a command, Key the first key that it was for, if any: a secret,
	// unless it is known to be ours. What else went with the command is not told at all.
	Command, Key string
	For          time.Duration
}

// Notebook is implemented by connections whose servers write down what took them long.
// Asking costs each a call or two. Any goroutine may ask.
type Notebook interface {
	// Noted returns what was written down after the place of a bookmark, and the place where
	// that ends. Without a bookmark it returns only where that is now. The error says why
	// nothing is told or, beside a bookmark, why not all of it is.
	Noted(ctx context.Context, from Bookmark) ([]Noted, Bookmark, error)
}

// Bookmark is how far the notes of the servers have been read. It is the driver's own: do
// not write into it.
type Bookmark map[string]int64
