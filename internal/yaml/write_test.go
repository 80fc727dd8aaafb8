package yaml_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/yaml"
)

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	text := yaml.NewMapping().Put("word", yaml.Word("7")).Put("bare", yaml.Bare("10s")).Maybe("none", nil).Maybe("empty", yaml.NewMapping()).
		PutUnder("# so", "list", yaml.NewList(yaml.Whole(3), yaml.Bare("a: b").Under("# here"))).Bytes("for you\n")
	assert.Equal(t, "# for you\nword: \"7\"\nbare: 10s\n# so\nlist:\n  - 3\n  # here\n  - 'a: b'\n", string(text))
	vs, err := yaml.Values("f.yaml", text, nil)
	require.NoError(t, err)
	assert.Equal(t, "7 10s 3,a: b", vs[0].Text+" "+vs[1].Text+" "+vs[2].Text)
}
