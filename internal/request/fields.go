package request

import (
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
)

// Field is one thing that can be asked for by its name: as a flag, an environment
// variable, a key of plan files, a word of the command line that does a run again, a row of
// the form. All of these are made from the table of [Fields].
type Field struct {
	// Param is the field as plans and lists describe it.
	workload.Param
	// Flag is the field on the command line; without a group there is no such flag.
	Flag Flag
	// Form is the field as a row of the form; without a label there is none, or it has one
	// of its own.
	Form Form
	// setHelp describes a field that is no value where it is set like one; empty if it
	// cannot be.
	setHelp string
	// text or list is where a request has the field. A value of the run has neither.
	text func(*Run) *string
	list func(*Run) *[]string
	// terminal means that the field is about one command line, and no key of a plan.
	terminal bool
	// path means that a plan names a file relative to itself.
	path bool
	// kept is the field's name among the settings last used, which the workbench offers
	// again; "" if it offers it not.
	kept string
	// isKnob means that the value can change during a run.
	isKnob bool
	// ofProfile means that only profiles have it that have a parameter of that name.
	ofProfile bool
	// here means that a command line that does the run again leaves the field out.
	here bool
}

// Flag is what the command line shows of a field.
type Flag struct {
	// Letter is the short form, "" if there is none; Value stands for what is given, "" for
	// a switch; Help is "" if it is that of the parameter.
	Letter, Value, Help string
	// Group is the heading under which help shows the flag, one of those below.
	Group string
	// Commas means that commas part the values of a list, and otherwise the flag repeats.
	Commas bool
}

// Form is what the form shows of a field that is a list of texts: the row's name, its
// section, its help, and what stands between two texts.
type Form struct{ Label, Section, Help, Between string }

// Groups of flags.
const (
	GroupWorkload   = "Workload"
	GroupLoad       = "Load"
	GroupLimits     = "Limits"
	GroupComparison = "Comparison"
	GroupOutput     = "Output"
	GroupSafety     = "Safety"
	GroupScreen     = "Screen"
)

// Fields returns the table, in the order of plans and of help. It must not be changed. Any
// goroutine may call it.
func Fields() []Field { return table }

var table = rows()

