package coherence

import (
	"context"
	"crypto/tls"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/perfbench/perfbench/internal/fault"
)

// Gate is a connection of our own to one host that carries no calls. It exists because
// the client reports neither why it cannot connect nor that it has been cut off.
type Gate struct {
	// Host is its address, with the port.
	Host string
	conn channel
	ask  func(ctx context.Context, method string) error
}

// channel is what is used of *grpc.ClientConn, which no field names: who comes across it
// compiles its generics again.
type channel interface {
	Connect()
	GetState() connectivity.State
	WaitForStateChange(ctx context.Context, from connectivity.State) bool
	Close() error
}

// NewGate returns a gate, which connects when it is first used.
func NewGate(host string, config *tls.Config, dial time.Duration) (*Gate, error) {
	creds := insecure.NewCredentials()
	if config != nil {
		creds = credentials.NewTLS(config.Clone())
	}
	conn, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(creds), grpc.WithIdleTimeout(0),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.5, MaxDelay: 500 * time.Millisecond},
			MinConnectTimeout: dial,
		}))
	if err != nil {
		return nil, err
	}
	return &Gate{host, conn, func(ctx context.Context, method string) error {
		return conn.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{})
	}}, nil
}

// Reach makes sure that a gRPC server answers, whatever the answer.
func (g *Gate) Reach(ctx context.Context) error {
	g.conn.Connect()
	err := g.ask(ctx, "/grpc.health.v1.Health/Check")
	switch status.Code(err) {
	case codes.OK, codes.Unimplemented, codes.NotFound:
		return nil
	case codes.DeadlineExceeded, codes.Canceled:
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

// Ready reports whether the host answered when it was last contacted.
func (g *Gate) Ready() bool { return g.conn.GetState() == connectivity.Ready }

// Watch calls lost whenever the host goes away, and back when it answers again, until
// stop is closed.
func (g *Gate) Watch(stop <-chan struct{}, lost, back func()) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	fault.Go(func() {
		defer cancel()
		select {
		case <-stop:
		case <-ctx.Done():
		}
	})
	state := g.conn.GetState()
	for {
		if state == connectivity.Idle {
			g.conn.Connect()
		}
		if !g.conn.WaitForStateChange(ctx, state) {
			return
		}
		was := state
		state = g.conn.GetState()
		switch {
		case state == connectivity.Shutdown:
			return
		case state == connectivity.Ready:
			back()
		case was == connectivity.Ready:
			lost()
		}
	}
}

// Close ends the connection.
func (g *Gate) Close() { _ = g.conn.Close() } // it is closed once, and has no calls in progress
