package saga

import (
	"os"
	"testing"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/profiles/profiletest"
	"github.com/perfbench/perfbench/profiles/tx/txtest"
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
