package store

import (
	"context"
	"time"
)

// Noted is something that took a server a long time, as logged by the server itself.
type Noted struct {
	// Node is the address of the server; empty if the store has only one.
	Node string
	// Event is what took long if it was not a command, in the words of the server:
	// "fork"; empty for a command.
	Event string
	// Command is the name of a command, Key the first key that it was for, if any. The
	// key is secret unless it is known to be ours. No other argument of the command is
	// reported at all.
	Command, Key string
	For          time.Duration
}

// Notebook is implemented by connections whose servers log what took them long. A query
// costs each server a call or two. Any goroutine may call it.
type Notebook interface {
	// Noted returns what was logged after the position of a bookmark, and the new
	// position. Without a bookmark it returns only the current position. The error says
	// why nothing is reported or, if a bookmark is returned, why something is missing.
	Noted(ctx context.Context, from Bookmark) ([]Noted, Bookmark, error)
}

// Bookmark is how far the logs of the servers have been read. It belongs to the driver:
// do not modify it.
type Bookmark map[string]int64
