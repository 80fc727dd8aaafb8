// Package place decides whose data is whose. It claims the spaces that a run is
// going to use: it looks at what is there, refuses what others have made, takes the
// lease of the namespace so that nobody else writes or deletes there meanwhile,
// writes the record of what is ours before the first write, and is the only one that
// drops anything. docs/data.md tells it to users.
package place

import (
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

// Want says which spaces a run is going to use.
type Want struct {
	Namespace string
	// Profile and Run tell in the records who made what.
	Profile, Run string
	Spaces       []Space
	// Allow permits writing into what others have made.
	Allow bool
	// Admit is shown what was found before anything is written, and may refuse it,
	// change what is to be recorded, or leave spaces alone. It may be called again when
	// somebody else has changed something meanwhile. Nil admits everything.
	Admit func(ctx context.Context, c *Claim) error
}

// Space is one space of a run.
type Space struct {
	store.Space
	// Parts is what a space of shape Keys consists of; see store.Made. It names all that
	// any version or mode of the profile makes under this space.
	Parts []string
	// Tables says, on a store of tables, what those must have that others may have made:
	// by part, "" the table of the space itself. A map needs none.
	Tables map[string]store.Table
	// Params is what a later run must know to recognise the data.
	Params map[string]string
	// Reads says that the run does not write there: it does not matter whose data these
	// are, and they are neither recorded nor dropped.
	Reads bool
	// Counted says that the run must know how much is there already.
	Counted bool
	// From tells in refusals who asks for it, "" nobody: "g.properties:4: operation put1".
	From string
	// Kind is what a store that tells of its structures must call this one, "" anything.
	Kind string
}

// State is whose a space is.
type State uint8

// States of a space.
const (
	// Fresh: there is nothing. What this run makes there is its own to remove.
	Fresh State = iota
	// Ours: an earlier run has made it.
	Ours
	// Shared: others have made it, and it was allowed to write there. It is never dropped.
	Shared
)

// Spot is what was found of one space.
type Spot struct {
	Space
	State State
	Found store.Found
	// Recorded says that an earlier run has written the space down, also if nothing is
	// left of it, and Earlier is what it wrote.
	Recorded bool
	Earlier  store.Made

	misfits []store.Misfit // of tables that others have made
	gone    bool           // dropped by the claim, with its record
}

// Claim is a hold on the spaces of a run. Its methods may be called from any
// goroutine.
type Claim struct {
	conn store.Conn
	keep store.Keeper
	want Want

	mu    sync.Mutex
	made  []store.Made
	spots []*Spot
	// written says that the records are; what changes from then on is written at once.
	written bool

	lease *lease // nil: nothing is written
	held  *Held  // by a process that has died; nil: the spaces are looked at
}

// tries is how often a claim begins anew when somebody else comes between.
const tries = 5

// Take claims spaces in the store of conn. What others have made is refused with the
// code of bad input and before anything is made. The claim must be released.
func Take(ctx context.Context, conn store.Conn, w Want) (*Claim, error) {
	keep, err := store.As[store.Keeper](conn)
	if err != nil {
		return nil, fault.Store(fmt.Errorf("%s: %w", w.Profile, err), "use redis:// or embedded:")
	}
	c := &Claim{conn: conn, keep: keep, want: w}
	for range tries {
		if err := c.look(ctx); err != nil {
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
	return nil, fault.Input(fmt.Errorf("%s is being changed by others all the time", c.name()), "use another --namespace")
}

// seize takes the lease and writes the records. It is not done when there are other
// records by then than at the time of the look: somebody came and went.
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
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.spots {
		if s.Reads {
			continue
		}
		if err := c.keep.Record(ctx, c.record(s)); err != nil {
			_ = c.drop(context.WithoutCancel(ctx), c.spots[:i+1]) // what is left is listed
			return false, fault.Code(err, fault.CodeStore)
		}
	}
	c.written = true
	return true, nil
}

// look finds out whose the spaces are, and has them admitted. It changes nothing.
func (c *Claim) look(ctx context.Context) error {
	made, err := c.before(ctx)
	if err != nil {
		return c.explain(ctx, err)
	}
	c.mu.Lock()
	c.made, c.spots = made, nil
	c.mu.Unlock()
	var refused []error
	for _, sp := range c.want.Spaces {
		s, err := c.spot(ctx, sp)
		if err != nil {
			return c.explain(ctx, err)
		}
		if err := c.admissible(s); err != nil {
			refused = append(refused, err)
		}
		c.mu.Lock()
		c.spots = append(c.spots, s)
		c.mu.Unlock()
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

// before is what was recorded before the run.
func (c *Claim) before(ctx context.Context) ([]store.Made, error) {
	if c.held != nil {
		return c.held.Made, nil
	}
	return c.keep.Made(ctx, c.want.Namespace)
}

// spot looks at one space.
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
		parts = nil // an older version's: what it found is what it made
	case s.Recorded:
		parts = union(s.Earlier.Parts, sp.Parts)
	}
	look := c.keep.Inspect
	if p, ok := c.keep.(store.Peeker); ok && s.Recorded && !s.Earlier.Shared && !sp.Counted {
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

// whose decides whose a space is, by what is there and what is recorded.
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

// foreign are the parts of a space that are there and that no record names.
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

// kinds are the words for structures of stores that tell them apart.
var kinds = []string{"string", "list", "set", "zset", "hash", "stream"}

// admissible refuses a space that is not ours to write into.
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

// wrong says what is wrong with a space, and what to do about it; "" nothing.
func (c *Claim) wrong(s *Spot) (what, hint string) {
	name := Name(s.Space.Space)
	if s.Found.Exists && s.Kind != "" && s.Found.Kind != s.Kind && slices.Contains(kinds, s.Found.Kind) {
		return fmt.Sprintf("%s is there and is a %s, not a %s", name, s.Found.Kind, s.Kind), "use another --namespace, or delete it yourself"
	}
	if why := s.misfit(); why != "" {
		return why, "use another --namespace; a table of others is never altered"
	}
	hint = "use another --namespace, or --allow-existing to write into it"
	foreign := s.foreign()
	switch {
	case s.Reads, c.want.Allow:
		return "", ""
	case len(s.Found.Strangers) > 0:
		return fmt.Sprintf("%s is there, where this run keeps its data (%s:), and was not made by perfbench", s.Found.Strangers[0], name), hint
	case s.State != Shared || s.Recorded && s.Earlier.Shared:
		return "", ""
	case len(foreign) > 0:
		return fmt.Sprintf("%s is there and was not made by perfbench", foreign[0]), hint
	case s.Found.Size > 0:
		return fmt.Sprintf("%s is there with %d entries and was not made by perfbench", name, s.Found.Size), hint
	}
	return name + " is there and was not made by perfbench", hint
}

// Name is a space as its user knows it: "perfbench:eligibility".
func Name(s store.Space) string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + ":" + s.Name
}

// DeleteCommand is the command that deletes what was made under a namespace.
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

func (c *Claim) writes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.spots, func(s *Spot) bool { return !s.Reads })
}

// probe has the store say whether it would take the writes. It knows of maps only.
func (c *Claim) probe(ctx context.Context) error {
	p, ok := c.conn.(store.Prober)
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
			if err := p.Probe(ctx, c.anywhere()); err != nil {
				return fault.Code(err, fault.CodeStore)
			}
		}
	}
	return nil
}

