package eventstore

import (
	"context"

	"github.com/perfbench/perfbench/internal/broker/amqp"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// maxPendingBytes limits how much unconfirmed data each generator holds.
const maxPendingBytes = 64 << 20

// openVia opens the broker named by the parameter via.
func openVia(ctx context.Context, b *binding) (transport.Transport, error) {
	s := b.s
	return transport.OverAMQP(ctx, s.via, amqp.Options{
		Prefix: s.namespace, Profile: Name, Run: s.runID,
		Lossy: s.Compat, FireAndForget: s.publish == "fireAndForget",
		MaxPending: s.maxTasks, MaxBytes: min(s.maxTaskBytes, maxPendingBytes),
	}, b.clock)
}
