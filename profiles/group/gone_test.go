package group

import "testing"

// A store that is killed ends a run by count, however much there is left to do.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	caseOf("", nil, "preset", "put", "totalInvocationCount", "10000000").Gone(t)
}