func rows() []Field {
	param := func(name string, kind workload.Kind, help string) workload.Param {
		return workload.Param{Name: name, Kind: kind, Help: help}
	}
	usual := func(name string, kind workload.Kind, usual, help string) workload.Param {
		return workload.Param{Name: name, Kind: kind, Default: usual, Help: help}
	}
	return []Field{
		{
			Param: param("name", workload.Text, "what the run is called in the summary of a suite"),
			text:  func(r *Run) *string { return &r.Name },
			here:  true,
		},
		{
			Param: param("profile", workload.Text, "the workload"),
			Flag:  Flag{"p", "NAME", "the workload: see perfbench list profiles", GroupWorkload, false},
			text:  func(r *Run) *string { return &r.Request.Profile },
		},
		{
			Param: param("target", workload.Target, "URL of the store"),
			Flag:  Flag{"t", "URL", "the store (default embedded:): see perfbench list stores", GroupWorkload, false},
			text:  func(r *Run) *string { return &r.Request.Target },
			kept:  "target",
		},
		{
			Param: param("password-file", workload.Text, "file whose first line is the target's password, relative to the plan"),
			Flag:  Flag{"", "FILE", "its first line is the target's password", GroupSafety, false},
			text:  func(r *Run) *string { return &r.Request.PasswordFile },
			path:  true,
		},
		{
			Param: param("preset", workload.Text, "a built-in preset, or one of your own"),
			Flag:  Flag{"", "NAME", "a built-in preset: see perfbench list presets", GroupWorkload, false},
			text:  func(r *Run) *string { return &r.Request.Preset },
			kept:  "preset",
		},
		{
			Param: param("file", workload.List, "a system's own settings files, or YAML, relative to the plan"),
			Flag:  Flag{"f", "PATH", "a system's own settings file, or YAML; repeats where a system has several", GroupWorkload, false},
			list:  func(r *Run) *[]string { return &r.Request.Files },
			path:  true, kept: "files",
		},
		{
			Param:    param("set", workload.List, ""),
			Flag:     Flag{"", "NAME=VALUE", "any knob or parameter, TRACK.NAME for one track; repeats", GroupWorkload, false},
			terminal: true,
		},
		{
			Param:     param("records", workload.Integer, "how many records are there before the run, of profiles that load them"),
			Flag:      Flag{"", "N", "how many records are there before the run (mix); those that are missing are loaded first", GroupWorkload, false},
			ofProfile: true,
		},
		{
			Param:     param("load", workload.Text, "auto: what is missing is loaded first; only: nothing is done but that; skip: nothing is loaded"),
			Flag:      Flag{"", "HOW", "auto: load what is missing first; only: load, and nothing else; skip: load nothing (mix; see the profile for others)", GroupWorkload, false},
			ofProfile: true,
		},
		{
			Param:     param("check", workload.Text, "values: each value is checked as it is read; linearizable: so are the histories of a few hot records, after the run"),
			Flag:      Flag{"", "WHAT", "linearizable: keep the histories of a few hot records, and check them after the run (mix, tx)", GroupWorkload, false},
			ofProfile: true,
		},
		{
			Param:     param("memtier", workload.Text, "options of memtier_benchmark, of the profile mix"),
			Flag:      Flag{"", "OPTIONS", "a workload as options of memtier_benchmark, in quotes (mix)", GroupWorkload, false},
			ofProfile: true,
		},
		{
			Param:     param("speed", workload.Text, "of a replay: how many times as fast as recorded, or unlimited"),
			Flag:      Flag{"", "N", "how many times as fast as recorded the calls of a capture come, or unlimited (mix)", GroupLoad, false},
			ofProfile: true,
		},
		{
			Param:     param("order", workload.Text, "of a replay: whose calls keep their order, those of each connection or of each key"),
			Flag:      Flag{"", "OF", "connection: the calls of each recorded connection keep their order; key: those of each key (mix)", GroupLoad, false},
			ofProfile: true,
		},
		{
			Param:     param("keep-answers", workload.Text, "of a replay: a file that keeps the answers, for a later replay to be compared with"),
			Flag:      Flag{"", "FILE", "keep the answers to the calls of a capture in a file that is not there yet (mix)", GroupOutput, false},
			ofProfile: true,
		},
		{
			Param:     param("expect-answers", workload.Text, "of a replay: a file of answers that an earlier one has kept, which those of this one are compared with"),
			Flag:      Flag{"", "FILE", "compare the answers to the calls of a capture with those that an earlier replay kept (mix)", GroupOutput, false},
			ofProfile: true,
		},
		knob(workload.Threads(), "", "N", "number of threads, over all tracks"),
		knob(workload.Rate(""), "r", "N", "target rate per second: calls are sent on schedule even if the store is slow; 0 = unlimited"),
		{
			Param: param("arrivals", workload.Text, "how calls come at a rate: "+workload.ArrivalsHelp),
			Flag:  Flag{"", "HOW", "how calls come at a rate: poisson (default: independently, as from many users), even, or bursts=10x,1s,9s", GroupLoad, false},
		},
		{
			Param:     param("session", workload.Integer, "calls of a user's session, each of which waits for the last; at a rate, sessions come on schedule; of profiles that have users"),
			Flag:      Flag{"", "N", "how many calls the session of a user has, each of which waits for the last; at a rate, sessions come on schedule (group, tx, authz, mix)", GroupLoad, false},
			ofProfile: true,
		},
		{
			Param:     param("think", workload.Duration, "how long users think between two calls, on average; of profiles that have users"),
			Flag:      Flag{"", "TIME", "how long users think between two calls, on average; a live knob (group, tx, authz, mix)", GroupLoad, false},
			ofProfile: true,
		},
		{
			Param: param("client", workload.Text, workload.ClientHelp),
			Flag:  Flag{"", "POLICY", "what callers do when the store is slow or fails: deadline=50ms,retries=3,backoff=10ms,budget=10% (default: wait, and try nothing again)", GroupLoad, false},
		},
		knob(workload.Payload(), "", "SIZE", "size of one value: 512, 1KiB, 10KB"),
		knob(workload.Batch(), "", "N", "entries that go to the store together, in one call, whose time is that of them all"),
		{
			Param: param("duration", workload.Duration, "ends the run after this long; keys wrap; forever: goes on until you stop it; once: does its work once"),
			Flag:  Flag{"d", "TIME", "end after this long (30s, 5m); keys wrap", GroupLimits, false},
		},
		{
			Param: param("count", workload.Integer, "ends the run after this many units"),
			Flag:  Flag{"", "N", "end after this many of the profile's unit; with --duration, whichever comes first", GroupLimits, false},
		},
		{
			Param: usual("drain", workload.Duration, "10s", "at the end, gives up on calls under way when none ends for this long, and on a store that has not answered by then"),
			Flag:  Flag{"", "TIME", "at the end, abandon calls in progress once none has finished for this long (default 10s)", GroupLimits, false},
		},
		{
			Param: usual("warmup", workload.Duration, "0s", "runs this long before measurement begins; auto: until throughput and p99 have settled"),
			Flag:  Flag{"", "TIME", "run this long before measurement begins; auto: until throughput and p99 have settled", GroupLoad, false},
		},
		{
			Param: param("until", workload.Text, "ends the run once a figure is this precise: p99 ±2%, throughput ±1%; duration is the limit"),
			Flag:  Flag{"", "EXPR", "end once a figure is this precise: 'p99 ±2%', 'throughput ±1%'; --duration is the limit", GroupLimits, false},
		},
		{
			Param:   param("at", workload.List, "live changes, counted from the start of measurement: 10s:threads=32,payload=4KiB"),
			Flag:    Flag{"", "TIME:NAME=VALUE,…", "a live change, counted from the start of measurement; 10s..40s:rate=1000..20000 is a ramp, 20s..30s:fault=delay:5ms a fault; repeats", GroupLoad, false},
			Form:    Form{"timetable", "Changes and conditions", atHelp, "; "},
			setHelp: atHelp,
			list:    func(r *Run) *[]string { return &r.Request.Timetable }, kept: "timetable",
		},
		{
			Param: usual("breakable", workload.Switch, "off", "lead connections through a proxy within perfbench, for F in the workbench to break them"),
			Flag:  Flag{Help: "lead connections through the proxy of the faults, even if the timetable has none, so that F in the workbench can break them", Group: GroupLoad},
		},
		{
			Param: usual("seed", workload.Integer, "1", "everything random derives from it"),
			Flag:  Flag{"", "N", "everything random derives from it (default 1)", GroupWorkload, false},
		},
		{
			Param: usual("namespace", workload.Text, "perfbench", "prefix of everything made"),
			Flag:  Flag{"", "NAME", "prefix of everything made (default perfbench); empty gives bare names", GroupSafety, false},
		},
		{
			Param: usual("allow-existing", workload.Switch, "off", "write into a space that is not empty and not ours"),
			Flag:  Flag{Group: GroupSafety},
		},
		{
			Param: usual("cleanup", workload.Switch, "off", "delete at the end what this run made"),
			Flag:  Flag{Group: GroupSafety},
		},
		{
			Param: usual("require-valid", workload.Switch, "off", "a verdict other than VALID fails the run"),
			Flag:  Flag{Help: "exit with 5 unless the verdict is VALID: nothing casts doubt on the figures", Group: GroupLimits},
		},
		{
			Param: param("threshold", workload.List, "what must hold: p99<5ms, p95.5<2ms, throughput>10000; errors<5% abort ends the run when it is missed"),
			Flag:  Flag{"", "EXPR", "must hold: p99<5ms, p95.5<2ms, throughput>10000; with abort at its end ('errors<5% abort after 30s') a miss ends the run; repeats", GroupLimits, false},
			Form:  Form{"thresholds", "", "what must hold, with ; between: p99<10ms; errors<1%", "; "},
			list:  func(r *Run) *[]string { return &r.Request.Thresholds }, kept: "thresholds",
		},
		{
			Param: param("repeat", workload.Integer, "how many times to do the run"),
			Flag:  Flag{"", "N", "do the run N times, and say how the runs vary", GroupComparison, false},
			text:  func(r *Run) *string { return &r.Repeat.Times },
			here:  true,
		},
		{
			Param: param("against", workload.Target, "another store, on which the run is done in turn"),
			Flag:  Flag{"", "URL", "another store: run on both in turn, and compare", GroupComparison, false},
			text:  func(r *Run) *string { return &r.Repeat.Against },
			here:  true,
		},
		{
			Param: param("against-set", workload.List, "NAME=VALUE of another run, which is done in turn"),
			Flag:  Flag{"", "NAME=VALUE", "what differs in another run: do both in turn, and compare; repeats", GroupComparison, false},
			list:  func(r *Run) *[]string { return &r.Repeat.Sets },
			here:  true,
		},
		{
			Param: param("tolerance", workload.Text, "how much worse the other may be: 5%"),
			Flag:  Flag{"", "SHARE", "how much worse the other may be; beyond it the exit code is 5 (default: any)", GroupComparison, false},
			text:  func(r *Run) *string { return &r.Repeat.Tolerance },
			here:  true,
		},
		{
			Param: param("unsure", workload.Text, "what a comparison that cannot tell is to a gate: pass, warn or fail"),
			Flag:  Flag{"", "POLICY", "what to do where a comparison cannot tell: pass, warn, fail (default pass)", GroupComparison, false},
			text:  func(r *Run) *string { return &r.Repeat.Unsure },
			here:  true,
		},
		terminal("aa", "", "", "compare the repeats (10 unless --repeat says) with each other, and keep how much they differ for later comparisons", GroupComparison),
		{
			Param: param("out", workload.Text, "folder that gets the run folders"),
			Flag:  Flag{"o", "DIR", "where the folders of runs go (default results)", GroupOutput, false},
			text:  func(r *Run) *string { return &r.Request.Out },
			here:  true,
		},
		{
			Param: param("format", workload.List, "documents to write"),
			Flag:  Flag{"", "LIST", "documents to write (default json,csv,hlog and the profile's own)", GroupOutput, true},
			Form:  Form{"documents", "Report", "the documents to write, with commas between: json, csv, html", ", "},
			list:  func(r *Run) *[]string { return &r.Request.Formats }, kept: "formats",
		},
		{
			Param: param("tag", workload.List, "NAME=VALUE that is kept with the run, to find it by"),
			Flag:  Flag{"", "NAME=VALUE", "kept with the run, to find it by: perfbench history --tag NAME=VALUE; repeats", GroupOutput, false},
			Form:  Form{"tags", "", "NAME=VALUE or a word, with ; or , between, kept with the run", "; "},
			list:  func(r *Run) *[]string { return &r.Request.Tags }, kept: "tags",
		},
		{
			Param: param("facts", workload.Text, "file of what a client cannot know, relative to the plan"),
			Flag:  Flag{"", "FILE", "facts that a client cannot know, for documents that have room for them: machines, topology, arguments, remarks", GroupOutput, false},
			text:  func(r *Run) *string { return &r.Request.Facts },
			path:  true,
		},
		terminal("allow-exec", "", "", "let faults run commands, as in --at 20s..30s:fault=exec:./failover.sh; no plan can say so", GroupSafety),
		terminal("metrics-addr", "", "ADDR", "serve figures as OpenMetrics while runs go (:9400, 127.0.0.1:9400), at /metrics", GroupOutput),
		terminal("otlp", "", "URL", "push the same by OpenTelemetry, every 5 s (http://localhost:4318, grpc://localhost:4317)", GroupOutput),
		terminal("json", "", "", "print run.json of each run on one line, in place of the summary", GroupOutput),
		terminal("dry-run", "", "", "print the whole plan, each value with its origin; touch nothing", GroupSafety),
		terminal("quiet", "q", "", "print errors and the path of the report only", GroupScreen),
		terminal("plain", "", "", "no symbols, for screen readers", GroupScreen),
		terminal("ascii", "", "", "draw with ASCII only", GroupScreen),
		{
			Param: workload.Param{Name: "theme", Kind: workload.Text, Default: "auto", Choices: []string{"auto", "light", "dark", "mono"}},
			Flag:  Flag{"", "NAME", "colours: auto, light, dark or mono", GroupScreen, false}, terminal: true,
		},
	}
}

