package rundir

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// BareTag is the name of the tag of words that have none; its value has all of them.
const BareTag = "tag"

// tagName matches valid names of tags, which need no escaping anywhere.
var tagName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,63}$`)

// IsTagName reports whether a text can be the name of a tag, or a tag that is a word alone.
func IsTagName(text string) bool { return tagName.MatchString(text) }

// BareWords returns the words, with blanks or commas between, of which each is a tag alone; nil if the text is something
// else.
func BareWords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	if slices.ContainsFunc(words, func(w string) bool { return !IsTagName(w) }) {
		return nil
	}
	return words
}

// TagWords returns the tags of a run in order, as they are given: each NAME=VALUE, or a word alone.
func (r *Run) TagWords() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Tags)) {
		words := []string{name + "=" + r.Tags[name]}
		if name == BareTag {
			if bare := BareWords(r.Tags[name]); len(bare) > 0 {
				words = bare
			}
		}
		out = append(out, words...)
	}
	return out
}
