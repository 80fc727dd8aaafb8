package yaml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lib "go.yaml.in/yaml/v3"
)

func TestErrorsOfYAMLNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"a: [":                          "line 1: did not find expected node content",
		"a: 1\nb: [1\n":                 "line 2: did not find expected ',' or ']'",
		"a:\n  b: 1\n c: 2\n":           "line 3: did not find expected key",
		"a:\n  b: {c: 1\nd: 2\n":        "line 2: did not find expected ',' or '}'",
		"a: 1\nb:\n\tc: 3\n":            "line 3: found character that cannot start any token (YAML is indented by spaces, never by tabs)",
		"a: 1\nb: \"open\n":             "line 2: found unexpected end of stream",
		"a: 1\nb: 2\n\tc: 3\n":          "line 3: found a tab character that violates indentation (YAML is indented by spaces, never by tabs)",
		"a: 1\nb: x\n  y\n\tc: 3\n":     "line 4: found a tab character that violates indentation (YAML is indented by spaces, never by tabs)",
		"a: 1\nb: c: 2\n":               "line 2: mapping values are not allowed in this context",
		"a: 1\nb: !x!y 2\n":             "line 2: found undefined tag handle",
		"a: 1\nb: *c\n":                 "line 2: unknown anchor 'c' referenced",
		"a: 1\nb: 2\nc: 3\nd\ne: 5\n":   "line 4: could not find expected ':'",
		"- a\n- b\nc: 1\n":              "line 3: did not find expected '-' indicator",
		"a: 1\nb: \"\\q\"\nc: 1\n":      "line 2: found unknown escape character",
		"a: 1\nb: 2\n- c\n# the last\n": "line 3: did not find expected key",
	} {
		var doc lib.Node
		err := lib.Unmarshal([]byte(text), &doc)
		require.Error(t, err, text)
		assert.EqualError(t, problem(err, []byte(text)), want, text)
	}
}
