package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
)

// Ability names something that not every server can do although it speaks the protocol of
// its kind: "scripts", "two-phase".
type Ability string

// The abilities that plans need; drivers have more, which are only told.
const (
	// Scripts are Lua scripts that the server runs.
	Scripts Ability = "scripts"
	// FreeKeys are scripts that use keys which they could not declare beforehand.
	FreeKeys Ability = "free keys"
	// Functions are scripts that the server keeps under a name.
	Functions Ability = "functions"
	// Transactions are several commands carried out as one.
	Transactions Ability = "transactions"
	// Streams are logs with ids that the server gives.
	Streams Ability = "streams"
	// Conditional are writes that the server makes only if a condition holds.
	Conditional Ability = "conditional writes"
	// TwoPhase are transactions that are prepared, and committed later.
	TwoPhase Ability = "two-phase transactions"
)

// Trait is a row of a driver's table of abilities.
type Trait struct {
	// Ability is its name, Title what it is to people: "Lua scripts".
	Ability Ability
	Title   string
	// Without says what is different on a server that lacks it.
	Without string
}

// Fact is what is known of one ability of a store.
type Fact struct {
	Trait
	// Lacks says why the store does not have it: what the server answered; nil: it has it.
	Lacks error
}

// Facts are what is known of the abilities of a store.
type Facts struct {
	// Where names the store in sentences: "redis: localhost:6379".
	Where string
	// All are in the order of the driver's table.
	All []Fact
}

// Factual is implemented by connections whose servers are asked for their abilities. Any
// goroutine may call it.
type Factual interface {
	// Facts returns the abilities of the servers. They are asked once, and not changed by
	// it. An error means that they are not known.
	Facts(ctx context.Context) (Facts, error)
}

// Question is how a server is asked for an ability through a C.
type Question[C any] struct {
	Trait
	// Ask returns why the server lacks it, nil if it has it, an error wrapping ErrUnknown,
	// or ErrPointless.
	Ask func(ctx context.Context, c C) error
}

// ErrUnknown is wrapped by a question's error that does not answer it.
var ErrUnknown = errors.New("not known")

// ErrPointless means that the question does not arise on the server.
var ErrPointless = errors.New("the question does not arise")

// TraitsOf returns the rows of a table of questions.
func TraitsOf[C any](table []Question[C]) []Trait {
	out := make([]Trait, len(table))
	for i, q := range table {
		out[i] = q.Trait
	}
	return out
}

// Asked remembers what a server answered. The zero value has asked nothing.
type Asked struct {
	mu    sync.Mutex
	facts []Fact
}

// Ask asks all questions of a table, or returns what was answered before.
func Ask[C any](ctx context.Context, a *Asked, table []Question[C], c C) ([]Fact, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.facts != nil {
		return a.facts, nil
	}
	var out []Fact
	for _, q := range table {
		switch why := q.Ask(ctx, c); {
		case errors.Is(why, ErrUnknown):
			return nil, fmt.Errorf("ask for %s: %w", q.Title, why)
		case !errors.Is(why, ErrPointless):
			out = append(out, Fact{q.Trait, why})
		}
	}
	a.facts = out
	return out, nil
}

// Need is an ability without which a plan does not work.
type Need struct {
	Ability Ability
	// For is what needs it, Instead what works on a store without it.
	For, Instead string
}

// Lacking returns the sentence about the first need that is not met, with fault.CodeStore
// and the need's advice; nil if all are. An ability that nobody asked for counts as there.
func (f Facts) Lacking(needs []Need) error {
	for _, n := range needs {
		i := slices.IndexFunc(f.All, func(f Fact) bool { return f.Ability == n.Ability && f.Lacks != nil })
		if i >= 0 {
			return fault.Store(fmt.Errorf("%s: %s needs %s, which this server lacks: %w", f.Where, n.For, f.All[i].Title, f.All[i].Lacks), n.Instead)
		}
	}
	return nil
}

// Require asks a connection for what is needed; see Lacking.
func Require(ctx context.Context, c Conn, needs []Need) error {
	f, ok := Has[Factual](c)
	if !ok || len(needs) == 0 {
		return nil
	}
	facts, err := f.Facts(ctx)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	return facts.Lacking(needs)
}
