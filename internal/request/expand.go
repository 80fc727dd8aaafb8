package request

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// variable matches $${, which stands for ${, then ${NAME}, then malformed variables.
var variable = regexp.MustCompile(`\$\$\{|\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$\{[^}]*\}?`)

// plainVariable matches a variable that can be replaced.
var plainVariable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// expand replaces ${NAME} in all texts of a section.
func (s *section) expand(environ []string) error {
	set := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		set[name] = value
	}
	var problems workload.Problems
	for _, words := range []map[string]entry{s.entries, s.set, s.parts} {
		for _, word := range slices.Sorted(maps.Keys(words)) {
			e := words[word]
			before := e.texts
			e.texts = slices.Clone(e.texts)
			for i, text := range e.texts {
				replaced, wrong := replace(text, set)
				for _, err := range wrong {
					problems.Add(fault.Input(fmt.Errorf("%s: %s: %w", e.where, word, err), fault.HintOf(err)))
				}
				if replaced != text {
					e.spelled = before
				}
				e.texts[i] = replaced
			}
			words[word] = e
		}
	}
	return problems.Err()
}

// replace inserts the values of variables into a text. A value is taken literally: a ${
// in it means nothing.
func replace(text string, set map[string]string) (out string, wrong []error) {
	out = variable.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$${" {
			return "${"
		}
		m := plainVariable.FindStringSubmatch(found)
		if m == nil {
			wrong = append(wrong, fault.Hint(fmt.Errorf("%s is not written ${NAME}", found), "write $${ for a literal ${"))
			return found
		}
		value, ok := set[m[1]]
		if !ok {
			hint := "set it, even to nothing"
			if near := fault.Nearest(m[1], slices.Collect(maps.Keys(set))); near != "" {
				hint = "did you mean " + near + "?"
			}
			wrong = append(wrong, fault.Hint(fmt.Errorf("the environment variable %s is not set", m[1]), hint))
		}
		return value
	})
	return out, wrong
}
