// Package rundir is the run directory: the model of run.json, writing a run as it goes
// so that a killed one loses at most a second, and reading it back. Every document is a
// pure function of what this package loads. It also finds, archives and deletes kept runs.
package rundir

import (
	"cmp"
	_ "embed" // for the schema
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// Schema is the version of run.json's layout.
const Schema = 1

//go:generate cp run.schema.json ../../docs/run.schema.json

// RunSchema is the JSON Schema (draft 2020-12) of run.json.
//
//go:embed run.schema.json
var RunSchema []byte

// CutShort is the value of EndedBy for a run whose process died.
const CutShort = "cut short"

// StillRunning is the value of EndedBy for a run that was loaded while it was going;
// its file says CutShort.
const StillRunning = "still running"

// Run is run.json: everything about one run except its series and histograms.
type Run struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
	// Name is the name of the run in a plan of several; empty for others.
	Name    string `json:"name,omitempty"`
	Profile string `json:"profile"`
	Mode    string `json:"mode"`
	// Unit is the unit of counts and throughput.
	Unit string `json:"unit"`
	// Target is the URL, without secrets.
	Target  string    `json:"target"`
	Store   Store     `json:"store"`
	Started time.Time `json:"started"`
	// Measured is when measurement began, after the warm-up, or would have begun if the
	// run had not ended before.
	Measured time.Time `json:"measured"`
	Ended    time.Time `json:"ended"`
	// EndedBy is "count", "duration", "interrupt", "user", "search", "until",
	// "threshold", "fault: …", or CutShort; the file says CutShort while the run is
	// going.
	EndedBy string  `json:"ended_by"`
	Seed    int64   `json:"seed"`
	WarmupS float64 `json:"warmup_s"`
	// WarmupUnsettled means that the warm-up was to end once the run had settled, but
	// reached its limit first.
	WarmupUnsettled bool `json:"warmup_unsettled,omitempty"`
	// MeasuredS is the length of the measured part in seconds.
	MeasuredS float64 `json:"measured_s"`
	// PausedS is for how much of that the run was paused, which is in no rate.
	PausedS float64 `json:"paused_s,omitempty"`
	// Of is OfSearch or OfSweep for a run that began as a search or as one of a sweep, else empty.
	Of string `json:"of,omitempty"`
	// Turn is nil for a run that did not take turns with others.
	Turn *Turn `json:"turn,omitempty"`
	// Workers are the processes that carried out the run together; none if there was
	// only one.
	Workers []Worker `json:"workers,omitempty"`
	// Resumed has an entry for each time that their coordinator died and another took
	// over.
	Resumed []Resumed `json:"resumed,omitempty"`
	// DataBytes is the total size of the values that the plan stores, 0 if unknown.
	DataBytes int64 `json:"data_bytes,omitempty"`
	// Sized means that each unit that counts is one value, as large as the setting payload says.
	Sized bool `json:"sized,omitempty"`
	// Settings are the live settings at the start, under the names that users type.
	Settings map[string]float64 `json:"settings"`
	// Parameters are the fixed values as text; Origins says where each value, settings
	// included, came from.
	Parameters map[string]string `json:"parameters"`
	Origins    map[string]string `json:"origins"`
	// SetBy are the knobs that a parameter of another name sets at the start, each with that name.
	SetBy map[string]string `json:"set_by,omitempty"`
	// Files are the paths of --file, and Timetable the entries of --at, as they were
	// given; folders of older versions have neither.
	Files     []string `json:"files,omitempty"`
	Timetable []string `json:"timetable,omitempty"`
	// Commands are those of the faults that are commands; the value of the setting fault-exec is the
	// number of one, from 1.
	Commands   []workload.Command `json:"commands,omitempty"`
	Operations []Operation        `json:"operations"`
	// Response has the response times of all calls that count in totals; nil in runs made before it
	// was computed.
	Response *Latency  `json:"response_ns,omitempty"`
	Segments []Segment `json:"segments"`
	// Phases are those phases of the plan that were measured, with the tracks that ran
	// in them.
	Phases []Phase `json:"phases,omitempty"`
	// Shares says for each track how evenly its threads have shared the work, except
	// for tracks with a single thread.
	Shares []Shares `json:"shares,omitempty"`
	// Sessions are those of the users of each track that has any.
	Sessions []Sessions `json:"sessions,omitempty"`
	Changes  []Change   `json:"changes"`
	Marks    []Mark     `json:"marks,omitempty"`
	// Parts names, as TRACK.OP, the operations that are parts of others or measured
	// beside the work: their units do not count in totals.
	Parts []string `json:"parts,omitempty"`
	// Pauses are the tracks whose threads pause of their own accord, which the times of their
	// operations do not have in them.
	Pauses []string `json:"pauses,omitempty"`
	// Units maps TRACK.OP to the unit of each operation that counts something other
	// than the run's unit. Such operations do not count in totals either.
	Units        map[string]string     `json:"units,omitempty"`
	Errors       []Error               `json:"errors"`
	Verification workload.Verification `json:"verification"`
	Verdict      Verdict               `json:"verdict"`
	Environment  map[string]any        `json:"environment"`
	// Tags are labels by which the user wants to find the run, as it began; those of TagsFile
	// are in their place.
	Tags map[string]string `json:"tags,omitempty"`
	// Note is a line that the user has written about the run afterwards; it is kept in
	// NoteFile.
	Note string `json:"-"`
	// Archived says that the run is one file, which is never changed.
	Archived bool `json:"-"`
	// Sought is what the search of the run found, as FoundFile has it; nil if it was none, or tried no
	// level to its end: the run is one like others then.
	Sought *Sought `json:"-"`
	// Observed is what was observed of perfbench and its machine during the run, on
	// which the verdict is based; absent in folders of older versions.
	Observed *verdict.Observed `json:"observed,omitempty"`
	// Why says what held the run back; absent until its end and in folders of older
	// versions.
	Why *Why `json:"why,omitempty"`
	// Faults are the accounts of the faults of the timetable, worked out at the end.
	Faults []Fault `json:"faults,omitempty"`
	// Outages is when nothing was done for a second or more although calls were due or under way, in order,
	// to some hundredths of a second.
	Outages []verdict.Outage `json:"outages,omitempty"`
	// Emptied is when nothing was done either, but the store answered: without records that it had
	// acknowledged. An outage ends where such a time begins.
	Emptied []verdict.Outage `json:"emptied,omitempty"`
	// Silences are the times in which nothing was done, from which the accounts are worked out, and Sound
	// those in which no call failed.
	Silences, Sound []measure.Silence `json:"-"`
	// Notices are sentences that every report must repeat: the numbers do not describe
	// a real server, warnings of the file reader …
	Notices []string `json:"notices"`
	// Facts is the profile's own record, documented beside the profile.
	Facts json.RawMessage `json:"facts"`
	// Journal says how much of the files beside it this run.json covers.
	Journal Extent `json:"journal"`
}

