package eventstore

import (
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
)

// Choices of parameters.
const (
	schemaLean   = "lean"
	schemaCradle = "cradle"

	pacingPaced  = "paced"
	pacingTicked = "ticked"

	failRequeue = "requeue"
	failDead    = "deadLetter"
	failDrop    = "drop"

	queryOff    = "off"
	queryAfter  = "after"
	queryDuring = "during"
	queryBoth   = "both"
)

func params() []workload.Param {
	return append(append(generatorParams(), storeParams()...), runParams()...)
}

// generatorParams are those of the woodpecker box, by its own names where it has
// them.
func generatorParams() []workload.Param {
	return []workload.Param{
		{Name: "pacing", Kind: workload.Choice, Choices: []string{pacingPaced, pacingTicked}, Default: pacingPaced, Help: "paced: batches spread evenly over a second; ticked: the load of a tick all at once, as the original"},
		{Name: "tickRate", Kind: workload.Integer, Default: "1", Unit: "ticks/s", Min: 1, Max: 1000, Help: "ticks a second of each generator, with pacing=ticked"},
		{Name: "events", Kind: workload.Integer, Default: "100000", Unit: "events", Min: 1, Max: 1_000_000_000_000, Help: "events to store when neither --count nor --duration says"},
		{Name: "bookName", Kind: workload.Text, Default: "estore_perf_test_01", Help: "book of the events"},
		{Name: "scope", Kind: workload.Text, Default: "qa_session_01", Help: "scope of the events"},
		{Name: "generationMode", Kind: workload.Choice, Choices: []string{generate.SingleRoot, generate.MultiRoot, generate.Mixed}, Default: generate.SingleRoot, Help: "one tree; several (roots); or several, every tenth batch being single events without a parent"},
		{Name: "roots", Kind: workload.Integer, Default: "10", Unit: "trees", Min: 1, Max: 10_000, Help: "trees of each generator with MULTI_ROOT and MIXED"},
		{Name: "treeDepth", Kind: workload.Integer, Default: "0", Unit: "levels", Min: 0, Max: 20, Help: "levels below a root"},
		{Name: "childCount", Kind: workload.Integer, Default: "0", Unit: "events", Min: 0, Max: 1000, Help: "children of each node of a tree"},
		{Name: "failureRate", Kind: workload.Integer, Default: "0", Unit: "per mille", Min: 0, Max: 1000, Help: "events with status FAILED"},
		{Name: "descriptionLength", Kind: workload.Integer, Default: "0", Unit: "bytes", Min: 0, Max: 1 << 20, Help: "random bytes in name and body beside the rest"},
		{Name: "bodyKind", Kind: workload.Choice, Choices: []string{generate.BodyTable, generate.BodyRandom}, Default: generate.BodyTable, Help: "table: generated JSON of the size of payload; randomText: random bytes as the public generator makes them"},
		{Name: "bodyDataLength", Kind: workload.Integer, Default: "200", Unit: "bytes", Min: 0, Max: 64 << 20, Help: "random bytes of a body with bodyKind=randomText"},
		{Name: "compressibility", Kind: workload.Number, Default: "5.4", Unit: "times", Min: 1.1, Max: 30, Help: "about how often smaller LZ4 makes a batch of 300 documented bodies"},
		{Name: "attachedMessages", Kind: workload.Integer, Default: "1", Unit: "ids", Min: 0, Max: 1000, Help: "message ids attached to each event"},
		{Name: "publish", Kind: workload.Choice, Choices: []string{"confirm", "fireAndForget"}, Default: "confirm", Help: "fireAndForget sends transient messages without confirmation, as the original"},
	}
}

