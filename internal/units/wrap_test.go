package units

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Lines break between words, and neither at hyphens nor between a number and its unit.
func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"see 20261123-181300-redis-ingestion": "see|20261123-181300-redis-ingestion",
		"give --repeat 3 or --warm-up":        "give --repeat|3 or --warm-up",
		"it takes just 12 ms":                 "it takes just|12 ms",
		"a tail of 99.9 %, twice":             "a tail of|99.9 %, twice",
		"two\nlines":                          "two|lines",
		"":                                    "",
		"  blanks   are one  ":                "blanks are one",
	} {
		assert.Equal(t, want, strings.Join(Wrap(text, 14), "|"))
	}
}
