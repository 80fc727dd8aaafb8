package workbench

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/tui/screen"
)

// pinger asks a target what it is.
type pinger struct{ *surroundings }

// pings is how often the round trip is timed; the shortest counts.
const pings = 5

func (g pinger) Ping(ctx context.Context, target, password string) (screen.Pong, error) {
	conn, err := g.open(ctx, target, password)
	if err != nil {
		return screen.Pong{}, err
	}
	info, err := conn.Info(ctx)
	pong := screen.Pong{Info: info}
	for range pings {
		began := time.Now()
		if keeper, askErr := store.As[store.Keeper](conn); askErr == nil {
			_, askErr = keeper.Inspect(ctx, store.Space{Namespace: "perfbench", Name: "ping", Shape: store.Map})
			err = errors.Join(err, askErr)
		} else {
			_, askErr = conn.Info(ctx)
			err = errors.Join(err, askErr)
		}
		if took := time.Since(began); pong.RoundTrip == 0 || took < pong.RoundTrip {
			pong.RoundTrip = took
		}
	}
	return pong, errors.Join(err, conn.Close())
}

func (g pinger) open(ctx context.Context, target, password string) (store.Conn, error) {
	url := target
	if url == "" {
		url = session.DefaultTarget
	}
	url, err := g.env.Resolve(url)
	if err != nil {
		return nil, err
	}
	t, d, err := drivers.Parse(url)
	if err != nil {
		return nil, err
	}
	switch {
	case password != "":
		t.Password = password
	case t.Password == "":
		t.Password = session.Password(g.env.Environ)
	}
	return d.Open(ctx, t, store.OpenOptions{Threads: 1, Log: g.env.Log})
}
