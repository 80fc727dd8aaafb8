package labtest

import (
	"context"
	"os/exec"
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// RabbitMQ returns a running RabbitMQ. Without args it is the [Common] one: each test
// must use its own queues. With args, settings of its configuration
// ("--disk_free_limit.absolute", "50MB"), the test gets a private one, which it may
// kill; a start takes about 5 seconds. Packages whose tests kill and control one in
// turn use [Shared].
func RabbitMQ(t testing.TB, args ...string) *Server {
	t.Helper()
	if len(args) > 0 {
		return start(t, "rabbitmq", lab.Options{Args: args})
	}
	return Common(t, "rabbitmq")
}

// RabbitMQTLS starts a private RabbitMQ that accepts TLS connections only.
func RabbitMQTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "rabbitmq", o)
}

// Ctl controls a running broker ("set_disk_free_limit", "1000GB") and returns the
// output of its tool.
func (s *Server) Ctl(args ...string) string {
	s.t.Helper()
	path, err := lab.Ctl(s.dir)
	if err != nil {
		s.t.Fatalf("labtest: %v", err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/bin/sh", append([]string{path, "-q"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("labtest: rabbitmqctl %v: %v: %s", args, err, out)
	}
	return string(out)
}