// What a run may be Of.
const (
	OfSearch = "find"
	OfSweep  = "sweep"
)

// Turn says with which runs a run took turns, so that disturbances of the machine
// affected all of them alike.
type Turn struct {
	// Series is the same for all of these runs, and for no others. Round counts from 1:
	// each variant compared has one run in every round.
	Series string `json:"series"`
	Round  int    `json:"round"`
}

// Sought is what is needed of FoundFile to list a search, or to compare it.
type Sought struct {
	// Over is the knob, "rate" or "threads"; Under are the conditions.
	Over  string   `json:"over"`
	Under []string `json:"under"`
	// Found is the highest level that held; 0: none did. TooMuch is the lowest that did not; 0:
	// all held. With both 0 none was tried to its end.
	Found   float64 `json:"found"`
	TooMuch float64 `json:"too_much"`
	// Done is what the level that held did, in units per second.
	Done float64 `json:"done_per_s"`
	// P99 is the p99 of the response time there in nanoseconds; 0: it is not known.
	P99 int64 `json:"-"`
	// Behind is how much more was due there; 0: it kept up.
	Behind float64 `json:"behind_per_s"`
	// Best is the number of threads that did most of those that held; 0: it is not known.
	Best float64 `json:"best"`
	// Complete means that the search came to its end.
	Complete bool `json:"complete"`
	// Limit says by what TooMuch was too much.
	Limit struct {
		By string `json:"by"`
	} `json:"limit"`
	// Recovery is set if the store had to recover by itself from an overload.
	Recovery *struct{} `json:"recovery"`
}

// tried reports whether there was a search that tried a level to its end.
func (s *Sought) tried() bool { return s != nil && (s.Found > 0 || s.TooMuch > 0) }

