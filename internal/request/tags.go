package request

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// longestTag is the length in bytes of the longest value of a tag.
const longestTag = 200

// apart splits a text at its commas if each part is a tag. A word after NAME=VALUE is none: it belongs to the value,
// but for the tag of words.
func apart(text string) []string {
	var out []string
	named := false
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		name, value, is := strings.Cut(part, "=")
		switch {
		case part == "":
			continue
		case is && rundir.IsTagName(strings.TrimSpace(name)):
			named = strings.TrimSpace(name) != rundir.BareTag || len(rundir.BareWords(value)) == 0
		case is, named:
			return []string{text}
		}
		out = append(out, part)
	}
	if len(out) == 0 {
		return []string{text}
	}
	return out
}

// Tags parses tags of the form NAME=VALUE, several of which in one text have commas between them; words alone, of one text or several, are together the value of the tag named tag. Errors have the code of bad input.
func Tags(texts []string) (map[string]string, error) {
	var out map[string]string
	var alone []string
	var all []string
	for _, text := range texts {
		all = append(all, apart(text)...)
	}
	for _, text := range all {
		name, value, ok := strings.Cut(text, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		words := rundir.BareWords(name)
		if ok && name == rundir.BareTag {
			words = rundir.BareWords(value)
		}
		bare := len(words) > 0 && (!ok || name == rundir.BareTag)
		if bare {
			alone = append(alone, words...)
			name, value, ok = rundir.BareTag, strings.Join(alone, " "), true
		}
		_, twice := out[name]
		twice = twice && !(bare && len(alone) > len(words))
		switch {
		case !ok || !rundir.IsTagName(name):
			return nil, fault.Field("tag", fault.Input(fmt.Errorf("tag: %q is not NAME=VALUE", text), "write it like --tag build=1.4.2, several with a comma between; a name is letters, digits, dots, dashes and underscores, a letter first"))
		case value == "" || len(value) > longestTag || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, fault.Field("tag", fault.Input(fmt.Errorf("tag: the value of %s is not one line of 1 to %d bytes", name, longestTag), "write it like --tag build=1.4.2"))
		case twice:
			return nil, fault.Field("tag", fault.Input(fmt.Errorf("tag: %s is given twice", name), "a run has one value for each tag"))
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out, nil
}
