package report

// Facts is the profile's own record in a run's folder, from which the th2-style report
// and the verdict are made. It is rewritten every second, so that a run cut short
// leaves what it had. Times are nanoseconds since measurement began unless their names
// say otherwise; sizes are bytes.
type Facts struct {
	// Schema, Compression, Pacing and the following are the parameters in force, for
	// the report's section on the configuration.
	Schema      string `json:"schema"`
	Store       string `json:"store"`
	Transport   string `json:"transport"`
	Compression string `json:"compression"`
	Pacing      string `json:"pacing"`
	Compat      bool   `json:"compat"`
	Durability  string `json:"durability"`
	// Config holds every effective value of both boxes by its documented key.
	Config map[string]string `json:"config"`
	// Book, Page and Scope say where the events of this run are.
	Book  string `json:"book"`
	Page  string `json:"page"`
	Scope string `json:"scope"`

	// Machine is the machine that perfbench ran on.
	Machine Machine `json:"machine"`

	// Steps are the segments of the run in order, each change of a knob beginning a new
	// one. The last one is "drain": what was stored after the generators had ended.
	Steps []Step `json:"steps"`
	// Series are samples over the whole run, SeriesEveryNs apart: one second, doubled
	// whenever there would be more than 600.
	Series        []SeriesPoint `json:"series"`
	SeriesEveryNs int64         `json:"series_every_ns"`
	// Processes are the processes of this machine that were watched.
	Processes []Process `json:"processes"`

	Ledger Ledger `json:"ledger"`
	Losses Losses `json:"losses"`
	Drain  *Drain `json:"drain,omitempty"`
	// Limits are the limits of the store stage, and the most that it held at once.
	Limits Limits `json:"limits"`
	// Search is the result of the search for the highest sustainable rate.
	Search *Search `json:"search,omitempty"`
	// Crashes are when the store stage was ended on purpose.
	Crashes []int64 `json:"crashes_ns,omitempty"`
	// Errors counts the errors of the store stage, by text.
	Errors []Error `json:"errors,omitempty"`
}

// Machine describes a machine; unknown fields are empty or 0.
type Machine struct {
	Processor string `json:"processor"`
	Memory    int64  `json:"memory_bytes"`
}

// Step is one step. What is offered, sent and confirmed counts for the step in which it
// was generated; what is received, stored and acknowledged for the step at that time.
type Step struct {
	// Name is the number of the step from 1, or "drain".
	Name   string `json:"name"`
	FromNs int64  `json:"from_ns" told:"signed"`
	ToNs   int64  `json:"to_ns" told:"signed"`
	// Batch, Rate, Generators and Payload are the settings of the step; Rate is over
	// all generators, 0 means a closed loop.
	Batch      int     `json:"batch"`
	Rate       float64 `json:"rate"`
	Generators int     `json:"generators"`
	Payload    int     `json:"payload"`
	// Events and batches, by how far they got.
	Offered   Amount `json:"offered"`
	Sent      Amount `json:"sent"`
	Confirmed Amount `json:"confirmed"`
	Received  Amount `json:"received"`
	Stored    Amount `json:"stored"`
	Acked     Amount `json:"acked"`
	// MaxBatch is the largest number of events in one received batch.
	MaxBatch int `json:"max_batch"`
	// SentBytes and ReceivedBytes are the size of encoded protobuf.
	SentBytes     int64 `json:"sent_bytes"`
	ReceivedBytes int64 `json:"received_bytes"`
	// RawBytes is the size of Cradle content before compression, CompressedBytes after
	// it; LinkBytes is that of the attached message ids as encoded, and StoredBytes
	// that of everything passed to the store: content, links, keys.
	RawBytes        int64 `json:"raw_bytes"`
	CompressedBytes int64 `json:"compressed_bytes"`
	LinkBytes       int64 `json:"link_bytes"`
	StoredBytes     int64 `json:"stored_bytes"`
	Rows            int64 `json:"rows"`
	Statements      int64 `json:"statements"`
	Retries         int64 `json:"retries"`
	// DeadLettered events, in DeadBatches, were rejected or given up by the store
	// stage; Failed events were stored and have status FAILED. Where the last two are
	// absent, an earlier version did not count them.
	DeadLettered int64  `json:"dead_lettered"`
	DeadBatches  *int64 `json:"dead_lettered_batches,omitempty"`
	Failed       *int64 `json:"status_failed_events,omitempty"`
	// BlockedNs is the total time that threads of the store stage waited for room under
	// the limits: back-pressure.
	BlockedNs int64 `json:"blocked_ns"`
	// Latency is by stage, from the intended time of sending unless the name says
	// otherwise.
	Latency []StageLatency `json:"latency"`
}

// DrainStep is the name of the step after the generators have ended.
const DrainStep = "drain"