// anywhere is a space of the namespace in which nobody keeps anything.
func (c *Claim) anywhere() store.Space {
	return store.Space{Namespace: c.want.Namespace, Name: "_probe", Shape: store.Map}
}

// explain says why the store could not be asked. A probe knows best.
func (c *Claim) explain(ctx context.Context, err error) error {
	if p, ok := c.conn.(store.Prober); ok && ctx.Err() == nil && fault.CodeOf(err) == fault.CodeOther {
		if why := p.Probe(ctx, c.anywhere()); why != nil {
			return fault.Code(why, fault.CodeStore)
		}
	}
	return fault.Code(err, fault.CodeStore)
}

// record is what is to be written down of a space.
func (c *Claim) record(s *Spot) store.Made {
	parts := s.Parts
	if s.State != Fresh {
		parts = union(s.Earlier.Parts, s.Parts)
	}
	return store.Made{
		Space: s.Space.Space, Profile: c.want.Profile, Run: c.want.Run, Updated: time.Now().UTC().Format(time.RFC3339),
		Params: maps.Clone(s.Params), Shared: s.State == Shared, Parts: slices.Clone(parts),
	}
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// same says whether a record is that of a space.
func same(m store.Made, s store.Space) bool {
	queue := func(s store.Space) bool { return s.Shape == "queue" }
	return m.Namespace == s.Namespace && m.Name == s.Name && m.Grouped == s.Grouped && queue(m.Space) == queue(s)
}
