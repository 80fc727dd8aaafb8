package request

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/values"
)

func TestFilesMaySetWhatEveryRunHas(t *testing.T) {
	var names []string
	for _, p := range RunParams() {
		names = append(names, p.Name)
	}
	assert.Equal(t, names, values.RunNames)
}
