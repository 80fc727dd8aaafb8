package telemetry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// counting is a receiver and what is pushed to it.
type counting struct{ pushed, ended int }

func (c *counting) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	return make([]metricdata.ScopeMetrics, 1), nil
}

func (c *counting) Export(ctx context.Context, _ *metricdata.ResourceMetrics) error {
	c.pushed++
	return ctx.Err()
}

func (c *counting) Shutdown(context.Context) error {
	c.ended++
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
		assert.Equal(t, 2, to.pushed)
		cancel()
		time.Sleep(Interval)
		synctest.Wait()
		assert.Equal(t, 3, to.pushed)
		assert.Empty(t, p.close())
		assert.Equal(t, counting{pushed: 4, ended: 1}, *to)
	})
}
