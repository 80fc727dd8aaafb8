package yaml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lib "go.yaml.in/yaml/v3"
)

func TestErrorsOfYAMLNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"a: [":                          "1: not YAML: did not find expected node content",
		"a: 1\nb: [1\n":                 "2: not YAML: did not find expected ',' or ']'",
		"a:\n  b: 1\n c: 2\n":           "3: not YAML: did not find expected key",
		"a:\n  b: {c: 1\nd: 2\n":        "2: not YAML: did not find expected ',' or '}'",
		"a: 1\nb:\n\tc: 3\n":            "3: not YAML: found character that cannot start any token (YAML is indented by spaces, never by tabs)",
		"a: 1\nb: \"open\n":             "2: not YAML: found unexpected end of stream",
		"a: 1\nb: 2\n\tc: 3\n":          "3: not YAML: found a tab character that violates indentation (YAML is indented by spaces, never by tabs)",
		"a: 1\nb: x\n  y\n\tc: 3\n":     "4: not YAML: found a tab character that violates indentation (YAML is indented by spaces, never by tabs)",
		"a: 1\nb: c: 2\n":               "2: not YAML: mapping values are not allowed in this context",
		"a: 1\nb: !x!y 2\n":             "2: not YAML: found undefined tag handle",
		"a: 1\nb: *c\n":                 "2: not YAML: unknown anchor 'c' referenced",
		"a: 1\nb: 2\nc: 3\nd\ne: 5\n":   "4: not YAML: could not find expected ':'",
		"- a\n- b\nc: 1\n":              "3: not YAML: did not find expected '-' indicator",
		"a: 1\nb: \"\\q\"\nc: 1\n":      "2: not YAML: found unknown escape character",
		"a: 1\nb: 2\n- c\n# the last\n": "3: not YAML: did not find expected key",
	} {
		var doc lib.Node
		err := lib.Unmarshal([]byte(text), &doc)
		require.Error(t, err, text)
		assert.EqualError(t, problem("f.yaml", err, []byte(text)), "f.yaml:"+want, text)
	}
}
