package report

import (
	"regexp"
	"strings"
)

// tag is the beginning of a tag or a comment, other than of the line breaks that the
// layout has in the heads of its tables.
var tag = regexp.MustCompile(`<(br/>|[A-Za-z/!?])`)

// harmless takes their effect from tags in the page outside its fenced blocks, which are
// shown as they are: what a run was called, and what a server said, may hold any.
func harmless(text string) string {
	lines, fenced := strings.Split(text, "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced {
			lines[i] = tag.ReplaceAllStringFunc(line, func(s string) string {
				if s == "<br/>" {
					return s
				}
				return "&lt;" + s[1:]
			})
		}
	}
	return strings.Join(lines, "\n")
}
