// Package tier says which tests each command has: go test ./..., make test, make test-all and
// make proofs.
package tier

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// Env says in the environment of tests how much of them is wanted: "some" by make test,
// "all" by make test-all, "proofs" by make proofs. Without it, which is plain go test, that is
// what make test has, without what is [Slow].
const Env = "PERFBENCH_TESTS"

// LeftTo begins the reason of a skip by [Full], and LeftToProofs that of one by [Proof];
// command testlab counts those. LeftToTest begins that of one by [Slow].
const (
	LeftToTest   = "LEFT TO make test: "
	LeftTo       = "LEFT TO make test-all: "
	LeftToProofs = "LEFT TO make proofs: "
)

// What may make a test [Slow].
const (
	Processes = "it starts the program as a process"
	Waits     = "it waits for seconds of a real clock"
	Computes  = "it computes for a second"
)

// Full leaves the rest of a test to make test-all. The small tier, which is make test and
// plain go test, has one whole run of each profile on each server, with a fault or two,
// and everything that needs neither a server nor much time; instead says what it has in
// place of this test.
//
//	tier.Full(t, "TestStores has one shape on each store")
func Full(t testing.TB, instead string) {
	t.Helper()
	if tier := os.Getenv(Env); tier != "all" && tier != "proofs" {
		t.Skip(LeftTo + instead)
	}
}

// Slow leaves a test to make test, so that go test ./... soon ends: one that starts the program as
// a process, waits for seconds of a real clock, or computes for about one. A test that is asked
// for with -run is never left; why says what takes it so long.
//
//	tier.Slow(t, tier.Waits)
func Slow(t testing.TB, why string) {
	t.Helper()
	if run := flag.Lookup("test.run"); os.Getenv(Env) == "" && (run == nil || run.Value.String() == "") {
		t.Skip(LeftToTest + why)
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
	if os.Getenv(Env) != "proofs" {
		t.Skip(LeftToProofs + instead)
	}
}
