package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

// timeout is how long a statement may take unless the target says otherwise. It is
// longer than a node by default waits for a write (2 s), so that its error reaches us,
// as long as it waits for a read, and shorter than it waits for a range (10 s), for
// which read_timeout may be raised.
const timeout = 5 * time.Second

// patience is how long a statement that is not measured may take: a schema change or
// query, a record, a lease. A node that is short of processors or has thousands of
// tables is slow at these, and carries them out even if the client has given up.
const patience = time.Minute

// perNode is the number of connections to each node; each can carry thousands of
// statements at a time.
const perNode = 2

// options are what a target says beyond hosts.
type options struct {
	keyspace          string
	consistency       gocql.Consistency
	serial            gocql.Consistency
	dc                string
	replication       int
	retries           int
	speculative       int
	speculativeDelay  time.Duration
	connections       int
	protocol          int
	dial, read, write time.Duration
	dialer            dialer
}

var levels = map[string]gocql.Consistency{
	"any": gocql.Any, "one": gocql.One, "two": gocql.Two, "three": gocql.Three, "quorum": gocql.Quorum, "all": gocql.All,
	"local_quorum": gocql.LocalQuorum, "each_quorum": gocql.EachQuorum, "local_one": gocql.LocalOne,
}

var levelNames = []string{"one", "two", "three", "quorum", "all", "local_quorum", "each_quorum", "local_one", "any"}

var serialLevels = map[string]gocql.Consistency{"serial": gocql.Serial, "local_serial": gocql.LocalSerial}

func level(t store.Target, name, def string, known map[string]gocql.Consistency, names []string) (gocql.Consistency, error) {
	word := strings.ToLower(t.Params.Get(name))
	if word == "" {
		word = def
	}
	if l, ok := known[word]; ok {
		return l, nil
	}
	return 0, fault.Input(fmt.Errorf("cassandra: %s: %q is not one of %s", name, word, strings.Join(names, ", ")), fault.Meant(word, names))
}

var plainName = regexp.MustCompile(`^[a-zA-Z0-9_]{1,48}$`)

func newOptions(t store.Target) (options, error) {
	var o options
	var errs [8]error
	o.consistency, errs[0] = level(t, "consistency", "local_quorum", levels, levelNames)
	o.serial, errs[1] = level(t, "serial_consistency", "local_serial", serialLevels, []string{"serial", "local_serial"})
	o.replication, errs[2] = t.Int("replication", 0, 1, 100)
	o.retries, errs[3] = t.Int("retries", 0, 0, 100)
	o.speculative, errs[4] = t.Int("speculative", 0, 0, 10)
	o.connections, errs[5] = store.Connections(t)
	o.protocol, errs[6] = t.Int("protocol", 5, 3, 5)
	o.speculativeDelay, errs[7] = t.Duration("speculative_delay")
	times, err := store.Timeouts(t)
	if err := errors.Join(append(errs[:], err)...); err != nil {
		return o, fault.Code(err, fault.CodeInput)
	}
	o.dc, o.keyspace = t.Params.Get("dc"), t.Path
	if o.keyspace != "" && !plainName.MatchString(o.keyspace) {
		return o, fault.Input(fmt.Errorf("cassandra: %q cannot be the name of a keyspace", o.keyspace), "letters, digits and _, at most 48")
	}
	if o.speculativeDelay == 0 {
		o.speculativeDelay = 50 * time.Millisecond
	}
	if o.connections == 0 {
		o.connections = perNode
	}
	o.dial, o.read, o.write = or(times.Dial), or(times.Read), or(times.Write)
	return o, nil
}

func or(d time.Duration) time.Duration {
	if d == 0 {
		return timeout
	}
	return d
}

// cluster returns the driver's configuration.
func (o *options) cluster(t store.Target) (*gocql.ClusterConfig, error) {
	config, err := store.TLSConfig(t)
	if err != nil {
		return nil, err
	}
	hosts := make([]string, len(t.Hosts))
	for i, h := range t.Hosts {
		hosts[i] = store.HostPort(h, 9042)
	}
	c := gocql.NewCluster(hosts...)
	c.ProtoVersion = o.protocol
	c.Consistency, c.SerialConsistency = o.consistency, o.serial
	c.ConnectTimeout, c.Timeout, c.WriteTimeout = o.dial, o.read, o.write
	c.NumConns = o.connections
	c.Dialer = o.dialer
	// Send calls at once: by default the driver delays them by 0.2 ms to combine
	// several, which must not be part of a store's response time.
	c.WriteCoalesceWaitTime = 0
	c.Logger = silence{} // what matters comes as errors; the terminal is not ours
	// Routing needs to know how keyspaces are replicated. By default the driver would
	// also read all tables of the cluster, again after each schema change.
	if o.protocol > 3 {
		c.Metadata.CacheMode = gocql.KeyspaceOnly
	}
	// Use a node that comes back at once.
	c.ReconnectInterval = time.Second
	c.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: 100 * time.Millisecond}
	if o.retries > 0 {
		c.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: o.retries}
	}
	fallback := gocql.RoundRobinHostPolicy()
	if o.dc != "" {
		fallback = gocql.DCAwareRoundRobinPolicy(o.dc)
	}
	c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(fallback)
	if t.User != "" || t.Password != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: t.User, Password: t.Password}
	}
	if config != nil {
		c.SslOpts = &gocql.SslOptions{Config: config, EnableHostVerification: !config.InsecureSkipVerify}
	}
	return c, nil
}

