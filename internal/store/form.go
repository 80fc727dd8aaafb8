package store

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Form is a part of a space of shape Keys on a store of keys: which keys belong to it,
// and of what type they are. Records hold its text; see Made.
type Form struct {
	// Kind is the store's word for the type, "hash"; "" for AnyKind, and for a form of an older
	// version, which allows any.
	Kind string

	pattern *regexp.Regexp
	text    string // of an older version: text in which * stands for any text
}

// AnyKind stands in a form for keys of any type.
const AnyKind = "any"

// FormOf returns the text of a form: keys of a type whose rest, after the space's name
// and ":", is the pattern as a whole. Where the pattern has groups, they all take the
// same text.
func FormOf(kind, pattern string) string { return kind + " " + pattern }

// Literal returns the text of the form of a single key.
func Literal(kind, rest string) string { return FormOf(kind, regexp.QuoteMeta(rest)) }

// formKinds are the types that a form may name.
var formKinds = []string{"string", "list", "set", "zset", "hash", "stream"}

// forms keeps what has been parsed: a run uses the same few again and again.
var forms sync.Map

// ParseForm parses the text of a form.
func ParseForm(text string) (Form, error) {
	if f, ok := forms.Load(text); ok {
		return f.(Form), nil
	}
	kind, pattern, ok := strings.Cut(text, " ")
	if !ok || kind != AnyKind && !slices.Contains(formKinds, kind) {
		return Form{text: text}, nil
	}
	p, err := regexp.Compile("^(?s:" + pattern + ")$")
	if err != nil {
		return Form{}, fmt.Errorf("%q is not a form of keys: %w", text, err)
	}
	f := Form{Kind: kind, pattern: p, text: text}
	if kind == AnyKind {
		f.Kind = ""
	}
	forms.Store(text, f)
	return f, nil
}

// Has reports whether a key belongs to the form, by what follows the space's name and
// ":". Its type is another matter.
func (f Form) Has(rest string) bool {
	if f.pattern == nil {
		return like(f.text, rest)
	}
	found := f.pattern.FindStringSubmatch(rest)
	for i := 2; i < len(found); i++ {
		if found[i] != found[1] {
			return false
		}
	}
	return found != nil
}

// Older reports whether the form comes from a version that knew neither types nor
// patterns.
func (f Form) Older() bool { return f.pattern == nil }

// like reports whether a text matches a form of an older version, in which * stands for
// any text.
func like(form, text string) bool {
	pieces := strings.Split(form, "*")
	rest, ok := strings.CutPrefix(text, pieces[0])
	if !ok || len(pieces) == 1 {
		return ok && rest == ""
	}
	last := len(pieces) - 1
	for _, p := range pieces[1:last] {
		at := strings.Index(rest, p)
		if at < 0 {
			return false
		}
		rest = rest[at+len(p):]
	}
	return strings.HasSuffix(rest, pieces[last])
}
