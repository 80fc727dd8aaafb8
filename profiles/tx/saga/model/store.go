package model

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/ownership"
)

// Errors of a store about a saga.
var (
	// ErrTaken means that there already is a transaction with that gid.
	ErrTaken = errors.New("the gid is taken")
	// ErrMoved means that the transaction has a status other than the expected one.
	ErrMoved = errors.New("the transaction has another status by now")
	// ErrNone means that there is no such transaction, or none that is due.
	ErrNone = errors.New("no such transaction")
)

// ErrParticipant is an injected failure of a participant.
var ErrParticipant = errors.New("the participant failed or its reply was lost (errorRate)")

// Reply is a participant's answer to a branch call.
type Reply int

// What a participant may answer.
const (
	ReplyDone      Reply = iota // carried out
	ReplyRefused                // refused, and nothing changed
	ReplyDuplicate              // carried out by an earlier call
	ReplyNothing                // a compensation of what was never done
	ReplyTooLate                // an action whose compensation came first
	ReplyLater                  // in progress, dtm's ONGOING: ask again
)

// stopped reports whether the barrier stopped a call because it had been answered
// before.
func (r Reply) stopped() bool { return r == ReplyDuplicate || r == ReplyTooLate }

// Pending is an entry of the index of unfinished transactions.
type Pending struct {
	Gid string
	Due time.Time
}

// Stored is what a store has of one transaction, for the checks.
type Stored struct {
	Gid string
	// Kind is the kind in the record; nil if there is none.
	Kind *Kind
	// Status is what guards compare, Inner what the record itself says; both are empty
	// if there is no such transaction.
	Status, Inner string
	// Rows are the branch rows' statuses, by position, and Fillings the fillings in
	// their payloads; empty if not reported.
	Rows, Fillings []string
	// Ledger holds what participants did, by branch and operation ("01action"). Entries
	// for which nothing was done have no account.
	Ledger map[string]Entry
}

// Of returns the kind of a stored transaction.
func (s *Stored) Of() *Kind {
	if s.Kind == nil {
		return KindSaga
	}
	return s.Kind
}

// Entry is what one call did to an account; frozen is the part of the amount that is
// frozen there.
type Entry struct {
	Transfer
	Frozen int64
	Null   bool
	// Seq says which of a transaction's entries in one ledger came first; 0: unknown.
	// Ledger is the prefix under which it is kept.
	Seq    int64
	Ledger int
}

// Money is the total on a prefix's accounts, and how much of it unfinished transactions
// have taken off (negative) or put on.
type Money struct{ Sum, Flying int64 }

// Records are the transactions in a store. Every modification is atomic.
type Records interface {
	// Save stores a new transaction, or returns ErrTaken.
	Save(ctx context.Context, s *Saga) error
	// Branch stores the row at a position if the stored status is that of s; otherwise
	// it returns ErrMoved. If the store can tell that the row has another outcome, that one
	// stands, and is set in s; dtm's own scripts for Redis cannot, and keep the last.
	Branch(ctx context.Context, s *Saga, pos int) error
	// Change stores the status of s if the stored one is from; otherwise it returns
	// ErrMoved.
	Change(ctx context.Context, s *Saga, from string) error
	// Touch stores when to look at an unfinished transaction next.
	Touch(ctx context.Context, s *Saga) error
	// Load reads a transaction, or returns ErrNone.
	Load(ctx context.Context, shard int, gid string) (*Saga, error)
}

// Phases is what a store does for the kinds of transaction that are prepared before
// they are submitted.
type Phases interface {
	// Register stores the rows of a step if the stored status is that of s; otherwise
	// it returns ErrMoved.
	Register(ctx context.Context, s *Saga, step int) error
	// Recall reads the record or the rows of a transaction and discards them, since a
	// coordinator must read what others prepared.
	Recall(ctx context.Context, s *Saga, rows bool) error
}

// Participants carry out what they are called for, each on its account.
type Participants interface {
	// Move makes a participant carry out the row at a position.
	Move(ctx context.Context, s *Saga, pos int) (Reply, error)
	// Carry makes a participant carry out an operation of a step. Asked about a
	// message's local transaction that was not carried out, it refuses.
	Carry(ctx context.Context, s *Saga, step int, op string) (Reply, error)
}

// Index lists unfinished transactions.
type Index interface {
	// Lock leases, until the given time, the transaction that has been due longest, or
	// returns ErrNone.
	Lock(ctx context.Context, shard int, now, until time.Time) (string, error)
	// Unfinished lists all of them.
	Unfinished(ctx context.Context, shard int) ([]Pending, error)
}

// Audit reads everything back.
type Audit interface {
	// Read reads transactions of one shard for checks.
	Read(ctx context.Context, shard int, gids []string) ([]Stored, error)
	// Balances calls f with every account, its balance, and the amount frozen in
	// addition.
	Balances(ctx context.Context, f func(account, balance, frozen int64)) error
	// Money returns the totals at one moment, one value for each shard.
	Money(ctx context.Context) ([]Money, error)
}

// Upkeep creates and removes what transactions need.
type Upkeep interface {
	// Prepare creates missing accounts.
	Prepare(ctx context.Context, progress func(done, total int64)) error
	// Sweep removes finished transactions that are past their retention time, if the
	// store does not do so by itself, and returns how many.
	Sweep(ctx context.Context, now time.Time) (int64, error)
}

// Session is the state that a store keeps for one client between calls.
type Session interface {
	// Undone returns how long each attempt took that the database rolled back because
	// of others since the last call.
	Undone() []time.Duration
	// Detach leaves branches that are still prepared to whoever takes up their
	// transaction.
	Detach()
}

// Store is a store of transactions as one client sees it, including the accounts of its
// participants. Its first three parts and the session belong to one goroutine; several
// goroutines may use the others. Session is nil if there is no state.
type Store struct {
	Records
	Phases
	Participants
	Index
	Audit
	Upkeep
	Session Session
}

// Undone returns what the database has rolled back since the last call.
func (s *Store) Undone() []time.Duration {
	if s.Session == nil {
		return nil
	}
	return s.Session.Undone()
}

// Places are the tables of transactions, in a store that has tables.
type Places interface {
	// Spaces lists the tables, each as a space.
	Spaces(params map[string]string) []ownership.Space
	// Check checks, before anything is created, whether existing tables are suitable.
	Check(ctx context.Context, c *ownership.Claim) error
	// Create creates missing tables.
	Create(ctx context.Context) error
}

// Adapter is a store of transactions as a run sees it. Several goroutines may use it.
type Adapter struct {
	// Open returns the store for one client.
	Open func() Store
	// Price says how many calls the store counts for each kind of ours.
	Price Price
	// Places are its tables; nil if it keeps keys.
	Places Places
	// Noticed returns what the store noticed but clients did not; may be nil.
	Noticed func() Noticed
	// Cleanup removes what it made outside its spaces; may be nil.
	Cleanup func(ctx context.Context) error
}

// Noticed is what an SQL store noticed.
type Noticed struct {
	// Beside counts statements outside transactions, Conflicts transactions that the
	// database rolled back and that were repeated, Waited branches that were refused
	// because they waited too long for a lock.
	Beside, Conflicts, Waited int64
	// Repeats means that a call may be counted once more if it conflicts with another.
	Repeats bool
}

// Saw returns what the store has noticed so far.
func (l *Adapter) Saw() Noticed {
	if l.Noticed == nil {
		return Noticed{}
	}
	return l.Noticed()
}
