package coordinator

import (
	"errors"
	"sync/atomic"

	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Counts is what happened to the transactions of a Coordinator. Only the Coordinator
// writes it; anybody may read it.
type Counts struct {
	// Retries counts branches that failed, Ongoing those that were not finished yet.
	Retries, Ongoing atomic.Int64
	// Duplicates, Nulls, Refused and TooLate count calls of participants by answer:
	// already carried out, nothing to undo, refused, and already undone.
	Duplicates, Nulls, Refused, TooLate atomic.Int64
	// Moved and Taken count what a store's guards rejected.
	Moved, Taken atomic.Int64
	// LostSubmits counts submits that never arrived, Queries questions about local
	// transactions.
	LostSubmits, Queries atomic.Int64
}

func (n *Counts) note(r model.Reply) {
	switch r {
	case model.ReplyDuplicate:
		n.Duplicates.Add(1)
	case model.ReplyTooLate:
		n.TooLate.Add(1)
	case model.ReplyNothing:
		n.Nulls.Add(1)
	case model.ReplyRefused:
		n.Refused.Add(1)
	}
}

// rejected counts what a store's guards rejected.
func (n *Counts) rejected(err error) {
	switch {
	case errors.Is(err, model.ErrMoved):
		n.Moved.Add(1)
	case errors.Is(err, model.ErrTaken):
		n.Taken.Add(1)
	}
}
