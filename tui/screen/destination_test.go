package screen

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
)

// What is copied may be pasted anywhere.
func TestCommandHasNoSecrets(t *testing.T) {
	t.Parallel()
	r := request.Request{Profile: "event-store", Target: "redis://me:hunter2@host:6379"}
	r.Values = workload.Values{"via": {Name: "via", Text: "amqp://me:hunter3@host/v", Origin: workload.OriginFlag}}
	assert.Equal(t, "perfbench run --profile event-store --target redis://me@host:6379 --set via=amqp://me@host/v", command(r))
	assert.Contains(t, r.Values["via"].Text, "hunter3", "the request is as it was")
}
