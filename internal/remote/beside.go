package remote

import (
	"context"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// listen listens to what the coordinator says to this worker.
func (w *Worker) listen() error {
	mine := w.mine(w.on.worker) + "."
	for what, f := range map[string]nats.MsgHandler{
		"clock": func(m *nats.Msg) { _ = m.Respond(strconv.AppendInt(nil, time.Now().UnixNano(), 10)) },
		"start": w.start, "control": w.control,
	} {
		if _, err := w.nc.Subscribe(mine+what, f); err != nil {
			return err
		}
	}
	return w.nc.Flush()
}

// Beside is one more worker in the process of w, of that number, on its connection. It must
// have left before w does.
func (w *Worker) Beside(ctx context.Context, number int) (*Worker, error) {
	b := &Worker{Orders: newOrders(), Place: w.Place, id: w.id, key: w.key, told: w.told, on: w.on, nc: w.nc, js: w.js, beside: true}
	b.Place.Index = number
	if err := b.listen(); err != nil {
		return nil, err
	}
	b.work(ctx)
	return b, nil
}
