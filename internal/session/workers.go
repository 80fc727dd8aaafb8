package session

import (
	"cmp"
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
)

// moment returns when the run begins: now, or as agreed with the workers.
func (o *Opened) moment(ctx context.Context) (time.Time, error) {
	switch {
	case o.Prepared.restored != nil:
		return o.Prepared.restored.crew.Past.At, nil
	case o.crew == nil:
		return time.Now(), nil
	}
	o.told = true
	return o.crew.Coordinator.Start(ctx)
}

// remote returns who does the work; nil: this process.
func (o *Opened) remote() engine.Remote {
	if o.crew == nil {
		return nil
	}
	return o.crew.Remote()
}

// reportTime is how much longer than an operation a worker's report may take to arrive.
const reportTime = 5 * time.Second

// grace returns how long operations in progress may take once the run ends.
func (o *Opened) grace() time.Duration {
	if o.crew == nil {
		return o.Prepared.Inputs.Drain
	}
	return cmp.Or(o.Prepared.Inputs.Drain, engine.DefaultGrace) + reportTime
}
