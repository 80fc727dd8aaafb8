package coordinator

import (
	"errors"
	"sync/atomic"

	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Counts is what happened to the transactions of a Coordinator, which alone writes it.
// Anybody may read it.
type Counts struct {
	// Retries and Ongoing are branches that failed, and that were not finished yet.
	Retries, Ongoing atomic.Int64
	// Duplicates, Nulls, Refused and TooLate are calls of participants by their answer:
	// that came before, that had nothing to undo, that were refused, and that came when
	// they had been undone.
	Duplicates, Nulls, Refused, TooLate atomic.Int64
	// Moved and Taken are what a store's guards turned away.
	Moved, Taken atomic.Int64
	// LostSubmits never arrived, Queries asked after a local transaction.
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

// rejected counts what a store's guards turned away.
func (n *Counts) rejected(err error) {
	switch {
	case errors.Is(err, model.ErrMoved):
		n.Moved.Add(1)
	case errors.Is(err, model.ErrTaken):
		n.Taken.Add(1)
	}
}
