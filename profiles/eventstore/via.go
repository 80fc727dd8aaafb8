package eventstore

import (
	"context"
	"errors"

	"github.com/perfbench/perfbench/internal/fault"
)

// openVia opens the broker that the parameter via names.
func openVia(context.Context, *binding) (Transport, error) {
	return nil, fault.Input(errors.New("via: no broker can be used yet"), "use via=direct")
}