// Profile is the name of the profile.
const Profile = "event-store"

// Roles of processes other than stores, which are named after their drivers.
const (
	RoleOwn    = "perfbench"
	RoleBroker = "rabbitmq"
)

// ViaDirect is the transport within this process.
const ViaDirect = "direct"

// Amount is a number of events, and of the batches that they came in.
type Amount struct {
	Events  int64 `json:"events"`
	Batches int64 `json:"batches"`
}

// Add counts a batch with that many events.
func (a *Amount) Add(events int) { a.Events, a.Batches = a.Events+int64(events), a.Batches+1 }

// Stages of a batch on its way. Each is measured from the end of the previous one
// unless its name says "due".
const (
	// StageConfirm is from the hand-over to the transport's confirmation.
	StageConfirm = "publish to confirm"
	// StageReceive is from the hand-over until the store stage has received it.
	StageReceive = "publish to receive"
	// StageStore is one call of the store; retries count separately.
	StageStore = "store write"
	// StageDurable is from when the batch was due until it is durable.
	StageDurable = "due to durable"
	// StageSend is from when the batch was due to its hand-over.
	StageSend = "due to publish"
	// StageWork is the time for validating, encoding and compressing.
	StageWork = "validate and compress"
)

// StageLatency is the distribution of one stage over batches, in nanoseconds.
type StageLatency struct {
	Stage string `json:"stage"`
	Count int64  `json:"count"`
	Mean  int64  `json:"mean_ns"`
	P50   int64  `json:"p50_ns"`
	P95   int64  `json:"p95_ns"`
	P99   int64  `json:"p99_ns"`
	P999  int64  `json:"p99_9_ns"`
	Max   int64  `json:"max_ns"`
}

// SeriesPoint is one sample: rates over the interval that ends at AtNs, and states at
// that moment.
type SeriesPoint struct {
	AtNs int64 `json:"at_ns"`
	// Step is the index of the step in force.
	Step int `json:"step"`
	// Events per second, by how far they got.
	Offered  float64 `json:"offered_per_s"`
	Sent     float64 `json:"sent_per_s"`
	Received float64 `json:"received_per_s"`
	Stored   float64 `json:"stored_per_s"`
	// Means over the interval, 0 if nothing was received.
	BatchEvents float64 `json:"batch_events"`
	BatchBytes  float64 `json:"batch_bytes"`
	EventBytes  float64 `json:"event_bytes"`
	// Bytes per second of content.
	Raw        float64 `json:"raw_per_s"`
	Compressed float64 `json:"compressed_per_s"`
	// Depth of the transport; -1: unknown. BacklogEvents is what was due but is not
	// durable, LagNs the age of the oldest of it.
	Ready         int64 `json:"ready" told:"signed"`
	Unacked       int64 `json:"unacked" told:"signed"`
	QueuedBytes   int64 `json:"queued_bytes" told:"signed"`
	BacklogEvents int64 `json:"backlog_events" told:"signed"`
	LagNs         int64 `json:"lag_ns" told:"signed"`
	// Tasks and TaskBytes are what the store stage holds.
	Tasks     int64 `json:"tasks"`
	TaskBytes int64 `json:"task_bytes"`
	// Blocked is the transport's reason for not accepting more.
	Blocked string `json:"blocked,omitempty"`
}

// Process has the samples of one process. An unknown number is absent, never 0.
type Process struct {
	// Role is "perfbench", "rabbitmq", "cassandra" and the like.
	Role string `json:"role"`
	PID  int    `json:"pid"`
	// Name is what the process calls itself; Note says what is not available and why.
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
	// JVMNote is Note for the heap and its collections.
	JVMNote string `json:"jvm_note,omitempty"`
	// JavaArgs are those options of its JVM that begin with -X: memory, collector and
	// log, and nothing that may be secret.
	JavaArgs []string        `json:"java_args,omitempty"`
	Points   []ResourcePoint `json:"points"`
}

