package model

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/place"
)

// Words of a store about a saga.
var (
	// ErrTaken says that there is a transaction of that gid already.
	ErrTaken = errors.New("the gid is taken")
	// ErrMoved says that the transaction has another status than was expected.
	ErrMoved = errors.New("the transaction has another status by now")
	// ErrNone says that there is no such transaction, or none that is due.
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
	ReplyLater                  // under way, as dtm says ONGOING: ask again
)

// stopped says whether the barrier stopped a call: it has been answered before.
func (r Reply) stopped() bool { return r == ReplyDuplicate || r == ReplyTooLate }

// Pending is an entry of the index of unfinished transactions.
type Pending struct {
	Gid string
	Due time.Time
}

// Stored is what a store has of one transaction, for the checks.
type Stored struct {
	Gid string
	// Kind is what the record says; nil where there is none.
	Kind *Kind
	// Status is what guards compare, inner what the record itself says; both empty
	// when there is no such transaction.
	Status, Inner string
	// Rows are the branch rows' statuses, by position, and fillings what their payloads
	// carry for their size; none: not told.
	Rows, Fillings []string
	// Ledger holds what participants did, by branch and operation ("01action").
	// Entries of an account that nothing was done to have no account.
	Ledger map[string]Entry
}

// Of is the kind of a stored transaction.
func (s *Stored) Of() *Kind {
	if s.Kind == nil {
		return KindSaga
	}
	return s.Kind
}

// Entry is what one call did to an account, frozen what of that is the amount that
// is frozen on it.
type Entry struct {
	Transfer
	Frozen int64
	Null   bool
	// Seq tells which of a transaction's entries of one ledger came first; 0: not
	// told. ledger is the prefix that it is kept under.
	Seq    int64
	Ledger int
}

// Money is what a prefix's accounts hold, and how much of it unfinished
// transactions have taken off (negative) or put on.
type Money struct{ Sum, Flying int64 }

// Records are the transactions that a store keeps. What changes one is one atomic
// step.
type Records interface {
	// Save stores a new transaction, or returns ErrTaken.
	Save(ctx context.Context, s *Saga) error
	// Branch stores the row at a position, while the stored status is that of s;
	// else ErrMoved.
	Branch(ctx context.Context, s *Saga, pos int) error
	// Change stores the status of s if the stored one is from; else ErrMoved.
	Change(ctx context.Context, s *Saga, from string) error
	// Touch stores when to look at an unfinished transaction next.
	Touch(ctx context.Context, s *Saga) error
	// Load reads a transaction, or returns ErrNone.
	Load(ctx context.Context, shard int, gid string) (*Saga, error)
}

// Phases is what a store does for the kinds of transaction that are prepared before
// they are submitted.
type Phases interface {
	// Register stores the rows of a step, while the stored status is that of s; else
	// ErrMoved.
	Register(ctx context.Context, s *Saga, step int) error
	// Recall reads the record, or the rows, of a transaction and makes nothing of them,
	// as a coordinator reads what it is handed that others prepared.
	Recall(ctx context.Context, s *Saga, rows bool) error
}

// Participants carry out what they are called for, each on its account.
type Participants interface {
	// Move has a participant carry out the row at a position.
	Move(ctx context.Context, s *Saga, pos int) (Reply, error)
	// Carry has a participant carry out an operation of a step. Asked whether a
	// message's local transaction was carried out, one that was not refuses.
	Carry(ctx context.Context, s *Saga, step int, op string) (Reply, error)
}

// Index lists the transactions that are unfinished.
type Index interface {
	// Lock leases the transaction that is due longest until then, or returns ErrNone.
	Lock(ctx context.Context, shard int, now, until time.Time) (string, error)
	// Unfinished lists them all.
	Unfinished(ctx context.Context, shard int) ([]Pending, error)
}

// Audit reads everything back.
type Audit interface {
	// Read reads transactions of one shard for checks.
	Read(ctx context.Context, shard int, gids []string) ([]Stored, error)
	// Balances calls f with every account, and what is frozen on it beside its balance.
	Balances(ctx context.Context, f func(account, balance, frozen int64)) error
	// Money adds everything up at one instant, one value for each shard.
	Money(ctx context.Context) ([]Money, error)
}

// Upkeep makes and removes what transactions need.
type Upkeep interface {
	// Prepare makes the accounts that are missing.
	Prepare(ctx context.Context, progress func(done, total int64)) error
	// Sweep removes finished transactions that are older than they are kept, where
	// the store does not do so by itself, and tells how many.
	Sweep(ctx context.Context, now time.Time) (int64, error)
}

// Session is what a store keeps for one client from call to call.
type Session interface {
	// Undone tells how long each attempt took that the database undid for the sake of
	// others since it was last asked.
	Undone() []time.Duration
	// Detach leaves the branches that are still prepared to whoever takes their
	// transaction up.
	Detach()
}

// Store is a store of transactions as one client sees it, with the accounts of
// its participants beside it. Its first three parts and the session belong to one
// goroutine; several may use the others. Session is nil where nothing is kept.
type Store struct {
	Records
	Phases
	Participants
	Index
	Audit
	Upkeep
	Session Session
}

// Undone is what the database undid since it was last asked.
func (s *Store) Undone() []time.Duration {
	if s.Session == nil {
		return nil
	}
	return s.Session.Undone()
}

// Places are the tables of transactions in a store that has tables.
type Places interface {
	// Spaces lists them, each a space of its own.
	Spaces(params map[string]string) []place.Space
	// Look tells, before anything is made, whether those that are there will do.
	Look(ctx context.Context, c *place.Claim) error
	// Create makes those that are missing.
	Create(ctx context.Context) error
}

// Layer is a store of transactions as a run sees it. Several goroutines may use
// it.
type Layer struct {
	// Open makes what one client goes through.
	Open func() Store
	// Price says how many calls the store counts for each kind of ours.
	Price Price
	// Places are its tables; nil: it keeps keys.
	Places Places
	// Noticed tells what the store saw that clients do not; nil: nothing.
	Noticed func() Noticed
	// Cleanup removes what it made beside its spaces; nil: nothing.
	Cleanup func(ctx context.Context) error
}

// Noticed is what a SQL store saw.
type Noticed struct {
	// Beside counts statements beside those of transactions, conflicts transactions
	// that the database undid and that were repeated, waited branches that were refused
	// since what they wanted was locked for too long.
	Beside, Conflicts, Waited int64
	// Repeats says that a call may be counted once more when it meets another one.
	Repeats bool
}

// Saw is what the store noticed so far.
func (l *Layer) Saw() Noticed {
	if l.Noticed == nil {
		return Noticed{}
	}
	return l.Noticed()
}
