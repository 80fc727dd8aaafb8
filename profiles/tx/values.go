package tx

import "github.com/perfbench/perfbench/internal/values"

// designer reads what this profile has and others have not. It belongs to one call
// of Design.
type designer struct {
	*values.Reader
	flavour string // of PadoGrid, for which the file was written
}
