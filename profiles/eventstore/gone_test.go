package eventstore_test

import "testing"

// A store that is killed ends a run, however much there is left to do: what generators
// cannot hand over any more is not waited for until its retries are exhausted.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	caseOf("", "threads=1", "batch=10", "payload=64").Gone(t, "events=10000000")
}
