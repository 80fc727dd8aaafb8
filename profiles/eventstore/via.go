package eventstore

import (
	"context"

	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// maxPendingBytes bounds what each generator holds that the broker has not
// confirmed.
const maxPendingBytes = 64 << 20

// openVia opens the broker that the parameter via names.
func openVia(ctx context.Context, b *binding) (transport.Transport, error) {
	s := b.s
	return newAMQP(ctx, s.via, amqpOptions{
		Prefix: s.namespace, Run: s.runID, Clock: b.clock,
		Lossy: s.Compat, FireAndForget: s.publish == "fireAndForget",
		MaxPending: s.maxTasks, MaxBytes: min(s.maxTaskBytes, maxPendingBytes),
	})
}
