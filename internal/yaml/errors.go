package yaml

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// parserProblems are the beginnings of errors from the library's parser, which counts
// lines from zero; its scanner and its decoder count from one.
var parserProblems = []string{
	"did not find expected <", "did not find expected node content", "did not find expected key", "did not find expected '-' indicator",
	"did not find expected ',' or", "found undefined tag handle", "found duplicate", "found incompatible YAML document",
}

// problem says in one sentence what is wrong with the data of a file that are not valid YAML, given
// the library's error, and on which line the trouble begins, counted from one.
func problem(path string, err error, data []byte) error {
	words := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := yamlLine.FindStringSubmatch(words); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
		words = words[len(m[0]):]
		for _, p := range parserProblems {
			if strings.HasPrefix(words, p) {
				line++
				break
			}
		}
	} else if strings.HasPrefix(words, "unmarshal errors:") {
		return errors.New(path + ": not YAML: " + words) // each with its line
	} else if name, ok := strings.CutPrefix(words, "unknown anchor '"); ok {
		before, _, _ := bytes.Cut(data, []byte("*"+strings.TrimSuffix(name, "' referenced")))
		line = bytes.Count(before, []byte("\n")) + 1
	}
	tab := strings.HasPrefix(words, "found a tab character")
	if tab { // the library names the line on which the text before the tab began
		line += tabbed(data, line)
	}
	if tab || words == "found character that cannot start any token" {
		words += " (YAML is indented by spaces, never by tabs)"
	}
	line = max(min(line, bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n"))+1), 1)
	return errors.New(path + ":" + strconv.Itoa(line) + ": not YAML: " + words)
}

// tabbed returns how many lines after that one the first line follows that is indented by a tab; 0 if
// none does.
func tabbed(data []byte, line int) int {
	lines := bytes.Split(data, []byte("\n"))
	for i, l := range lines[min(line, len(lines)):] {
		if indent := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]; bytes.ContainsRune(indent, '\t') {
			return i + 1
		}
	}
	return 0
}
