package dashboard

import (
	"cmp"
	"strings"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/tui/widget"
)

// Sought keeps what was typed last into the form of a search, for each profile and target. It belongs to the event loop.
type Sought map[string]find.Asked

// beginning is what the form of a search begins with.
type beginning struct {
	kept Sought
	key  string // of the profile and target
	// usual is what the form has unless something was typed before.
	usual find.Asked
	// advised, if set, is what it has at any rate.
	advised *find.Asked
}

// beginningOf returns what the form begins with for a run with a request: what was typed last for its profile and target,
// else its thresholds, else the usual condition.
func beginningOf(kept Sought, r request.Request) beginning {
	b := beginning{kept: kept, key: r.Profile + "\n" + widget.HideSecrets(cmp.Or(r.Target, widget.DefaultTarget))}
	b.usual = find.Asked{Over: find.OverRate, Within: find.Within}
	for _, text := range r.Thresholds {
		if e, err := condition.ParseThreshold(text); err == nil && e.Time != "" && !e.Abort {
			b.usual.Under = append(b.usual.Under, text)
		}
	}
	if len(b.usual.Under) == 0 {
		b.usual.Under = []string{"p99<10ms"}
	}
	return b
}

// last returns what was typed last.
func (b *beginning) last() find.Asked { return b.kept[b.key].Above(&b.usual) }

// asked returns what the form begins with, and in a sentence that it was typed before, with what it would be otherwise; ""
// where that is the same.
func (b *beginning) asked() (a find.Asked, note string) {
	if b.advised != nil {
		return b.advised.Above(&find.Asked{Within: b.last().Within}), ""
	}
	a = b.last()
	under := strings.Join(b.usual.Under, ", ")
	var other []string
	for _, v := range [][2]string{{strings.Join(a.Under, ", "), under}, {a.Over, b.usual.Over}, {a.Within, b.usual.Within}} {
		if v[0] != v[1] {
			other = append(other, v[1])
		}
	}
	switch {
	case len(other) > 0:
		return a, "As typed last; otherwise " + strings.Join(other, ", ") + "."
	case a.From != "" || a.To != "":
		return a, "As typed last."
	}
	return a, ""
}

// keep keeps what was typed.
func (b *beginning) keep(a find.Asked) {
	if b.kept != nil {
		b.kept[b.key] = a
	}
}
