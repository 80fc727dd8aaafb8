package labtest

import (
	"context"
	"os/exec"
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// RabbitMQ returns a running RabbitMQ. Without args it is [Common]: each test keeps to
// queues of its own. With args, settings of its configuration
// ("--disk_free_limit.absolute", "50MB"), the test gets a private one, to kill as it
// likes; a start takes some 5 seconds. Tests of a package that kill and steer one
// after the other have it [Shared].
func RabbitMQ(t testing.TB, args ...string) *Server {
	t.Helper()
	if len(args) > 0 {
		return start(t, "rabbitmq", lab.Options{Args: args})
	}
	return Common(t, "rabbitmq")
}

// RabbitMQTLS starts a private RabbitMQ that takes TLS connections only.
func RabbitMQTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "rabbitmq", o)
}

// Ctl steers a broker while it runs ("set_disk_free_limit", "1000GB") and returns
// what its program printed.
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
