//go:build tagged

package elsewhere

import "testing"

func TestTagged(*testing.T) { nothing() }
