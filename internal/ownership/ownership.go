// Package ownership decides whose data is whose. It claims the spaces that a run is
// going to use: it looks at what is there, refuses what others have made, takes
// the lease of the namespace so that nobody else writes or deletes there in the
// meantime, and records what is ours before the first write. No other package
// drops anything. docs/data.md explains it to users.
package ownership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Want describes the spaces that a run is going to use.
type Want struct {
	Namespace string
	// Profile and Run say in the records who made what.
	Profile, Run string
	Spaces       []Space
	// Workers is how many other processes will write for this one; 0: none will.
	Workers int
	// Say, when set, is called with a sentence for the user: that the claim has to wait, or what
	// became of a space.
	Say func(sentence string)
	// Allow permits writing into what others have made.
	Allow bool
	// Admit is called with what was found before anything is written. It may refuse it,
	// change what is to be recorded, or leave spaces alone. It may be called again if
	// somebody else has changed something in the meantime. Nil admits everything.
	Admit func(ctx context.Context, c *Claim) error
}

// Space is one space of a run.
type Space struct {
	store.Space
	// Parts lists what a space of shape Keys consists of; see store.Made. It names
	// everything that any version or mode of the profile makes under this space.
	Parts []string
	// Tables says, for a store of tables, what tables made by others must have, by
	// part; "" is the table of the space itself. A map needs none.
	Tables map[string]store.Table
	// Params is what a later run must know to recognize the data.
	Params map[string]string
	// Reads means that the run only reads the space: whose data it holds does not
	// matter, and it is neither recorded nor dropped.
	Reads bool
	// Counted means that the run must know how much is there already.
	Counted bool
	// From says in refusals who asked for the space: "g.properties:4: operation
	// put1"; "" means nobody.
	From string
	// Kind is the kind of structure that the space must be, on a store that tells
	// kinds apart; "" allows any.
	Kind string
}

// State is whose a space is.
type State uint8

// States of a space.
const (
	// Fresh means that nothing is there: this run may remove what it makes there.
	Fresh State = iota
	// Ours means that an earlier run made it.
	Ours
	// Shared means that others made it, and writing to it was allowed. It is never
	// dropped.
	Shared
)

// Spot is what was found in one space.
type Spot struct {
	Space
	State State
	Found store.Found
	// Recorded means that an earlier run has recorded the space, even if nothing is
	// left of it. Earlier is that record.
	Recorded bool
	Earlier  store.Made

	misfits []store.Misfit // of tables made by others
	gone    bool           // dropped by the claim, together with its record
}

// Claim holds the spaces of a run in a store: it finds out whose they are, records them, and
// removes them. Its methods may be called from any goroutine.
type Claim struct {
	*lease // nil: nothing will be written
	spaces
	conn store.Conn
	keep store.Keeper
	want Want
	held *Held // found by a process that has died; nil: the spaces are inspected
}

// spaces are what a claim found in those that it wants, and what was recorded before.
type spaces struct {
	mu    sync.Mutex
	made  []store.Made
	spots []*Spot
	// written means that the records have been written; later changes are written
	// at once.
	written bool
	notes   []string
}

// tries is how often a claim is started over when somebody else interferes.
const tries = 5

// Take claims spaces in the store of conn. What others have made is refused, with the
// code of bad input and before anything is created. The claim must be released.
func Take(ctx context.Context, conn store.Conn, w Want) (*Claim, error) {
	keep, err := store.As[store.Keeper](conn)
	if err != nil {
		return nil, fault.Store(fmt.Errorf("%s: %w", w.Profile, err), "use redis:// or embedded:")
	}
	c := &Claim{conn: conn, keep: keep, want: w}
	for range tries {
		if err := c.inspect(ctx); err != nil {
			return nil, c.rather(ctx, err)
		}
		if !c.writes() {
			return c, nil
		}
		switch done, err := c.seize(ctx); {
		case err != nil:
			return nil, err
		case done:
			return c, nil
		}
	}
	return nil, fault.Input(fmt.Errorf("%s is constantly being changed by others", nameOf(c.want.Namespace)), "use another --namespace")
}

