package tx

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/place"
)

// Words of a store about a saga.
var (
	// errTaken says that there is a transaction of that gid already.
	errTaken = errors.New("the gid is taken")
	// errMoved says that the transaction has another status than was expected.
	errMoved = errors.New("the transaction has another status by now")
	// errNone says that there is no such transaction, or none that is due.
	errNone = errors.New("no such transaction")
)

// reply is a participant's answer to a branch call.
type reply int

const (
	replyDone reply = iota
	replyRefused
	replyDuplicate
	replyNothing // a compensation of what was never done
	replyTooLate // an action whose compensation came first
	replyLater
)

// stopped says whether the barrier stopped a call: it has been answered before.
func (r reply) stopped() bool { return r == replyDuplicate || r == replyTooLate }

// pending is an entry of the index of unfinished transactions.
type pending struct {
	gid string
	due time.Time
}

// stored is what a store has of one transaction, for the checks.
type stored struct {
	gid string
	// kind is what the record says; nil where there is none.
	kind *kind
	// status is what guards compare, inner what the record itself says; both empty
	// when there is no such transaction.
	status, inner string
	// rows are the branch rows' statuses, by position, and fillings what their payloads
	// carry for their size; none: not told.
	rows, fillings []string
	// ledger holds what participants did, by branch and operation ("01action").
	// Entries of an account that nothing was done to have no account.
	ledger map[string]entry
}

// entry is what one call did to an account, frozen what of that is the amount that
// is frozen on it.
type entry struct {
	transfer
	frozen int64
	null   bool
	// seq tells which of a transaction's entries of one ledger came first; 0: not
	// told. ledger is the prefix that it is kept under.
	seq    int64
	ledger int
}

// money is what a prefix's accounts hold, and how much of it unfinished
// transactions have taken off (negative) or put on.
type money struct{ sum, flying int64 }

// Records are the transactions that a store keeps. What changes one is one atomic
// step.
type Records interface {
	// Save stores a new transaction, or returns errTaken.
	Save(ctx context.Context, s *saga) error
	// Branch stores the row at a position, while the stored status is that of s;
	// else errMoved.
	Branch(ctx context.Context, s *saga, pos int) error
	// Change stores the status of s if the stored one is from; else errMoved.
	Change(ctx context.Context, s *saga, from string) error
	// Touch stores when to look at an unfinished transaction next.
	Touch(ctx context.Context, s *saga) error
	// Load reads a transaction, or returns errNone.
	Load(ctx context.Context, shard int, gid string) (*saga, error)
}

// Phases is what a store does for the kinds of transaction that are prepared before
// they are submitted.
type Phases interface {
	// Register stores the rows of a step, while the stored status is that of s; else
	// errMoved.
	Register(ctx context.Context, s *saga, step int) error
	// Recall reads the record, or the rows, of a transaction and makes nothing of them,
	// as a coordinator reads what it is handed that others prepared.
	Recall(ctx context.Context, s *saga, rows bool) error
}

// Participants carry out what they are called for, each on its account.
type Participants interface {
	// Move has a participant carry out the row at a position.
	Move(ctx context.Context, s *saga, pos int) (reply, error)
	// Carry has a participant carry out an operation of a step. Asked whether a
	// message's local transaction was carried out, one that was not refuses.
	Carry(ctx context.Context, s *saga, step int, op string) (reply, error)
}

// Index lists the transactions that are unfinished.
type Index interface {
	// Lock leases the transaction that is due longest until then, or returns errNone.
	Lock(ctx context.Context, shard int, now, until time.Time) (string, error)
	// Unfinished lists them all.
	Unfinished(ctx context.Context, shard int) ([]pending, error)
}

// Audit reads everything back.
type Audit interface {
	// Read reads transactions of one shard for checks.
	Read(ctx context.Context, shard int, gids []string) ([]stored, error)
	// Balances calls f with every account, and what is frozen on it beside its balance.
	Balances(ctx context.Context, f func(account, balance, frozen int64)) error
	// Money adds everything up at one instant, one value for each shard.
	Money(ctx context.Context) ([]money, error)
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

// sagaStore is a store of transactions as one client sees it, with the accounts of
// its participants beside it. Its first three parts and the session belong to one
// goroutine; several may use the others. Session is nil where nothing is kept.
type sagaStore struct {
	Records
	Phases
	Participants
	Index
	Audit
	Upkeep
	Session Session
}

// Undone is what the database undid since it was last asked.
func (s *sagaStore) undone() []time.Duration {
	if s.Session == nil {
		return nil
	}
	return s.Session.Undone()
}

// Places are the tables of transactions in a store that has tables.
type Places interface {
	// spaces lists them, each a space of its own.
	spaces(params map[string]string) []place.Space
	// look tells, before anything is made, whether those that are there will do.
	look(ctx context.Context, c *place.Claim) error
	// create makes those that are missing.
	create(ctx context.Context) error
}

// sagaLayer is a store of transactions as a run sees it. Several goroutines may use
// it.
type sagaLayer struct {
	// open makes what one client goes through.
	open func() sagaStore
	// price says how many calls the store counts for each kind of ours.
	price price
	// places are its tables; nil: it keeps keys.
	places Places
	// noticed tells what the store saw that clients do not; nil: nothing.
	noticed func() noticed
	// cleanup removes what it made beside its spaces; nil: nothing.
	cleanup func(ctx context.Context) error
}

// noticed is what a SQL store saw.
type noticed struct {
	// beside counts statements beside those of transactions, conflicts transactions
	// that the database undid and that were repeated, waited branches that were refused
	// since what they wanted was locked for too long.
	beside, conflicts, waited int64
	// repeats says that a call may be counted once more when it meets another one.
	repeats bool
}

// saw is what the store noticed so far.
func (l *sagaLayer) saw() noticed {
	if l.noticed == nil {
		return noticed{}
	}
	return l.noticed()
}
