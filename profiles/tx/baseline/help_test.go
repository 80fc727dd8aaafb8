package baseline

import (
	"os"
	"testing"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/txtest"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

var mode = txtest.Of(append(Params(), saga.Params()...), Design)

var (
	given = mode.Given
	bound = mode.Bound
	ready = mode.Ready

	inputs = txtest.Inputs
	alone  = txtest.Alone
	open   = profiletest.Open
)