// ResourcePoint is one sample of a process, over the interval that ends at AtNs.
type ResourcePoint struct {
	AtNs int64 `json:"at_ns"`
	// CPU is cores in use, Throttled the fraction of periods throttled, 0 to 1.
	CPU       *float64 `json:"cpu_cores,omitempty"`
	Throttled *float64 `json:"throttled,omitempty"`
	RSS       *int64   `json:"rss_bytes,omitempty"`
	// NetIn and NetOut are bytes per second; the note of the process says what they
	// cover.
	NetIn  *float64 `json:"net_in_per_s,omitempty"`
	NetOut *float64 `json:"net_out_per_s,omitempty"`
	// For a JVM, or for Go in our own process: heap used and its limit, old and young
	// generation; collections and their time since the previous sample.
	Heap     *int64 `json:"heap_bytes,omitempty"`
	HeapMax  *int64 `json:"heap_max_bytes,omitempty"`
	Old      *int64 `json:"old_bytes,omitempty"`
	Young    *int64 `json:"young_bytes,omitempty"`
	OldGCs   *int64 `json:"old_gcs,omitempty"`
	YoungGCs *int64 `json:"young_gcs,omitempty"`
	GCTimeNs *int64 `json:"gc_time_ns,omitempty"`
	// Load average of the machine over one minute, five and fifteen, and memory in use
	// on it.
	LoadPerCPU   *float64 `json:"load_per_core,omitempty"`
	Load5PerCPU  *float64 `json:"load5_per_core,omitempty"`
	Load15PerCPU *float64 `json:"load15_per_core,omitempty"`
	MachineUsed  *int64   `json:"machine_used_bytes,omitempty"`
}

// Ledger accounts for every generated event, warm-up included.
type Ledger struct {
	// Generated counts events that were made; Sent those handed over; Confirmed those
	// confirmed by the transport; Acked those reported durable by the store.
	Generated int64 `json:"generated"`
	Sent      int64 `json:"sent"`
	Confirmed int64 `json:"confirmed"`
	Acked     int64 `json:"acked"`
	// DeadLettered events were rejected by the store stage or given up after their
	// retries.
	DeadLettered int64 `json:"dead_lettered"`
	// The results of reading everything back. Once is stored exactly once; Duplicated
	// more than once; Missing was confirmed but is not there; Unconfirmed was sent, not
	// confirmed, and is not there, ThereAnyway not confirmed, and is; Unexpected was never made; Corrupt differs from what
	// was made; OutOfOrder comes after a later one of its generator.
	Read        bool  `json:"read_back"`
	Once        int64 `json:"stored_once"`
	Duplicated  int64 `json:"duplicated"`
	Missing     int64 `json:"missing"`
	Unconfirmed int64 `json:"unconfirmed_missing"`
	ThereAnyway int64 `json:"unconfirmed_stored,omitempty"`
	Unexpected  int64 `json:"unexpected"`
	Corrupt     int64 `json:"corrupt"`
	OutOfOrder  int64 `json:"out_of_order"`
	ReadNs      int64 `json:"read_ns"`
	// Examples names up to ten events of each kind that should not occur.
	Examples map[string][]string `json:"examples,omitempty"`
}

// Losses counts what compat=on loses like the original, in events.
type Losses struct {
	// RootRejected counts those of the first batch, whose parent is empty (Q1).
	RootRejected int64 `json:"root_rejected"`
	// Remainder counts those dropped by integer division (Q4), LateTicks those of ticks
	// that were not caught up (Q5).
	Remainder int64 `json:"remainder"`
	LateTicks int64 `json:"late_ticks"`
	// Unconfirmed events were published without confirmation and never arrived (Q6).
	Unconfirmed int64 `json:"unconfirmed"`
	// Rejected events were invalid and dropped (Q9), Exhausted ones given up after the
	// last retry (Q10), Oversized ones in batches over the limit (Q11).
	Rejected  int64 `json:"rejected"`
	Exhausted int64 `json:"exhausted"`
	Oversized int64 `json:"oversized"`
	// Duplicates were stored again under another id (Q8).
	Duplicates int64 `json:"duplicates"`
}

// Drain is what became of the backlog after the generators had ended.
type Drain struct {
	FromNs  int64 `json:"from_ns" told:"signed"`
	ToNs    int64 `json:"to_ns" told:"signed"`
	Backlog int64 `json:"backlog_events"`
	Left    int64 `json:"left_events"`
}

// Limits are the limits of the store stage, and the most that it held at once.
type Limits struct {
	MaxTasks     int   `json:"max_tasks"`
	MaxTaskBytes int64 `json:"max_task_bytes"`
	PeakTasks    int64 `json:"peak_tasks"`
	PeakBytes    int64 `json:"peak_bytes"`
}

// Search is the course of a search for the highest sustainable rate.
type Search struct {
	// Rate is the highest rate that held, 0 if none did.
	Rate   float64       `json:"rate"`
	Trials []SearchTrial `json:"trials"`
}

// SearchTrial is one rate that was tried.
type SearchTrial struct {
	Rate   float64 `json:"rate"`
	FromNs int64   `json:"from_ns"`
	ToNs   int64   `json:"to_ns"`
	Stored float64 `json:"stored_per_s"`
	// Slope is how fast the backlog grew, in events per second.
	Slope float64 `json:"backlog_slope"`
	Held  bool    `json:"held"`
	Why   string  `json:"why"`
}

// Error is one kind of error, and how often it occurred.
type Error struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// QueryOps are the kinds of query.
var QueryOps = []string{"range", "id", "parent"}
