package request

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// A plan of nothing but mistakes names a few of them, and one of more keys than anybody
// writes is refused for that.
func TestManyUnknownKeys(t *testing.T) {
	text := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "key%d: x\n", i)
		}
		return []byte(b.String())
	}
	_, err := Read("p.yaml", text(32), nil)
	require.ErrorContains(t, err, `p.yaml:20:1: a plan has no key "key19"`)
	require.ErrorContains(t, err, "p.yaml: 12 more keys are unknown")
	assert.NotContains(t, err.Error(), "key20")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	_, err = Read("p.yaml", text(32_000), nil)
	require.ErrorContains(t, err, "more than 10000 keys")
	assert.Len(t, fault.Parts(err), 1)
}