// seize takes the lease and writes the records. It returns false if the records
// have changed since they were looked at: somebody came and went.
func (c *Claim) seize(ctx context.Context) (done bool, err error) {
	if err := c.hold(ctx); err != nil {
		return false, c.explain(ctx, err)
	}
	defer func() {
		if !done {
			err = errors.Join(err, c.Release(context.WithoutCancel(ctx)))
		}
	}()
	made, err := c.keep.Made(ctx, c.want.Namespace)
	if err != nil {
		return false, c.explain(ctx, err)
	}
	if !reflect.DeepEqual(made, c.made) {
		return false, nil
	}
	if err := c.probe(ctx); err != nil {
		return false, err
	}
	c.spaces.mu.Lock()
	defer c.spaces.mu.Unlock()
	for i, s := range c.spots {
		if s.Reads {
			continue
		}
		if err := c.keep.Record(ctx, c.record(s)); err != nil {
			_ = c.drop(context.WithoutCancel(ctx), c.spots[:i+1]) // what is left will be listed
			return false, fault.Code(err, fault.CodeStore)
		}
	}
	c.written = true
	return true, nil
}

// inspect finds out whose the spaces are, and asks Admit. It changes nothing.
func (c *Claim) inspect(ctx context.Context) error {
	made, err := c.before(ctx)
	if err != nil {
		return c.explain(ctx, err)
	}
	c.spaces.mu.Lock()
	c.made, c.spots = made, nil
	c.spaces.mu.Unlock()
	var refused []error
	for _, sp := range c.want.Spaces {
		s, err := c.spot(ctx, sp)
		if err != nil {
			return c.explain(ctx, err)
		}
		if err := c.admissible(s); err != nil {
			refused = append(refused, err)
		}
		c.spaces.mu.Lock()
		c.spots = append(c.spots, s)
		c.spaces.mu.Unlock()
	}
	switch {
	case len(refused) == 1:
		return refused[0]
	case len(refused) > 1:
		return fault.Input(errors.Join(refused...), fault.HintOf(refused[0]))
	case c.want.Admit != nil:
		return fault.Code(c.want.Admit(ctx, c), fault.CodeStore)
	}
	return nil
}

// before returns what was recorded before the run.
func (c *Claim) before(ctx context.Context) ([]store.Made, error) {
	if c.held != nil {
		return c.held.Made, nil
	}
	return c.keep.Made(ctx, c.want.Namespace)
}

// spot inspects one space.
func (c *Claim) spot(ctx context.Context, sp Space) (*Spot, error) {
	if c.held != nil {
		return c.held.spot(sp)
	}
	sp.Params = maps.Clone(sp.Params)
	s := &Spot{Space: sp}
	s.Earlier, s.Recorded = c.Earlier(sp.Space)
	parts := sp.Parts
	switch {
	case s.Recorded && len(s.Earlier.Parts) == 0:
		parts = nil // made by an older version: what is found is what it made
	case s.Recorded:
		parts = union(s.Earlier.Parts, sp.Parts)
	}
	look := c.keep.Inspect
	if p, ok := store.Has[store.Peeker](c.conn); ok && s.Recorded && !s.Earlier.Shared && !sp.Counted {
		look = p.Peek
	}
	var err error
	if s.Found, err = look(ctx, sp.Space, parts...); err != nil {
		return nil, fmt.Errorf("look at %s: %w", Name(sp.Space), err)
	}
	s.State = s.whose()
	if err := c.measure(ctx, s); err != nil {
		return nil, fmt.Errorf("look at the columns of %s: %w", Name(sp.Space), err)
	}
	return s, nil
}

// whose decides who owns a space, from what is there and what is recorded.
func (s *Spot) whose() State {
	switch {
	case !s.Found.Exists:
		return Fresh
	case !s.Recorded, s.Earlier.Shared, len(s.foreign()) > 0:
		return Shared
	case s.Found.Size == 0 && s.Shape == store.Map: // a table of ours without rows
		return Fresh
	}
	return Ours
}

// foreign returns the parts of a space that exist but that no record names.
func (s *Spot) foreign() []string {
	if s.Recorded && len(s.Earlier.Parts) == 0 {
		return nil
	}
	var out []string
	for _, p := range s.Found.Parts {
		if !slices.Contains(s.Earlier.Parts, p) {
			out = append(out, p)
		}
	}
	return out
}

// kinds are the names of structures, in stores that tell them apart.
var kinds = []string{"string", "list", "set", "zset", "hash", "stream"}

// admissible returns an error if a space is not ours to write to.
func (c *Claim) admissible(s *Spot) error {
	what, hint := c.wrong(s)
	switch {
	case what == "":
		return nil
	case s.From != "":
		what = s.From + ": " + what
	}
	return fault.Input(errors.New(what), hint)
}