// AtLeast reports whether the highest level that was tried held, so that more may.
func (s *Sought) AtLeast() bool { return s.TooMuch <= s.Found }

// Unknown reports whether nothing is known of the store although levels were tried: none held, and
// perfbench or its number of threads was why.
func (s *Sought) Unknown() bool {
	return s.Found == 0 && s.TooMuch > 0 && (s.Limit.By == "perfbench" || s.Limit.By == "threads")
}

// ReadSought reads what the search of the run in a folder, or in an archive of one, found; nil
// if it was none.
func ReadSought(dir string) (*Sought, error) {
	data, err := ReadBeside(dir, FoundFile, infile.Found)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var file struct {
		Sought
		Steps []struct {
			Level    float64 `json:"level"`
			Done     float64 `json:"done_per_s"`
			Held     bool    `json:"held"`
			Stands   bool    `json:"stands"`
			Response struct {
				P99 int64 `json:"p99"`
			} `json:"response_ns"`
		} `json:"steps"`
	}
	if err == nil {
		err = json.Unmarshal(infile.Harmless(data), &file)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the search found: %w", err)
	}
	s := &file.Sought
	for _, t := range file.Steps {
		if t.Held && t.Stands && t.Level == s.Found && t.Done == s.Done {
			s.P99 = t.Response.P99
		}
	}
	return s, nil
}

// Worker is one of the processes that carried out a run together.
type Worker struct {
	// Number counts from 1.
	Number int    `json:"number"`
	Host   string `json:"host"`
	PID    int    `json:"pid"`
	CPUs   int    `json:"cpus"`
	// State is "ended"; "gone" for one that was lost; "stalled" for one that was there
	// but silent at the end; or "working" for one that had not reported everything yet.
	State string `json:"state"`
	// Count is the units that succeeded, Errors the calls that failed, as far as it
	// reported them.
	Count  int64 `json:"count"`
	Errors int64 `json:"errors"`
	// OffsetMS is how far its clock was ahead of the coordinator's, accurate to half of
	// RoundTripMS. SkewMS is how much later than agreed it began, by the coordinator's
	// clock.
	OffsetMS    float64 `json:"clock_offset_ms"`
	RoundTripMS float64 `json:"round_trip_ms"`
	SkewMS      float64 `json:"skew_ms"`
	// ChangeMS is the longest time that a live change took to come into force there; 0
	// if there was none.
	ChangeMS float64 `json:"change_ms,omitempty"`
	// Applied is when the settings of each segment but the first came into force there.
	Applied []Applied `json:"applied,omitempty"`
	// Stalls is how often it fell silent and came back.
	Stalls int `json:"stalls,omitempty"`
	// GivenUp means that it was silent for so long that the others went on without it;
	// if it has ended, it came back later.
	GivenUp bool `json:"given_up,omitempty"`
	// KnownS is the time up to which a worker that did not come to its end reported
	// what it did. LostS is when it was missed or, if it was there but silent, given
	// up.
	KnownS *float64 `json:"known_until_s,omitempty"`
	LostS  *float64 `json:"lost_at_s,omitempty"`
	// DealtS is when its threads and its rate, or what it had left to do, were given to the
	// others, in seconds since measurement began.
	DealtS *float64 `json:"dealt_at_s,omitempty"`
	// Heir is the number of the worker that did what this one had left to do. PartOf, of
	// such an heir, is the number of the worker that had the part at the start. 0 if none.
	Heir   int `json:"dealt_to,omitempty"`
	PartOf int `json:"part_of,omitempty"`
	// Dismissed means that it came back after that and was told to end.
	Dismissed bool `json:"dismissed,omitempty"`
	// Doubts are the reasons why its own figures are not valid; Fault is what ended its
	// part early.
	Doubts []string `json:"doubts,omitempty"`
	// Company is what it saw of its machine; absent if that is not known.
	Company *verdict.Company `json:"company,omitempty"`
	Fault   string           `json:"fault,omitempty"`
	// Unusable means that Fault is of something it sent: nothing that came later counts.
	Unusable bool `json:"unusable,omitempty"`
	// Arrivals say how its own calls came in open loop, as those of Segment say it of all
	// workers' together.
	Arrivals []Arrivals `json:"arrivals,omitempty"`
}

