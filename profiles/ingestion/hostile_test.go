package ingestion

import (
	"testing"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// A worker that sends what no worker does is named, and neither the store nor the run's other
// figures are blamed.
func TestAWorkerThatSendsGarbage(t *testing.T) {
	t.Parallel()
	smallCase(labtest.Redis(t).URL()).Hostile(t)
}