// storeParams are those of the transport and the estore box.
func storeParams() []workload.Param {
	return []workload.Param{
		{Name: "via", Kind: workload.Target, Default: facts.ViaDirect, Help: "direct, or the URL of a RabbitMQ between generators and store stage: amqp://host:5672/"},
		{Name: "prefetchCount", Kind: workload.Integer, Default: "160", Unit: "batches", Min: 1, Max: 65_535, Help: "batches delivered to the store stage and not yet acknowledged"},
		{Name: "schema", Kind: workload.Choice, Choices: []string{schemaLean, schemaCradle}, Default: schemaLean, Help: "lean: bounded partitions; cradle: the original's tables and bytes"},
		{Name: "bucket", Kind: workload.Duration, Default: "2s", Help: "how much time one partition of schema=lean holds"},
		{Name: "shards", Kind: workload.Integer, Default: "1", Unit: "partitions", Min: 1, Max: 256, Help: "partitions that the batches of one bucket are spread over"},
		{Name: "compression", Kind: workload.Choice, Choices: []string{"lz4", "zlib", "zstd", "none"}, Default: "lz4", Help: "codec of the stored content"},
		{Name: "compressOver", Kind: workload.Size, Default: "5120", Min: 0, Max: 1 << 30, Help: "content up to this size is stored as it is"},
		{Name: "maxUncompressedMessageBatchSize", Kind: workload.Size, Default: "5120", Min: 0, Max: 1 << 30, Help: "what compressOver is with compat=on, unless that is given by hand: the original looks at the wrong threshold"},
		{Name: "maxTestEventBatchSize", Kind: workload.Size, Default: "1MiB", Min: 1024, Max: 1 << 30, Help: "content over this is cut into several rows"},
		{Name: "maxTaskCount", Kind: workload.Integer, Default: "128", Unit: "batches", Min: 1, Max: 1_000_000, Help: "batches in the store stage at once"},
		{Name: "maxTaskDataSize", Kind: workload.Size, Default: "512MiB", Min: 1, Max: 1 << 40, Help: "bytes of content in the store stage at once"},
		{Name: "maxRetryCount", Kind: workload.Integer, Default: "1000000", Unit: "retries", Min: 0, Max: 1_000_000_000, Help: "retries of one batch before onFailure"},
		{Name: "retryDelayBase", Kind: workload.Duration, Default: "100ms", Help: "wait before the first retry; it doubles up to 5 s, with jitter"},
		{Name: "processingThreads", Kind: workload.Integer, Default: "2", Unit: "threads", Min: 1, Max: 1024, Help: "threads that validate, encode and compress"},
		{Name: "onFailure", Kind: workload.Choice, Choices: []string{failRequeue, failDead, failDrop}, Default: failRequeue, Help: "what becomes of a batch when its retries are exhausted"},
		{Name: "batchId", Kind: workload.Choice, Choices: []string{"hash", "random"}, Default: "hash", Help: "hash: a batch delivered twice is stored once; random: twice, as the original"},
		{Name: "timeout", Kind: workload.Duration, Default: "5s", Help: "limit of one call of the store"},
		{Name: "counterPersistenceInterval", Kind: workload.Duration, Default: "15s", Help: "period in which statistics are written; 0: never"},
		{Name: "resultPageSize", Kind: workload.Integer, Default: "50", Unit: "rows", Min: 1, Max: 1_000_000, Help: "rows of one page of a query"},
		{Name: "insert", Kind: workload.Choice, Choices: []string{"raw", "gorm"}, Default: "raw", Help: "how SQL is spoken: statements of many rows, or batches of gorm"},
		{Name: "rowsPerCall", Kind: workload.Integer, Default: "16", Unit: "rows", Min: 1, Max: 1000, Help: "most batches in one transaction of SQL or one pipeline of Redis"},
	}
}

// runParams are those of the run as a whole.
func runParams() []workload.Param {
	return []workload.Param{
		{Name: "query", Kind: workload.Choice, Choices: []string{queryOff, queryAfter, queryDuring, queryBoth}, Default: queryAfter, Help: "when to query by time range, by id and by parent"},
		{Name: "queries", Kind: workload.Integer, Default: "300", Unit: "queries", Min: 1, Max: 1_000_000_000, Help: "queries of the phase after the load"},
		{Name: "queryThreads", Kind: workload.Integer, Default: "2", Unit: "threads", Min: 1, Max: workload.MaxThreads, Help: "threads that query"},
		{Name: "queryRate", Kind: workload.Number, Default: "0", Unit: "queries/s", Min: 0, Max: workload.MaxRate, Help: "queries due a second; 0: as fast as the threads go"},
		{Name: "queryRange", Kind: workload.Duration, Default: "1s", Help: "length of a time range"},
		{Name: "queryLimit", Kind: workload.Integer, Default: "1000", Unit: "events", Min: 1, Max: 1_000_000_000, Help: "most events that one query returns"},
		{Name: "verify", Kind: workload.Choice, Choices: []string{"full", "off"}, Default: "full", Help: "full reads every event back and accounts for it"},
		{Name: "crash", Kind: workload.Duration, Default: "0s", Help: "end the store stage without notice each time this long has passed, and start it again; 0: never"},
		{Name: "search", Kind: workload.Switch, Default: "off", Help: "look for the highest rate whose backlog stays bounded, beginning with --rate"},
		{Name: "searchTrial", Kind: workload.Duration, Default: "10s", Help: "how long each rate is tried"},
		{Name: "watch", Kind: workload.Text, Help: "processes to watch beside our own: cassandra=PID,rabbitmq=PID"},
		{Name: "nodetool", Kind: workload.Text, Help: "where Cassandra's JVM can be asked: the URL of its Jolokia agent, or a nodetool command"},
		{Name: "compat", Kind: workload.Switch, Default: "off", Help: "on: the original's lossy ways, their losses counted"},
	}
}