// Resumed records that the coordinator of a run died and another took over: when, in
// seconds since measurement began, and how long there had been none.
type Resumed struct {
	AtS  float64 `json:"at_s"`
	ForS float64 `json:"for_s"`
}

// Applied is when settings came into force at a worker, in seconds since measurement
// began, by the coordinator's clock.
type Applied struct {
	Segment int     `json:"segment"`
	AtS     float64 `json:"at_s"`
}

// Extent is how much of latency.hlog, series.csv and store.csv belongs to a run.json.
// What lies beyond was written by a process that died before it could update run.json.
type Extent struct {
	// Seconds is how much of the measured part is covered.
	Seconds     float64 `json:"seconds"`
	HlogBytes   int64   `json:"hlog_bytes"`
	SeriesBytes int64   `json:"series_bytes"`
	// SamplesBytes is 0 when nothing was sampled.
	SamplesBytes int64 `json:"store_bytes,omitempty"`
}

// Store describes the store that was measured.
type Store struct {
	// Name is the product label in documents: "redis", "embedded".
	Name     string            `json:"name"`
	Product  string            `json:"product"`
	Version  string            `json:"version"`
	Topology string            `json:"topology"`
	Details  map[string]string `json:"details,omitempty"`
	// InProcess means that the store was part of the perfbench process.
	InProcess bool `json:"in_process,omitempty"`
}

// Operation is the result of one operation.
type Operation struct {
	Track string `json:"track"`
	Op    string `json:"op"`
	// Count is the units that succeeded. Calls is the calls timed, which is the count
	// of each histogram. Errors is the calls that failed. Unstarted is the units that
	// were due but never started.
	Count     int64 `json:"count"`
	Calls     int64 `json:"calls"`
	Errors    int64 `json:"errors"`
	Unstarted int64 `json:"unstarted"`
	// Retries is the calls that failed and were tried again, which are no errors.
	Retries int64 `json:"retries,omitempty"`
	// InTime is the calls that were answered within the client's deadline, counted from when they
	// were due: what was of use to their callers. It is absent without a deadline.
	InTime *int64 `json:"in_time,omitempty"`
	// Beyond is the number of values over one hour, which were clipped to it.
	Beyond int64 `json:"beyond_range"`
	// Throughput is Count over ActiveS, the time that the track ran and was not paused; null if
	// that is shorter than measure.ShortestRate, or if the run's verification failed.
	Throughput *float64 `json:"throughput_per_s"`
	ActiveS    float64  `json:"active_s"`
	Response   Latency  `json:"response_ns"`
	Service    Latency  `json:"service_ns"`
	Wait       Latency  `json:"wait_ns"`
	// Lateness is the part of the wait that is perfbench's own fault; all 0 in closed
	// loop and in runs made before it was measured.
	Lateness Latency `json:"lateness_ns"`
	// Slowest are the response times of requests that make several calls at once, if those
	// are independent; of the whole run only, and nil in runs made before they were computed.
	Slowest []Slowest `json:"slowest_of,omitempty"`
}

// Slowest is the response time, in nanoseconds, of a request that waits for several calls;
// a percentile is nil if too few calls were timed to tell.
type Slowest struct {
	Calls int    `json:"calls"`
	P50   *int64 `json:"p50_ns"`
	P99   *int64 `json:"p99_ns"`
}

// Late reports whether the run has lateness, that is, ran in open loop.
func (o *Operation) Late() bool { return o.Wait.Max > 0 && o.Lateness.Max > 0 }

// Succeeded returns how many of an operation's calls succeeded: of those that were timed, the ones that did not time out.
func (r *Run) Succeeded(o Operation) int64 {
	n := o.Calls
	for _, e := range r.Errors {
		if e.Track == o.Track && e.Op == o.Op && e.Class == store.Timeout.String() {
			n -= e.Count
		}
	}
	return n
}

// Latency summarizes one histogram, in nanoseconds.
type Latency struct {
	Mean  float64 `json:"mean"`
	Min   int64   `json:"min"`
	P50   int64   `json:"p50"`
	P90   int64   `json:"p90"`
	P95   int64   `json:"p95"`
	P99   int64   `json:"p99"`
	P999  int64   `json:"p99_9"`
	P9999 int64   `json:"p99_99"`
	Max   int64   `json:"max"`
}

