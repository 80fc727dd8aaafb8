package labtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

func TestNamespacesAreFresh(t *testing.T) {
	first := labtest.Fresh("fresh")
	assert.NotEqual(t, first, labtest.Fresh("fresh"))
	assert.Contains(t, first, "fresh")
}
