package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/tier"
)

// A page of an hour can be sent by mail.
func TestThePageOfAnHourIsSmall(t *testing.T) {
	tier.Full(t, "TestGolden writes the pages of shorter runs")
	page := printed(t, madeUp(t, 3600), "html")
	assert.Less(t, len(page), 400<<10)
	assert.Greater(t, len(page), 100<<10, "its course is there second by second")
}
