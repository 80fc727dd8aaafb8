package telemetry

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// counting is a receiver and what is pushed to it.
type counting struct{ pushed, ended atomic.Int32 }

func (c *counting) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	return make([]metricdata.ScopeMetrics, 1), nil
}

func (c *counting) Export(ctx context.Context, _ *metricdata.ResourceMetrics) error {
	c.pushed.Add(1)
	return ctx.Err()
}

func (c *counting) Shutdown(context.Context) error {
	c.ended.Add(1)
	return nil
}

// Figures are pushed at every interval, whether or not the command was told to stop, and
// once more at the end.
func TestFiguresArePushedUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		to := &counting{}
		p := &pusher{from: to, by: to}
		p.start(ctx)
		time.Sleep(2*Interval + time.Second)
		synctest.Wait()
		assert.EqualValues(t, 2, to.pushed.Load())
		cancel()
		time.Sleep(Interval)
		synctest.Wait()
		assert.EqualValues(t, 3, to.pushed.Load())
		assert.Empty(t, p.close())
		assert.EqualValues(t, 4, to.pushed.Load())
		assert.EqualValues(t, 1, to.ended.Load())
	})
}
