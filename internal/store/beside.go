package store

import (
	"strings"
	"sync"
	"sync/atomic"
)

// besides holds, by target, how many calls this process made beside its work.
var besides sync.Map

// Beside returns the counter of the calls that this process makes at a target beside the
// work itself, such as those for its lease. All connections of the process to the target
// share it, so that whoever compares calls with what the server counted can leave out those
// of a connection that was opened only to ask. Any goroutine may call it.
func Beside(t Target) *atomic.Int64 {
	n, _ := besides.LoadOrStore(t.Scheme+" "+strings.Join(t.Hosts, ",")+" "+t.Path, new(atomic.Int64))
	return n.(*atomic.Int64) //nolint:forcetypeassert // nothing else is put there
}
