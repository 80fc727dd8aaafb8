package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A preset has groups of its own, and need not be told apart from those that are given.
func TestGroupsAreGivenOneByOne(t *testing.T) {
	t.Parallel()
	plan := doing(t, nil, "run", "--profile", "group", "--dry-run", "--set", "groupNames=a", "--set", "a.operations=b", "--set", "b.map=m", "--set", "b.testCase=put")
	assert.Contains(t, plan, "a: invocation, b with ")
	assert.NotContains(t, plan, "g4.")
	assert.Contains(t, doing(t, nil, "run", "--profile", "group", "--preset", "group", "--dry-run", "--set", "groupNames=g3"), "g3: invocation, get1 with 4 threads, 8000 invocations")
}
