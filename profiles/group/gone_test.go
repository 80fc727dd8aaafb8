package group

import "testing"

// A store that is killed ends a run, however much there is left to do.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	caseOf("", nil, "preset", "put").Gone(t, "totalInvocationCount=10000000")
}
