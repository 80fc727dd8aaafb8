package eventstore

import (
	"os"
	"testing"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) }
