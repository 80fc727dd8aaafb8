package remote

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// Certificates, keys and tokens that have no end are read up to the limit of what they are.
func TestFilesHaveLimits(t *testing.T) {
	const endless = "/dev/zero"
	for what, read := range map[string]func() error{
		"a file of certificates": func() error { _, err := ReadAuthorities(endless); return err },
		"certificates may":       func() error { _, err := ReadIdentity(endless, endless); return err },
		"a file with a secret":   func() error { _, err := ReadToken(endless); return err },
		"with a secret may":      func() error { _, err := ReadKey(endless); return err },
	} {
		err := read()
		require.ErrorContains(t, err, "/dev/zero is larger than")
		require.ErrorContains(t, err, what)
		require.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}
