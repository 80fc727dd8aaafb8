package run_test

import (
	"os"
	"testing"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends
