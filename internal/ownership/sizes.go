package ownership

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

// Sizes are how large the records of a space are: each is a number of bytes, "512", or what else its
// profile calls a size, "100..2048". With several, some records are as large as one says and some as
// another. The record of a space has them, so that a later run that asks for others does not take what
// is there for that.
type Sizes []string

const (
	paramSizes = "sizes"
	sizesApart = "|"
)

// SizesOf are those that the parameters of a record have; empty: they say nothing.
func SizesOf(params map[string]string) Sizes {
	text := params[paramSizes]
	if text == "" {
		return nil
	}
	return strings.Split(text, sizesApart)
}

// In puts the sizes into the parameters of a record.
func (s Sizes) In(params map[string]string) {
	if len(s) > 0 {
		params[paramSizes] = strings.Join(s, sizesApart)
	}
}

// With returns these and others, each once.
func (s Sizes) With(others ...string) Sizes { return union(s, others) }

// Words are the sizes for people: "512 B and 16 KiB".
func (s Sizes) Words() string {
	var words []string
	for _, one := range s {
		if n, err := strconv.ParseInt(one, 10, 64); err == nil {
			one = units.Size(n)
		} else {
			one += " B"
		}
		words = append(words, one)
	}
	if len(words) == 0 {
		return "a size that nobody has written down"
	}
	return units.Listed(words)
}

// Resized reports whether an earlier run has left records in a space that are not as large as this
// one asks for, where its first size is that of what it loads and the others are those that it
// writes by itself; and how large those are.
func (a *spaces) Resized(s store.Space, asked Sizes) (was Sizes, is bool) {
	spot := a.Spot(s)
	if !spot.Recorded || spot.State == Fresh || len(asked) == 0 {
		return nil, false
	}
	was = SizesOf(spot.Earlier.Params)
	other := func(one string) bool { return !slices.Contains(asked, one) }
	return was, !slices.Contains(was, asked[0]) || slices.ContainsFunc(was, other)
}

// RefuseSize is the refusal of a run that would take records of other sizes for its own. because says
// why it cannot load them again.
func (a *spaces) RefuseSize(s store.Space, asked Sizes, because string) error {
	was, _ := a.Resized(s, asked)
	return fault.Input(fmt.Errorf("%s holds records of %s, which run %s left, and this run asks for %s: %s",
		Name(s), was.Words(), a.Spot(s).Earlier.Run, Sizes(asked[:1]).Words(), because),
		fmt.Sprintf("delete them with  %s,  or use another --namespace", DeleteCommand(s.Namespace)))
}

// Resizing is a space whose records are not as large as a run asks for.
type Resizing struct {
	Space store.Space
	Asked Sizes
}

// MayResize says before a run, of spaces that Resize may be called for, what may be deleted; nil if
// there are none.
func MayResize(names []string) []string {
	const most = 4
	switch n := len(names); {
	case n == 0:
		return nil
	case n > most:
		names = append(slices.Clone(names[:most-1]), fmt.Sprintf("%d others", n-most+1))
	}
	return []string{fmt.Sprintf("earlier %s, if of another size", units.Listed(names))}
}

// Resize deletes what earlier runs have left in spaces where its records are not as large as this run
// asks for, and says so. These must be loaded again. What is shared with others is refused, before
// anything is deleted.
func (c *Claim) Resize(ctx context.Context, spaces []Resizing) error {
	for _, r := range spaces {
		if _, is := c.Resized(r.Space, r.Asked); is && c.Spot(r.Space).State == Shared {
			return c.RefuseSize(r.Space, r.Asked, ErrShared.Error())
		}
	}
	type change struct{ from, to string }
	names := map[change][]string{}
	var old []store.Space
	for _, r := range spaces {
		was, other := c.Resized(r.Space, r.Asked)
		if !other {
			continue
		}
		run := c.Spot(r.Space).Earlier.Run
		old = append(old, r.Space)
		is := change{fmt.Sprintf("which run %s had left with records of %s", run, was.Words()), Sizes(r.Asked[:1]).Words()}
		names[is] = append(names[is], Name(r.Space))
	}
	var notes []string
	for is, of := range names {
		notes = append(notes, fmt.Sprintf("deleted and loaded again with %s: %s, %s", is.to, units.Listed(of), is.from))
	}
	for _, n := range slices.Sorted(slices.Values(notes)) {
		c.Note(n)
	}
	for _, at := range old {
		if err := c.Renew(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// Note tells the user a sentence of what became of the spaces, and keeps it for the reports.
func (c *Claim) Note(sentence string) {
	c.spaces.mu.Lock()
	again := slices.Contains(c.notes, sentence) // a claim may be admitted again
	if !again {
		c.notes = append(c.notes, sentence)
	}
	c.spaces.mu.Unlock()
	if c.want.Say != nil && !again {
		c.want.Say(sentence)
	}
}

// Notes are the sentences of Note.
func (a *spaces) Notes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.notes)
}
