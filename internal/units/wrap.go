package units

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// unit is a word that stays with the number before it, and what may follow the word.
var unit = regexp.MustCompile(`^(%|[nµm]?s|[KMGT]?i?B(/s)?)[).,;:]*$`)

// Words returns the words of a paragraph, which are what blanks part: names with hyphens, flags
// and paths are whole. A number and its unit are one.
func Words(para string) []string {
	list := strings.FieldsFunc(para, func(r rune) bool { return r != '\u2009' && unicode.IsSpace(r) }) // Whole has thin ones
	out := list[:0]
	for _, word := range list {
		if n := len(out); n > 0 && strings.ContainsAny(out[n-1][len(out[n-1])-1:], "0123456789") && unit.MatchString(word) {
			out[n-1] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

// Wrap breaks text into lines of at most w cells between its Words. One that is wider has a line
// of its own.
func Wrap(text string, w int) []string {
	var out []string
	for para := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range Words(para) {
			switch {
			case line == "":
				line = word
			case ansi.StringWidth(line)+1+ansi.StringWidth(word) > w:
				out, line = append(out, line), word
			default:
				line += " " + word
			}
		}
		out = append(out, line)
	}
	return out
}
