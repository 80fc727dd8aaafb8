package labtest

import (
	"os"
	"testing"
)

// TierEnv says in the environment of tests how much of them is wanted: "all" by make
// test-all, otherwise the small tier.
const TierEnv = "PERFBENCH_TESTS"

// LeftTo begins the reason of a skip by [Full]; command testlab counts those.
const LeftTo = "LEFT TO make test-all: "

// Full leaves the rest of a test to make test-all. The small tier, which is make test and
// plain go test, has one whole run of each profile on each server, with a fault or two,
// and everything that needs neither a server nor much time; instead says what it has in
// place of this test.
//
//	labtest.Full(t, "TestStores has one shape on each store")
func Full(t testing.TB, instead string) {
	t.Helper()
	if os.Getenv(TierEnv) != "all" {
		t.Skip(LeftTo + instead)
	}
}