const atHelp = "live changes and faults, with ; between: 30m:batch=400; 1h:rate=50000; 20s..30s:fault=delay:5ms"

// knob is the field of a knob that has a flag and a key of its own.
func knob(k workload.Knob, letter, value, help string) Field {
	kind := workload.Number
	if k.Unit == "bytes" {
		kind = workload.Size
	}
	return Field{Param: workload.Param{Name: k.Name, Kind: kind, Help: k.Help}, Flag: Flag{letter, value, help, GroupLoad, false}, isKnob: true}
}

// terminal is a field that only one command line has; one without a value is a switch.
func terminal(name, letter, value, help, group string) Field {
	kind := workload.Text
	if value == "" {
		kind = workload.Switch
	}
	return Field{Param: workload.Param{Name: name, Kind: kind}, Flag: Flag{letter, value, help, group, false}, terminal: true}
}

// FieldNamed returns a field of the table.
func FieldNamed(name string) (Field, bool) {
	if i := slices.IndexFunc(table, func(f Field) bool { return f.Name == name }); i >= 0 {
		return table[i], true
	}
	return Field{}, false
}

// IsValue reports whether the field is a value of a run, as knobs are.
func (f Field) IsValue() bool { return f.text == nil && f.list == nil && !f.terminal }

// Text returns where a run has the field; nil if it is a value, a list, or of the terminal.
func (f Field) Text(r *Run) *string {
	if f.text == nil {
		return nil
	}
	return f.text(r)
}

// List returns where a run has a field that is a list; nil if it is none.
func (f Field) List(r *Run) *[]string {
	if f.list == nil {
		return nil
	}
	return f.list(r)
}
