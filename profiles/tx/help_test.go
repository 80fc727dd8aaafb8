package tx

import (
	"os"
	"testing"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/txtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

var mode = txtest.Mode{Params: params(), Plan: Design}

var (
	given = mode.Given
	bound = mode.Bound
	ready = mode.Ready

	inputs = txtest.Inputs
	open   = profiletest.Open
)

// small is 40 groups of 5 members by 4 threads, and 200 profiles.
var small = []string{
	"mode=pbm", "mapNames=eligibility,profile", "memberSetSize=5", "eligibility.totalEntryCount=200", "eligibility.threadCount=4",
	"profile.totalEntryCount=100", "profile.threadCount=3", "payloadSize=100", "batchSize=7",
}
