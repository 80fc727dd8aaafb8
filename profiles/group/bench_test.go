package group

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/profiletest/steps"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
	"github.com/perfbench/perfbench/profiles/group/northwind"
)

// Of a load of orders: the rows of a statement, the connections, and how many
// statements are sent in one turn.
const (
	benchBatch   = 100
	benchWorkers = 4
	benchCalls   = 80
)

// BenchmarkOrders loads orders through gorm, through our own statements, and with a
// bare loop over database/sql that makes the same objects and sends the same
// upserts, in turns within one run. The ratios are to the bare loop's rows per
// second.
func BenchmarkOrders(b *testing.B) {
	for _, srv := range []struct {
		name  string
		start func(testing.TB, ...string) *labtest.Server
	}{{"mariadb", labtest.MariaDB}, {"postgres", labtest.Postgres}} {
		b.Run(srv.name, func(b *testing.B) {
			target := srv.start(b).URL()
			plans := map[string]*workload.Plan{}
			for _, mapper := range []string{"gorm", "raw"} {
				plans[mapper] = ordersPlan(b, target, mapper)
				load(b, plans[mapper]) // tables, connections, statements
			}
			spent := map[string]time.Duration{}
			for b.Loop() {
				spent["bare"] += bare(b, target)
				for _, mapper := range []string{"gorm", "raw"} {
					spent[mapper] += load(b, plans[mapper])
				}
			}
			rows := float64(b.N * benchCalls * benchBatch)
			b.ReportMetric(rows/spent["bare"].Seconds(), "bare-rows/s")
			for _, mapper := range []string{"gorm", "raw"} {
				b.ReportMetric(spent["bare"].Seconds()/spent[mapper].Seconds(), mapper+"/bare")
			}
		})
	}
}

func benchConn(b *testing.B, target string) store.Conn {
	b.Helper()
	tg, _, err := drivers.Parse(target)
	require.NoError(b, err)
	c, err := drivers.Open(b.Context(), tg, store.OpenOptions{Threads: benchWorkers})
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close() })
	return c
}

func ordersPlan(b *testing.B, target, mapper string) *workload.Plan {
	b.Helper()
	return benchPlan(b, target, mapper, fmt.Sprintf("groupNames: g1\ng1: {operations: o, threadCount: %d, totalInvocationCount: %d}\n"+
		"o: {map: nw/orders, testCase: putall, batchSize: %d, totalEntryCount: %d, factory.class: order, factory.key.isRandom: false, factory.key.length: 11}\n",
		benchWorkers, benchCalls, benchBatch, benchCalls*benchBatch), "mapper", mapper)
}

// benchPlan makes a plan of a file that is set up.
func benchPlan(b *testing.B, target, namespace, text string, pairs ...string) *workload.Plan {
	b.Helper()
	vs := given(pairs...)
	from, _, err := design.Read([]workload.File{{Path: "g.yaml", Data: []byte(text)}})
	require.NoError(b, err)
	for _, v := range from {
		vs.Set(v)
	}
	tg, d, err := drivers.Parse(target)
	require.NoError(b, err)
	p, err := plan(workload.Inputs{Values: vs, Seed: 1, Namespace: namespace, Driver: d.Name, Cluster: tg.Scheme == "redis+cluster", Duration: time.Hour})
	require.NoError(b, err)
	p = profiletest.Bind(b, Name, p, benchConn(b, target), workload.Inputs{Namespace: namespace}, "")
	require.NoError(b, p.Setup(b.Context(), nil))
	return p
}

// load does one turn with the profile's own tasks.
func load(b *testing.B, p *workload.Plan) time.Duration {
	tr := p.Tracks()[0]
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(benchCalls)
	began := time.Now()
	for id := range benchWorkers {
		w := steps.Of(b, tr, id)
		w.Forget = true
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := w.Do(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(began)
}

var bareConns sync.Map

// bare does one turn with a plain loop.
func bare(b *testing.B, target string) time.Duration {
	c, ok := bareConns.Load(target)
	if !ok {
		c = benchConn(b, target)
		bareConns.Store(target, c)
	}
	db := c.(sqlstore.Typed)
	orders, _ := northwind.EntityOfClass("order")
	f := &northwind.Factory{Entity: orders, Length: 11, Prefix: "k", Seed: 1}
	columns := northwind.ColumnsOf(orders.RowType())
	upsert := bareUpsert(db.Dialect(), columns)
	var wg sync.WaitGroup
	var next atomic.Int64
	began := time.Now()
	for range benchWorkers {
		wg.Go(func() {
			stmt, err := db.SQL().PrepareContext(context.Background(), upsert)
			if err != nil {
				b.Error(err)
				return
			}
			defer stmt.Close()
			args := make([]any, 0, benchBatch*len(columns))
			for {
				from := next.Add(1) - 1
				if from >= benchCalls {
					return
				}
				args = args[:0]
				for i := range int64(benchBatch) {
					_, r := f.Object(from*benchBatch+i+1, "", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
					args = r.Args(args)
				}
				if _, err := stmt.Exec(args...); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(began)
}

// bareUpsert is the statement of a batch of orders.
func bareUpsert(d sqltext.Dialect, columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = d.Quote(c)
	}
	var rows []string
	for i := range benchBatch {
		marks := make([]string, len(columns))
		for j := range columns {
			marks[j] = d.Mark(i*len(columns) + j + 1)
		}
		rows = append(rows, "("+strings.Join(marks, ",")+")")
	}
	return "INSERT INTO " + d.Quote("raw_orders") + " (" + strings.Join(quoted, ",") + ") VALUES " + strings.Join(rows, ",") +
		d.Replace(quoted[:1], slices.DeleteFunc(slices.Clone(quoted[1:]), func(c string) bool { return c == d.Quote("createdOn") }))
}

// BenchmarkInvocation is what an invocation of two operations costs the harness,
// on a store that does nothing.
func BenchmarkInvocation(b *testing.B) {
	vs := given()
	from, _, err := design.Read([]workload.File{{Path: "g.yaml", Data: []byte("groupNames: g1\ng1: {operations: 'p,g', threadCount: 1, totalInvocationCount: 1000}\np: {map: m, testCase: put}\ng: {map: m, testCase: get}\n")}})
	require.NoError(b, err)
	for _, v := range from {
		vs.Set(v)
	}
	p, err := plan(workload.Inputs{Values: vs, Seed: 1, Namespace: "n", Driver: "null", Duration: time.Hour})
	require.NoError(b, err)
	p, err = p.Bind(b.Context(), "null", benchConn(b, "null:"), "")
	require.NoError(b, err)
	w := steps.Of(b, p.Tracks()[0], 0)
	w.Forget = true
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Do(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
