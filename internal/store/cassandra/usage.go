package cassandra

import (
	"context"
	"errors"
	"fmt"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

// mostNodes is how many nodes are asked.
const mostNodes = 8

// pools are the thread pools of a node that are reported, by the names used for them.
var pools = map[string]string{
	"Native-Transport-Requests": "requests", "MutationStage": "writes", "ReadStage": "reads",
	"CompactionExecutor": "compactions", "MemtableFlushWriter": "flushes",
}

// beans are what a node's agent reports beyond its virtual tables.
var beans = []store.BeanReading{
	store.ProcessorBean, store.UptimeBean,
	{Bean: metric("type=ClientRequest,scope=Read,name=Latency", "Count"), Name: "coordinated_reads_per_s", Sum: true},
	{Bean: metric("type=ClientRequest,scope=Write,name=Latency", "Count"), Name: "coordinated_writes_per_s", Sum: true},
	{Bean: metric("type=ClientRequest,scope=Read,name=Timeouts", "Count"), Name: "read_timeouts_per_s", Sum: true},
	{Bean: metric("type=ClientRequest,scope=Write,name=Timeouts", "Count"), Name: "write_timeouts_per_s", Sum: true},
	{Bean: metric("type=DroppedMessage,scope=*,name=Dropped", "Count"), Name: "dropped_messages_per_s", Sum: true},
	{Bean: metric("type=CommitLog,name=WaitingOnCommit", "Count"), Name: "waits_for_commit_log_per_s", Sum: true},
	{Bean: metric("type=Storage,name=Load", "Count"), Name: "data_bytes"},
}

func metric(name, attribute string) watch.Bean {
	return watch.Bean{Name: "org.apache.cassandra.metrics:" + name, Attribute: attribute}
}

// Meter reads what the nodes report about themselves.
type Meter struct {
	cluster *cluster
	agent   *watch.Agent // nil if none is known
}

// Usage returns the number of requests counted by the nodes, and the processor time of
// a single node that has an agent.
func (mt *Meter) Usage(ctx context.Context) store.Usage {
	readings, _ := mt.Readings(ctx) // what is not reported is unknown
	u := store.UsageOf(readings, "requests_per_s", "requests")
	if len(mt.cluster.session.GetHosts()) == 1 { // of several, one may not have answered
		u.Asked = u.Calls
	}
	return u
}

// Readings returns the thread pools of every node from its virtual tables, which exist
// since Cassandra 4, and what the agent of a single node reports.
func (mt *Meter) Readings(ctx context.Context) (out []store.Reading, err error) {
	hosts := mt.cluster.session.GetHosts()
	for _, h := range hosts[:min(len(hosts), mostNodes)] {
		node := ""
		if len(hosts) > 1 {
			node = h.ConnectAddressAndPort()
		}
		more, e := mt.pools(ctx, h, node)
		out, err = append(out, more...), errors.Join(err, e)
	}
	if mt.agent != nil {
		more, e := store.ReadBeans(ctx, mt.agent, beans)
		out, err = append(out, more...), errors.Join(err, e)
	}
	if len(out) > 0 {
		return out, nil // one of several may be down
	}
	return nil, fmt.Errorf("read its virtual tables: %w", err)
}

func (mt *Meter) pools(ctx context.Context, h *gocql.HostInfo, node string) (out []store.Reading, err error) {
	rows := mt.cluster.session.Query("SELECT name, active_tasks, pending_tasks, blocked_tasks_all_time, completed_tasks FROM system_views.thread_pools").
		Consistency(gocql.One).SetHostID(h.HostID()).IterContext(ctx)
	var name string
	var active, pending int
	var blocked, completed int64
	for rows.Scan(&name, &active, &pending, &blocked, &completed) {
		pool, ok := pools[name]
		if !ok {
			continue
		}
		add := func(what string, v float64, sum bool) {
			out = append(out, store.Reading{Node: node, Name: pool + what, Value: v, Sum: sum})
		}
		add("_active", float64(active), false)
		add("_pending", float64(pending), false)
		add("_blocked_per_s", float64(blocked), true)
		add("_per_s", float64(completed), true)
	}
	return out, rows.Close()
}
