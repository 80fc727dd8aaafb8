package crew

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/remote"
)

// Nobody has to wait for a lost worker that is known to have ended: its process was of this
// machine, and is not there any more.
func TestAWorkerThatHasEndedIsNotAstray(t *testing.T) {
	machine, born := ownership.Identity()
	lives := remote.Member{Hello: remote.Hello{PID: os.Getpid(), Machine: machine, Born: born}, State: remote.Gone}
	ended, far, through := lives, lives, lives
	ended.Born = "1" // another process has its number by now
	far.Machine, far.Born = "another", "1"
	through.State = remote.Ended
	assert.Empty(t, astray([]remote.Member{ended, through}))
	assert.Equal(t, "workers 2 and 4", astray([]remote.Member{ended, lives, through, far}))
}
