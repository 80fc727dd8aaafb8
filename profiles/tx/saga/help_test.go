package saga

import (
	"os"
	"testing"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/txtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

var mode = txtest.Of(Params(), Design)

var (
	given = mode.Given
	apart = mode.Apart
	bound = mode.Bound
	ready = mode.Ready

	inputs   = txtest.Inputs
	alone    = txtest.Alone
	open     = profiletest.Open
	driverOf = txtest.DriverOf
	typedSQL = txtest.TypedSQL
	newRand  = txtest.Rand
)
