package lab

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// GivenUp is how long the lab waits after a primary has ended before a replica takes over, where it
// is the lab that decides: as long as the sentinels of ours take to give up a Redis.
const GivenUp = time.Second

// takeover is what the lab does where servers leave it to others which of two is the primary, as an
// operator's tool would.
type takeover struct {
	// promote has a replica take writes, with all that it has received.
	promote func(ctx context.Context, h *host, replica *Process) error
	// rejoin starts a server that has ended, so that it follows the primary. If it was the primary
	// before, its data may have what no other has, and are copied anew.
	rejoin func(ctx context.Context, h *host, p *Process, primary Process) error
}

// names of the two servers of a service with a replica. Either may be the primary.
var pairNames = [...]string{"node-1", "node-2"}

// pairURL is the target of two servers, of which a client takes the one that takes writes.
func (h *host) pairURL(scheme string) string {
	var addrs []string
	for _, p := range h.rec.Processes {
		addrs = append(addrs, p.Addr)
	}
	return (&url.URL{Scheme: scheme, User: url.User(sqlUser), Host: strings.Join(addrs, ","), Path: "/" + sqlDatabase}).String()
}

// replicas returns the processes that are not the recorded primary.
func (r *record) replicas() (out []*Process) {
	for i := range r.Processes {
		if r.Processes[i].Name != r.Primary {
			out = append(out, &r.Processes[i])
		}
	}
	return out
}

// findByRecord finds servers by the role that the lab has given them.
func findByRecord(_ context.Context, h *host, role string) (string, error) {
	if role == Primary {
		return h.rec.Primary, nil
	}
	for _, p := range h.rec.replicas() {
		return p.Name, nil
	}
	return "", ErrNotRunning
}

// TakeOver has a replica become the primary if the primary has ended: after [GivenUp], and once it
// has applied what it received. It returns the name of the new primary; "" where the servers see to
// that themselves, the primary is alive, or no replica is.
func (s *Servers) TakeOver(ctx context.Context) (name string, err error) {
	if s.service.takeover == nil {
		return "", nil
	}
	unlock, err := Lock(ctx, s.dir, s.service.Name, nil)
	if err != nil {
		return "", err
	}
	defer unlock()
	h, err := s.host()
	if err != nil {
		return "", err
	}
	if p := h.rec.process(h.rec.Primary); p == nil || IsAlive(*p) {
		return "", nil
	}
	for _, p := range h.rec.replicas() {
		if !IsAlive(*p) {
			continue
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(GivenUp):
		}
		limited, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not done within %v", startLimit))
		defer cancel()
		if err := s.service.takeover.promote(limited, h, p); err != nil {
			return "", fault.Store(fmt.Errorf("lab: %s did not take over: %w", p.Name, err), "")
		}
		h.rec.Primary = p.Name
		return p.Name, h.rec.save()
	}
	return "", nil
}

// rejoin starts a process of a service whose roles the lab gives.
func (h *host) rejoin(ctx context.Context, p *Process) error {
	primary := h.rec.process(h.rec.Primary)
	switch {
	case p.Name == h.rec.Primary: // nobody has taken over
		return h.relaunch(ctx, p)
	case primary == nil || !IsAlive(*primary):
		return fmt.Errorf("it follows %s, which is %w", h.rec.Primary, ErrNotRunning)
	}
	if err := h.findNeeds(); err != nil {
		return err
	}
	return h.service.takeover.rejoin(ctx, h, p, *primary)
}

// relaunch starts a process with the data that it has, and waits until it answers.
func (h *host) relaunch(ctx context.Context, p *Process) error {
	if err := h.launch(p); err != nil {
		return err
	}
	return h.ready(ctx, *p)
}

// follows waits until a replica follows the primary, of which ask returns nil.
func (h *host) follows(ctx context.Context, p Process, ask func(ctx context.Context) error) error {
	h.step("waiting for %s to follow the primary", p.Name)
	return Poll(ctx, func() error {
		if !IsAlive(p) {
			return Permanent{Err: h.died(p)}
		}
		probe, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return ask(probe)
	})
}