// Segment is a period of the run with constant settings, or a ramp; times are seconds
// since measurement began.
type Segment struct {
	From     float64            `json:"from_s"`
	To       float64            `json:"to_s"`
	Settings map[string]float64 `json:"settings"`
	// SettingsEnd is what the settings of a ramp had come to by its end; nil if they did
	// not change within the segment.
	SettingsEnd map[string]float64 `json:"settings_end,omitempty"`
	Operations  []Operation        `json:"operations"`
	// Response is as in Run.
	Response *Latency `json:"response_ns,omitempty"`
	// Arrivals say how the calls of each track came in open loop, where enough came to tell; in a
	// run of several workers, those of all of them together.
	Arrivals []Arrivals `json:"arrivals,omitempty"`
	// Accounts are two accounts of the time of each track's workers, which must agree.
	Accounts []Account `json:"accounts,omitempty"`
	// Requests are those of its whole seconds, where the store counts them second by second; nil
	// in a run of one segment, of which Observed has them.
	Requests *Requests `json:"requests,omitempty"`
}

// Requests are how many requests of any kind a store counted in some seconds, and how many the run
// made by its figures: others may have asked it, too.
type Requests struct {
	Seconds float64 `json:"seconds"`
	Asked   int64   `json:"asked"`
	Made    int64   `json:"made"`
}

// Account is how long the workers of a track were at work in a segment, up to the last call of
// each: by the engine, and by the figures.
type Account struct {
	Track string `json:"track"`
	// Worked is the engine's account. Calls is the number of calls times their mean service
	// time, and Pauses what was between them, less what calls within others count twice.
	Worked float64 `json:"worked_s"`
	Calls  float64 `json:"calls_s"`
	Pauses float64 `json:"pauses_s"`
}

// Arrivals say how the calls of a track came in open loop, by their numbers in short spans.
type Arrivals struct {
	// Segment is the index of the segment; nil in Segment itself.
	Segment *int `json:"segment,omitempty"`

	Track string  `json:"track"`
	SpanS float64 `json:"span_s"`
	Spans int64   `json:"spans"`
	// Mean is how many calls fell due in a span. Asked is the variance of that number over its
	// mean: 1 if calls come independently, nearly 0 if evenly. Begun is that of the calls that
	// began in a span.
	Mean  float64 `json:"mean"`
	Asked float64 `json:"dispersion_asked"`
	Begun float64 `json:"dispersion_begun"`
	// Moved is the share of calls that would have to begin in another span for as many to
	// begin in each as fell due; Late is how much of that is perfbench's own doing.
	Moved float64 `json:"moved"`
	Late  float64 `json:"moved_late"`
}

// Ramp reports whether settings moved within the segment.
func (s *Segment) Ramp() bool { return s.SettingsEnd != nil }

// OnRamp reports whether a segment of the run, by its number, is a ramp.
func (r *Run) OnRamp(segment int) bool {
	return segment >= 0 && segment < len(r.Segments) && r.Segments[segment].Ramp()
}

// Phase is a phase of the plan; times are seconds since measurement began.
type Phase struct {
	Name   string   `json:"name"`
	From   float64  `json:"from_s"`
	To     float64  `json:"to_s"`
	Tracks []string `json:"tracks"`
}

// Shares says how evenly the threads of a track have shared its work, in calls that
// succeeded.
type Shares struct {
	Track string `json:"track"`
	// Threads is how many threads worked all the time; these are compared. Others is
	// how many more worked for a part of the run only.
	Threads int `json:"threads"`
	Others  int `json:"others,omitempty"`
	// Min, Median and Max are calls of a thread; Mean is the mean of all that are
	// compared.
	Min    int64   `json:"min"`
	Median int64   `json:"median"`
	Max    int64   `json:"max"`
	Mean   float64 `json:"mean"`
	// Deviation is the standard deviation as a fraction of Mean.
	Deviation float64 `json:"deviation"`
}

// Sessions are those of a track's users since measurement began.
type Sessions struct {
	Track string `json:"track"`
	// Begun is how many were in progress at any time, Ended how many came to their end. The rest
	// were in progress when the run ended, or the thread that acted for the user.
	Begun int64 `json:"begun"`
	Ended int64 `json:"ended"`
	// Calls is how many calls of the profile a session had on average, LastedS how many seconds it
	// took on average from when the user came, of those that ended.
	Calls   float64 `json:"calls"`
	LastedS float64 `json:"lasted_s"`
	// InProgress is how many were in progress at a time, on average over the seconds.
	InProgress float64 `json:"in_progress"`
}

