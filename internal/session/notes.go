package session

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
)

// mostNoted is how many notes of the servers are kept: those that took longest.
const mostNoted = 200

// notes keeps what the servers of a store log about themselves during a run, such as
// slow calls.
type notes struct {
	book store.Notebook // nil: they log nothing
	// own is the prefix of this run's keys; empty if unknown.
	own string
	at  store.Bookmark

	// Guarded by the sampler's mu.
	list []verdict.Noted
	more int64
}

// read returns what was noted since the last call, in the words of reports.
func (n *notes) read(ctx context.Context, second int) ([]verdict.Noted, error) {
	if n.book == nil {
		return nil, nil
	}
	list, at, err := n.book.Noted(ctx, n.at)
	if at != nil {
		n.at = at
	}
	var out []verdict.Noted
	for _, x := range list {
		out = append(out, verdict.Noted{
			AtS: second, Node: x.Node, Event: x.Event, Command: x.Command, Key: n.pattern(x.Key),
			ForMs: float64(x.For) / float64(time.Millisecond),
		})
	}
	return out, err
}

// keep adds to the list; when it is full, the shortest are dropped.
func (n *notes) keep(list []verdict.Noted) {
	for _, x := range list {
		if n.list = append(n.list, x); len(n.list) <= mostNoted {
			continue
		}
		least := 0
		for i := range n.list {
			if n.list[i].ForMs < n.list[least].ForMs {
				least = i
			}
		}
		n.list = slices.Delete(n.list, least, least+1)
		n.more++
	}
}

// pattern returns a key of this run with a star for each part that differs between keys
// of a kind. For keys of others, which are not ours to show, it returns "".
func (n *notes) pattern(key string) string {
	rest, own := strings.CutPrefix(key, n.own)
	if !own || n.own == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(n.own)
	for len(rest) > 0 {
		between := strings.IndexFunc(rest, word)
		if between < 0 {
			between = len(rest)
		}
		b.WriteString(rest[:between])
		rest = rest[between:]
		part := rest[:len(rest)-len(strings.TrimLeftFunc(rest, word))]
		rest = rest[len(part):]
		if strings.ContainsFunc(part, unicode.IsDigit) {
			part = "*"
		}
		b.WriteString(part)
	}
	return b.String()
}

// word reports whether a letter is not a separator between the parts of a key.
func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
