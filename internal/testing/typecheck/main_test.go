package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOtherSystemsAreChecked(t *testing.T) {
	t.Parallel()
	const folder = "./testdata/elsewhere"
	require.NoError(t, check("linux/arm64", folder))
	err := check("windows/amd64", folder)
	require.ErrorContains(t, err, "windows/amd64: ")
	require.ErrorContains(t, err, "word_windows.go:3:26")
	require.ErrorContains(t, check("plan9/386", folder), "undefined: word")
	require.NoError(t, check("linux/arm64+other", folder))
	require.ErrorContains(t, check("linux/arm64+tagged", folder), "tagged_test.go:7:")
	assert.ErrorContains(t, check("linux/arm64", "./nothing/..."), "./nothing")
	assert.ErrorContains(t, check("linux", folder), `system "linux": it must be OS/ARCH`)
}
