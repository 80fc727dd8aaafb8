package session

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAPasswordIsMaskedWhereItIsAWord(t *testing.T) {
	for _, c := range [][3]string{
		{"test", "auth test failed for u:test@h, test", "auth *** failed for u:***@h, ***"},
		{"test", "the latest tests of testing: test", "the latest tests of testing: ***"},
		{"s3cret!", "dial s3cret!x", "dial ***x"},
		{"päss", "xpäss päss", "xpäss ***"},
		{"abc", "abc", "abc"},
		{"", "as it is", "as it is"},
	} {
		assert.Equal(t, c[2], secret(c[0]).mask(c[1]), c[1])
	}
	assert.EqualError(t, secret("test").hide(errors.New("no user test in the latest")), "no user *** in the latest")
}