// Change is one live change.
type Change struct {
	At      float64 `json:"at_s"`
	Name    string  `json:"name"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	By      string  `json:"by"`
	Segment int     `json:"segment"`
	// Ramp is the number, from 1, of the ramp of the timetable that it is a step of.
	Ramp int `json:"ramp,omitempty"`
}

// Mark is a note that somebody put on the time line.
type Mark struct {
	At   float64 `json:"at_s"`
	Note string  `json:"note"`
}

// Error is one kind of failure of an operation, with some of its messages.
type Error struct {
	Track    string   `json:"track"`
	Op       string   `json:"op"`
	Class    string   `json:"class"`
	Count    int64    `json:"count"`
	Messages []string `json:"messages,omitempty"`
}

// Threshold is the outcome of a --threshold condition.
type Threshold struct {
	Expr string `json:"expr"`
	OK   bool   `json:"ok"`
	// Got is the measured value in words: "7.1 ms", "0.3 %".
	Got string `json:"got"`
}

// Sign is ✓ or ✗.
func (t Threshold) Sign() string {
	if t.OK {
		return "✓"
	}
	return "✗"
}

// SoFar says of a run that goes on how it stands: "p99<5ms: 187 ms so far".
func (t Threshold) SoFar() string { return t.Expr + ": " + t.Got + " so far" }

// SeriesRow is one row of series.csv.
type SeriesRow struct {
	T                                     int
	Track, Op                             string
	Count, Errors                         int64
	Throughput                            float64
	ResponseP50, ResponseP99, ResponseMax int64
	ServiceP99, Backlog                   int64
	Threads, Payload, Batch               int
	Rate                                  float64
	Segment                               int
	Warmup                                bool
}

// File is one document of a format: its name within the run directory and bytes.
type File struct {
	Name string
	Data []byte
}

// Format writes a run in one documented form.
type Format struct {
	// ID is the word in --format.
	ID string
	// Title says in a few words what it is.
	Title string
	// Profile is the only profile that has this format; empty: any has.
	Profile string
	// Doc is markdown: every field, its unit, an example.
	Doc string
	// Names are patterns, as of path.Match, that every file of Encode and Join matches,
	// and as few others as possible: what matches may be deleted with its run.
	Names []string
	// Stdout means that a headless run of the profile prints the document, last.
	Stdout bool
	// Encode is pure: the same folder gives the same bytes.
	Encode func(f *Folder) ([]File, error)
	// Facts checks a --facts file, naming its path in errors; nil: the format does not
	// use one. Encode finds the file as Folder.Given.
	Facts func(path string, data []byte) error
	// Join, if a document can span runs, makes one of several runs of the profile, in
	// the order in which they began. It is pure, too; nil: each run has its own.
	Join func(fs []*Folder) ([]File, error)
}

// Whole reports whether an operation is a whole piece of work: neither part of another
// nor measured beside the work.
func (r *Run) Whole(o Operation) bool { return !slices.Contains(r.Parts, o.Track+"."+o.Op) }

// Counts reports whether the units of an operation count in the totals of the run.
func (r *Run) Counts(o Operation) bool { return r.Whole(o) && r.Units[o.Track+"."+o.Op] == "" }

// Fails reports whether a call of an operation that fails is an error by itself: that of a part is not, as
// the operation fails with it, which is counted once.
func (r *Run) Fails(o Operation) bool {
	return r.Whole(o) || !slices.ContainsFunc(r.Operations, func(x Operation) bool { return x.Track == o.Track && r.Whole(x) })
}

// Failures returns how many operations of the run failed: its number of errors, wherever there is one.
func (r *Run) Failures() (n int64) {
	for _, o := range r.Operations {
		if r.Fails(o) {
			n += o.Errors
		}
	}
	return n
}

// Within returns how many calls failed that are parts of operations: Failures has the operations.
func (r *Run) Within() (n int64) {
	for _, o := range r.Operations {
		if !r.Fails(o) {
			n += o.Errors
		}
	}
	return n
}

// UnitOf returns the unit of an operation's count.
func (r *Run) UnitOf(o Operation) string {
	return cmp.Or(r.Units[o.Track+"."+o.Op], r.Unit)
}
