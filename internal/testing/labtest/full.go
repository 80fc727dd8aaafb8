package labtest

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// TierEnv says in the environment of tests how much of them is wanted: "some" by make test,
// "all" by make test-all, "proofs" by make proofs. Without it, which is plain go test, that is
// what make test has, without whole processes of the program.
const TierEnv = "PERFBENCH_TESTS"

// LeftTo begins the reason of a skip by [Full], and LeftToProofs that of one by [Proof];
// command testlab counts those. LeftToTest begins that of one by [Process].
const (
	LeftToTest   = "LEFT TO make test: "
	LeftTo       = "LEFT TO make test-all: "
	LeftToProofs = "LEFT TO make proofs: "
)

// Full leaves the rest of a test to make test-all. The small tier, which is make test and
// plain go test, has one whole run of each profile on each server, with a fault or two,
// and everything that needs neither a server nor much time; instead says what it has in
// place of this test.
//
//	labtest.Full(t, "TestStores has one shape on each store")
func Full(t testing.TB, instead string) {
	t.Helper()
	if tier := os.Getenv(TierEnv); tier != "all" && tier != "proofs" {
		t.Skip(LeftTo + instead)
	}
}

// Process leaves a test that starts the program as a process to make test, so that go test ./...
// soon ends. A test that is asked for with -run starts it.
func Process(t testing.TB) {
	t.Helper()
	if run := flag.Lookup("test.run"); os.Getenv(TierEnv) == "" && (run == nil || run.Value.String() == "") {
		t.Skip(LeftToTest + "it starts the program as a process")
	}
}

// Proof leaves a test to make proofs, which nothing else runs. Such a test shows by many
// repetitions what one of them can only hint at, 19 of 20 or over twelve seeds, or spends
// minutes on real servers; instead says which test of the other tiers has one instance of the
// same. Its name begins with TestProof, by which make proofs finds it, and it fails otherwise.
func Proof(t testing.TB, instead string) {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestProof") {
		t.Fatalf("make proofs would not find %s: its name should begin with TestProof", t.Name())
	}
	if os.Getenv(TierEnv) != "proofs" {
		t.Skip(LeftToProofs + instead)
	}
}
