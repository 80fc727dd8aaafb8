// Package cassandra connects to Apache Cassandra through its Go driver. It implements
// the shapes of package store with one table per space; profiles with data layers of
// their own get the typed session. It contains no profile's schema.
//
// Every statement is prepared once and sent to a replica of its key. What is measured
// is a single attempt: nothing is retried and nothing is sent twice unless the target
// asks for it (retries=, speculative=); both are noted in the report.
package cassandra

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

// Driver opens connections to Cassandra.
var Driver = store.Driver{
	Name:    "cassandra",
	Title:   "Cassandra",
	Schemes: []string{"cassandra"},
	Breaks:  store.BreaksConnections,
	Example: "cassandra://localhost:9042/keyspace",
	Port:    9042,
	Params: append([]string{
		"consistency", "serial_consistency", "dc", "replication", "protocol", "retries", "speculative", "speculative_delay",
	}, store.NetworkParams...),
	Traits: store.TraitsOf(abilities),
	Open:   store.Opens(Open),
}

// Typed is a connection whose session a profile may use directly. The session belongs
// to the connection: do not close it.
type Typed interface {
	store.Conn
	// Session returns the driver's session for what is not measured, such as schema
	// changes: its statements may take a minute, whatever the target says. It has no
	// keyspace, so statements must name theirs.
	Session() *gocql.Session
	// Query prepares a statement with the target's options, including its timeouts;
	// idempotent statements may be sent to a second replica.
	Query(stmt string, args ...any) *gocql.Query
	// Batch begins a batch with the target's options.
	Batch(kind gocql.BatchType) *gocql.Batch
	// EnsureKeyspace returns the keyspace of the target or, creating it if necessary,
	// the one named after the namespace.
	EnsureKeyspace(ctx context.Context, namespace string) (string, error)
	// KeyspaceFor is EnsureKeyspace without creating anything.
	KeyspaceFor(namespace string) string
	// Columns returns the columns of a table by name, with their types; empty if there
	// is no such table.
	Columns(ctx context.Context, keyspace, table string) (map[string]string, error)
}

var (
	_ interface {
		Typed
		store.Composite
		store.Answerer
	} = (*Conn)(nil)
	_ store.Maps = (*Maps)(nil)
	_ interface {
		store.Keeper
		store.Tabular
	} = (*Records)(nil)
	_ store.Leaser  = (*Leases)(nil)
	_ store.Metered = (*Meter)(nil)
	_ store.Prober  = (*Prober)(nil)
	_ store.Factual = (*cluster)(nil)
)

// Conn is the sessions with one cluster, from Open to Close. It is safe for use by several
// goroutines, and so are its components.
type Conn struct {
	*cluster
	Maps    *Maps
	Records *Records
	Leases  *Leases
	Meter   *Meter
	Prober  *Prober

	closing sync.Once
}

func newConn(k *cluster, agent *watch.Agent) *Conn {
	ts := &tables{cluster: k}
	return &Conn{
		cluster: k, Maps: &Maps{k, ts}, Records: &Records{k, ts}, Leases: &Leases{k, ts}, Meter: &Meter{k, agent}, Prober: &Prober{k, ts},
	}
}

// Components returns the parts that the connection is made of.
func (c *Conn) Components() []any {
	return []any{c.Maps, c.Records, c.Leases, c.Meter, c.Prober, c.cluster}
}

// cluster is the nodes that a target names: the sessions with them, and their keyspaces.
type cluster struct {
	session *gocql.Session // for what is measured
	own     *gocql.Session // for everything else
	target  store.Target
	opts    options
	// version, datacenter and nodes are as reported by the first node.
	version, datacenter string
	// product is "scylladb", or empty for Cassandra.
	product string
	nodes   int
	// unconditional is why the nodes make no conditional writes; nil: not known to.
	unconditional atomic.Pointer[error]
	asked         store.Asked
}

// Session returns the driver's session for what is not measured. It belongs to the
// connection: do not close it.
func (k *cluster) Session() *gocql.Session { return k.own }

// Query begins a statement. Our reads and writes are idempotent.
func (k *cluster) Query(stmt string, args ...any) *gocql.Query {
	q := k.session.Query(stmt, args...)
	if k.opts.speculative > 0 {
		q = q.Idempotent(true).SetSpeculativeExecutionPolicy(&gocql.SimpleSpeculativeExecution{
			NumAttempts: k.opts.speculative, TimeoutDelay: k.opts.speculativeDelay,
		})
	}
	return q
}

// Batch begins a batch.
func (k *cluster) Batch(kind gocql.BatchType) *gocql.Batch { return k.session.Batch(kind) }

// closingLimit is how long Close waits for the driver, which first finishes its own
// work with nodes that may not answer. Nodes that do answer take milliseconds.
const closingLimit = 3 * time.Second

// Close ends the sessions. It never fails, and may be called more than once. A driver
// that takes too long, for example because it is dialling a dead node, is left to end
// by itself.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		done := make(chan struct{})
		fault.Go(func() {
			c.end()
			close(done)
		})
		select {
		case <-done:
		case <-time.After(closingLimit):
		}
	})
	return nil
}

// end closes both sessions at once.
func (k *cluster) end() {
	var both sync.WaitGroup
	both.Go(fault.Guarded(k.session.Close))
	if k.own != k.session {
		both.Go(fault.Guarded(k.own.Close))
	}
	both.Wait()
}