// wrong says what is wrong with a space, and what to do about it; "" if nothing is.
func (c *Claim) wrong(s *Spot) (what, hint string) {
	name := Name(s.Space.Space)
	if s.Found.Exists && s.Kind != "" && s.Found.Kind != s.Kind && slices.Contains(kinds, s.Found.Kind) {
		return fmt.Sprintf("%s already exists and is a %s, not a %s", name, s.Found.Kind, s.Kind), "use another --namespace, or delete it yourself"
	}
	if s.Found.Odd != "" {
		return s.Found.Odd, "use another --namespace, or delete it yourself"
	}
	if why := s.misfit(); why != "" {
		return why, "use another --namespace; perfbench never alters a table that it did not make"
	}
	hint = "use another --namespace, or --allow-existing to write into it"
	foreign := s.foreign()
	switch {
	case s.Reads, c.want.Allow:
		return "", ""
	case len(s.Found.Strangers) > 0:
		return fmt.Sprintf("%s already exists where this run keeps its data (%s:), and was not made by perfbench", s.Found.Strangers[0], name), hint
	case s.State != Shared || s.Recorded && s.Earlier.Shared:
		return "", ""
	case len(foreign) > 0:
		return fmt.Sprintf("%s already exists and was not made by perfbench", cmp.Or(s.Found.Keys[foreign[0]], foreign[0])), hint
	case s.Found.Size == 1:
		return name + " already exists with 1 entry and was not made by perfbench", hint
	case s.Found.Size > 1:
		return fmt.Sprintf("%s already exists with %d entries and was not made by perfbench", name, s.Found.Size), hint
	}
	return name + " already exists and was not made by perfbench", hint
}

// Name returns the name of a space as users know it: "perfbench:eligibility".
func Name(s store.Space) string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + ":" + s.Name
}

// DeleteCommand returns the command that deletes what was made under a namespace.
func DeleteCommand(namespace string) string {
	cmd := "perfbench data delete --target URL"
	switch namespace {
	case "perfbench":
	case "":
		cmd += ` --namespace ""`
	default:
		cmd += " --namespace " + namespace
	}
	return cmd
}

func (a *spaces) writes() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.spots, func(s *Spot) bool { return !s.Reads })
}

// probe asks the store whether it would accept the writes. It covers maps only.
func (c *Claim) probe(ctx context.Context) error {
	p, ok := store.Has[store.Prober](c.conn)
	if !ok {
		return nil
	}
	other := false
	for _, s := range c.spots {
		switch {
		case s.Reads:
		case s.Shape == store.Map:
			if err := p.Probe(ctx, s.Space.Space); err != nil {
				return fault.Code(err, fault.CodeStore)
			}
		case !other:
			other = true
			if err := p.Probe(ctx, anywhere(c.want.Namespace)); err != nil {
				return fault.Code(err, fault.CodeStore)
			}
		}
	}
	return nil
}

// anywhere stands for a namespace, and no space in particular.
func anywhere(namespace string) store.Space {
	return store.Space{Namespace: namespace, Shape: store.Map}
}

// explain says why the store could not be queried. A probe gives the best reason.
func (c *Claim) explain(ctx context.Context, err error) error {
	if p, ok := store.Has[store.Prober](c.conn); ok && ctx.Err() == nil && fault.CodeOf(err) == fault.CodeOther {
		if why := p.Probe(ctx, anywhere(c.want.Namespace)); why != nil {
			return fault.Code(why, fault.CodeStore)
		}
	}
	return fault.Code(err, fault.CodeStore)
}

// record returns what is to be recorded for a space.
func (c *Claim) record(s *Spot) store.Made {
	parts := s.Parts
	switch {
	case s.State == Fresh:
	case s.Recorded && len(s.Earlier.Parts) == 0 && s.Shape != store.Keys: // what an older version made may have any
		parts = nil
	default:
		parts = union(s.Earlier.Parts, s.Parts)
	}
	table := s.Earlier.Table
	if t, ok := s.Tables[""]; ok && s.Shape == store.Keys {
		table = &t
	}
	tables := maps.Clone(s.Earlier.Tables)
	for _, p := range parts {
		if t, ok := s.Tables[p]; ok {
			if tables == nil {
				tables = map[string]store.Table{}
			}
			tables[p] = t
		}
	}
	return store.Made{
		Space: s.Space.Space, Profile: c.want.Profile, Run: c.want.Run, Updated: time.Now().UTC().Format(time.RFC3339),
		Params: maps.Clone(s.Params), Shared: s.State == Shared, Parts: slices.Clone(parts), Table: table, Tables: tables,
	}
}

// same reports whether a record belongs to a space.
func same(m store.Made, s store.Space) bool {
	queue := func(s store.Space) bool { return s.Shape == "queue" }
	return m.Namespace == s.Namespace && m.Name == s.Name && m.Grouped == s.Grouped && queue(m.Space) == queue(s)
}
