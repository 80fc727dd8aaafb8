package suggest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	names := []string{"ingestion", "group", "tx", "authz", "event-store"}
	assert.Equal(t, "ingestion", Nearest("injestion", names))
	assert.Equal(t, "event-store", Nearest("eventstore", names))
	assert.Empty(t, Nearest("zzz", names))
	assert.Equal(t, "did you mean group?", Hint("gruop", names))
	assert.Equal(t, "one of: a, b", Hint("zzz", []string{"a", "b"}))
}