// silence is the driver's logger.
type silence struct{}

func (silence) Error(string, ...gocql.LogField)   {}
func (silence) Warning(string, ...gocql.LogField) {}
func (silence) Info(string, ...gocql.LogField)    {}
func (silence) Debug(string, ...gocql.LogField)   {}

// Open connects to the nodes of t and makes sure that they answer, accept us, and have
// the keyspace that t names. Errors have the code of an unfit store, or of bad input if
// the target itself is wrong, and a hint; none contains a password.
func Open(ctx context.Context, t store.Target, opts store.OpenOptions) (*Conn, error) {
	if len(t.Hosts) == 0 {
		return nil, fault.Input(errors.New("cassandra: no host"), "for example cassandra://localhost:9042")
	}
	o, err := newOptions(t)
	if err != nil {
		return nil, err
	}
	o.dialer = dialer{net.Dialer{Timeout: o.dial}, opts.Fence, opts.Proxy}
	config, err := o.cluster(t)
	if err != nil {
		return nil, err
	}
	k := &cluster{target: t, opts: o}
	err = k.connect(ctx, config)
	if newer(err) && !t.Params.Has("protocol") && ctx.Err() == nil { // ScyllaDB, and Cassandra before 4.0
		k.opts.protocol = 4
		var older *gocql.ClusterConfig
		if older, err = k.opts.cluster(t); err == nil {
			err = k.connect(ctx, older)
		}
	}
	if err != nil {
		return nil, k.explain(ctx, err)
	}
	if err := k.greet(ctx); err != nil {
		k.end()
		return nil, err
	}
	var agent *watch.Agent
	if opts.Agent != "" {
		agent = watch.NewAgent(opts.Agent)
	}
	return newConn(k, agent), nil
}

// newer reports whether an error means that the nodes speak only older versions of the
// protocol.
func newer(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "rotocol version") || strings.Contains(err.Error(), "unsupported protocol"))
}

// connect makes the session for what is measured, and the one for everything else. They
// are the same if the target's timeout is at least patience.
func (k *cluster) connect(ctx context.Context, config *gocql.ClusterConfig) (err error) {
	if k.session, err = connect(ctx, config); err != nil {
		return err
	}
	k.own = k.session
	o := k.opts
	if min(o.read, o.write) >= patience {
		return nil
	}
	o.read, o.write, o.connections = max(o.read, patience), max(o.write, patience), 1
	if config, err = o.cluster(k.target); err == nil {
		k.own, err = connect(ctx, config)
	}
	if err != nil {
		k.session.Close()
	}
	return err
}

// connect makes the session. gocql's own function takes no context.
func connect(ctx context.Context, cluster *gocql.ClusterConfig) (*gocql.Session, error) {
	type made struct {
		session *gocql.Session
		err     error
	}
	done := make(chan made, 1) // one value: the sender never waits
	fault.Go(func() {
		s, err := cluster.CreateSession()
		done <- made{s, err}
	})
	select {
	case m := <-done:
		return m.session, m.err
	case <-ctx.Done():
		fault.Go(func() {
			if m := <-done; m.session != nil {
				m.session.Close()
			}
		})
		return nil, context.Cause(ctx)
	}
}

// greet asks the node for its version, and checks the keyspace of the target.
func (k *cluster) greet(ctx context.Context) error {
	q := k.own.Query("SELECT release_version, data_center FROM system.local").Consistency(gocql.One)
	if err := q.ScanContext(ctx, &k.version, &k.datacenter); err != nil {
		return k.explain(ctx, err)
	}
	if version := ""; k.own.Query("SELECT version FROM system.versions WHERE key = 'local'").Consistency(gocql.One).ScanContext(ctx, &version) == nil && version != "" {
		k.product, k.version = "scylladb", version // whose release_version is that of a Cassandra
	}
	k.nodes = len(k.session.GetHosts())
	if k.opts.dc != "" && k.opts.dc != k.datacenter {
		known := false
		var names []string
		for _, h := range k.session.GetHosts() {
			known = known || h.DataCenter() == k.opts.dc
			names = append(names, h.DataCenter())
		}
		if !known {
			return fault.Store(fmt.Errorf("cassandra: %s: there is no data centre %q", k.where(), k.opts.dc), "there is "+strings.Join(names, ", "))
		}
		k.datacenter = k.opts.dc
	}
	if k.opts.keyspace == "" {
		return nil
	}
	there, err := k.hasKeyspace(ctx, k.opts.keyspace)
	if err != nil {
		return k.explain(ctx, err)
	}
	if !there {
		return fault.Store(fmt.Errorf("cassandra: %s: there is no keyspace %s", k.where(), k.opts.keyspace),
			"create it, or leave it out of the target: perfbench then makes one named after --namespace")
	}
	return nil
}

func (k *cluster) hasKeyspace(ctx context.Context, name string) (bool, error) {
	var got string
	err := k.own.Query("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?", name).Consistency(gocql.One).ScanContext(ctx, &got)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
