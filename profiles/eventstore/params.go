package eventstore

import (
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// Choices of parameters.
const (
	schemaLean   = "lean"
	schemaCradle = "cradle"

	pacingPaced  = "paced"
	pacingTicked = "ticked"

	publishConfirm   = "confirm"
	publishTransient = "confirmTransient"
	publishForget    = "fireAndForget"

	failRequeue = "requeue"
	failDead    = "deadLetter"
	failDrop    = "drop"

	queryOff    = "off"
	queryAfter  = "after"
	queryDuring = "during"
	queryBoth   = "both"
)

// params returns the parameters.
func params() []workload.Param { return new(spec).declare().Params() }

// declare declares the parameters, and the fields into which they are read.
func (s *spec) declare() *values.Fields {
	p := &values.Fields{}
	s.declareGenerator(p)
	s.declareStage(p)
	s.declareRun(p)
	return p
}

// declareGenerator declares the parameters of the woodpecker box, under its own names
// where it has them.
func (s *spec) declareGenerator(p *values.Fields) {
	p.Choice(&s.load.pacing, "pacing", pacingPaced, []string{pacingPaced, pacingTicked}, "paced: each batch on its own; ticked: the load of a tick all at once, as the original does")
	p.Int(&s.load.tickRate, "tickRate", 1, 1, 1000, "ticks/s", "ticks a second of each generator, with pacing=ticked")
	p.Int64(&s.load.events, "events", 100_000, 1, 1_000_000_000_000, "events", "events to store when neither --count nor --duration says")
	p.Text(&s.book, "bookName", "estore_perf_test_01", "book of the events")
	p.Text(&s.scope, "scope", "qa_session_01", "scope of the events")
	p.Choice(&s.Mode, "generationMode", generate.SingleRoot, []string{generate.SingleRoot, generate.MultiRoot, generate.Mixed}, "one tree; several (roots); or several, every tenth batch being single events without a parent")
	p.Int(&s.Roots, "roots", 10, 1, 10_000, "trees", "trees of each generator with MULTI_ROOT and MIXED")
	p.Int(&s.Depth, "treeDepth", 0, 0, 20, "levels", "levels below a root")
	p.Int(&s.Children, "childCount", 0, 0, 1000, "events", "children of each node of a tree")
	p.Int(&s.Failures, "failureRate", 0, 0, 1000, "per mille", "events with status FAILED")
	p.Int(&s.Description, "descriptionLength", 0, 0, 1<<20, "bytes", "additional random bytes in name and body")
	p.Choice(&s.Kind, "bodyKind", generate.BodyTable, []string{generate.BodyTable, generate.BodyRandom}, "table: generated JSON of the size of payload; randomText: random bytes as the public generator makes them")
	p.Int(&s.load.randomBody, "bodyDataLength", 200, 0, 64<<20, "bytes", "random bytes of a body with bodyKind=randomText")
	p.Float(&s.Ratio, "compressibility", 5.4, 1.1, 30, "times", "about how many times smaller LZ4 makes a batch of 300 documented bodies")
	p.Int(&s.Attached, "attachedMessages", 1, 0, 1000, "ids", "message ids attached to each event")
	p.Text(new(string), "woodpeckerName", "woodpecker", "name of the generators' box in documents: metadata.name of the file")
	p.Choice(&s.route.publish, "publish", publishConfirm, []string{publishConfirm, publishTransient, publishForget}, "how batches are sent through a broker. confirm: it confirms each when it is on its disk; confirmTransient: when it has it; fireAndForget: transient, too, and without confirmation, as the original does")
}

// declareStage declares the parameters of the transport and the estore box.
func (s *spec) declareStage(p *values.Fields) {
	p.Target(&s.route.via, "via", report.ViaDirect, "direct, or the URL of a RabbitMQ between generators and store stage: amqp://host:5672/")
	p.Is(&s.route.quorum, "quorum", "queueType", []string{"classic", "quorum"}, "queues of a broker. classic: on one node; quorum: on all nodes of a cluster")
	p.Int(&s.route.prefetch, "prefetchCount", 160, 1, 65_535, "batches", "batches delivered to the store stage and not yet acknowledged")
	p.Choice(&s.layout.schema, "schema", schemaLean, []string{schemaLean, schemaCradle}, "lean: bounded partitions; cradle: the original's tables and bytes")
	p.Duration(&s.layout.bucket, "bucket", "2s", "how much time one partition of schema=lean holds")
	p.Int(&s.layout.shards, "shards", 1, 1, 256, "partitions", "partitions that the batches of one bucket are spread over")
	p.Choice(&s.codecName, "compression", "lz4", []string{"lz4", "zlib", "zstd", "none"}, "codec of the stored content")
	p.Size(&s.stage.CompressOver, "compressOver", "5120", 0, 1<<30, "content up to this size is stored as it is")
	p.Size(&s.messageOver, "maxUncompressedMessageBatchSize", "5120", 0, 1<<30, "the value of compressOver with compat=on, unless that is set explicitly: the original looks at the wrong threshold")
	p.Size(&s.stage.BatchLimit, "maxTestEventBatchSize", "1MiB", 1024, 1<<30, "content over this is cut into several rows")
	p.Text(new(string), "estoreName", "estore", "name of the store stage's box in documents: metadata.name of the file")
	p.Int(&s.stage.MaxTasks, "maxTaskCount", 128, 1, 1_000_000, "batches", "batches in the store stage at once")
	p.Size64(&s.stage.MaxTaskBytes, "maxTaskDataSize", "512MiB", 1, 1<<40, "bytes of content in the store stage at once")
	p.Int(&s.stage.Retries, "maxRetryCount", 1_000_000, 0, 1_000_000_000, "retries", "retries of one batch before onFailure")
	p.Duration(&s.stage.RetryBase, "retryDelayBase", "100ms", "wait before the first retry; it doubles up to 5 s, with jitter")
	p.Int(&s.stage.Composers, "processingThreads", 2, 1, 1024, "threads", "threads that validate, encode and compress")
	p.Choice(&s.onFailure, "onFailure", failRequeue, []string{failRequeue, failDead, failDrop}, "what becomes of a batch when its retries are exhausted")
	p.Is(&s.stage.RandomID, "random", "batchId", []string{"hash", "random"}, "hash: a batch delivered twice is stored once; random: twice, as in the original")
	p.Duration(&s.stage.Timeout, "timeout", "5s", "time limit of one call to the store")
	p.Duration(&s.stage.FlushEvery, "counterPersistenceInterval", "15s", "period in which statistics are written; 0: never")
	p.Int(&s.layout.pageSize, "resultPageSize", 50, 1, 1_000_000, "rows", "rows of one page of a query")
	p.Is(&s.layout.gorm, "gorm", "insert", []string{"raw", "gorm"}, "how rows are written in SQL: statements of many rows, or batches of gorm")
	p.Int(&s.stage.PerCall, "rowsPerCall", 16, 1, 1000, "rows", "most batches in one transaction of SQL or one pipeline of Redis")
}

// declareRun declares the parameters of the run as a whole.
func (s *spec) declareRun(p *values.Fields) {
	p.Choice(&s.query.when, "query", queryAfter, []string{queryOff, queryAfter, queryDuring, queryBoth}, "when to query by time range, by id and by parent")
	p.Int(&s.query.count, "queries", 300, 1, 1_000_000_000, "queries", "queries of the phase after the load")
	p.Int(&s.query.threads, "queryThreads", 2, 1, workload.MaxThreads, "threads", "threads that query")
	p.Float(&s.query.rate, "queryRate", 0, 0, workload.MaxRate, "queries/s", "target rate of queries, sent on schedule even if the store is slow; 0 = unlimited")
	p.Duration(&s.query.width, "queryRange", "1s", "length of a time range")
	p.Int(&s.query.limit, "queryLimit", 1000, 1, 1_000_000_000, "events", "most events that one query returns")
	p.Is(&s.verify, "full", "verify", []string{"full", "off"}, "full reads every event back and accounts for it")
	p.Duration(&s.crash, "crash", "0s", "end the store stage without notice each time this long has passed, and start it again; 0: never")
	p.Switch(&s.search.on, "search", false, "look for the highest rate whose backlog stays bounded, beginning with --rate")
	p.Duration(&s.search.trial, "searchTrial", "10s", "how long each rate is tried")
	p.Text(&s.watch.processes, "watch", "", "processes to watch besides our own: cassandra=PID,rabbitmq=PID")
	p.Text(&s.watch.nodetool, "nodetool", "", "where Cassandra's JVM can be asked: the URL of its Jolokia agent, or a nodetool command")
	p.Switch(&s.Compat, "compat", false, "on: behave as the original does, and count what it loses")
}
