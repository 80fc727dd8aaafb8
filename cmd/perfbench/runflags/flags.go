// Package runflags is the flags that run and tui share: what they say, what the
// environment gives in their place, and what a shell can complete.
package runflags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/telemetry"
	"github.com/perfbench/perfbench/internal/workload"
)

// Flags are the flags that run and tui share.
type Flags struct {
	// Request is what was asked for, once Resolve has been called.
	Request  session.Request
	sets     []string
	formats  []string
	values   map[string]*string
	switches map[string]*bool

	outlet telemetry.Options

	// AsPlan says that a dry run writes a plan file: --format yaml.
	AsPlan bool
	// These are switches of the same names.
	DryRun, Quiet, Plain, ASCII, JSON bool
	// ASCIIChosen says that --ascii was given, perhaps as --ascii=false.
	ASCIIChosen bool
	// NoMouse and NoAnimation are flags of the workbench alone.
	NoMouse, NoAnimation bool
	// Theme is one of Themes.
	Theme string
}

// Themes are the words of --theme.
var Themes = []string{"auto", "light", "dark", "mono"}

// valueFlags are flags that are values by another name.
var valueFlags = []struct{ name, kind, help string }{
	{"threads", "N", "number of threads, over all tracks"},
	{"payload", "SIZE", "size of one value: 512, 1KiB, 10KB"},
	{"batch", "N", "entries in one batched call"},
	{"rate", "N", "target rate per second: calls are sent on schedule even if the store is slow; 0 = unlimited"},
	{"warmup", "TIME", "run this long before measurement begins; auto: until throughput and p99 have settled"},
	{"duration", "TIME", "end after this long (30s, 5m); keys wrap"},
	{"count", "N", "end after this many of the profile's unit; with --duration, whichever comes first"},
	{"until", "EXPR", "end once a figure is this precise: 'p99 ±2%', 'throughput ±1%'; --duration is the limit"},
	{"drain", "TIME", "at the end, abandon calls in progress once none has finished for this long (default 10s)"},
	{"seed", "N", "everything random derives from it (default 1)"},
	{"namespace", "NAME", `prefix of everything made (default perfbench); empty gives bare names`},
}

// letters are the short forms of those that are typed most.
var letters = map[string]string{"rate": "r", "duration": "d"}

// Register adds the flags to a command.
func (f *Flags) Register(a *cli.Call, c *cobra.Command) {
	fs, r := c.Flags(), &f.Request
	fs.SortFlags = false
	fs.StringVarP(&r.Profile, "profile", "p", "", "`NAME` the workload: see perfbench list profiles")
	fs.StringVarP(&r.Target, "target", "t", "", "`URL` the store (default embedded:): see perfbench list stores")
	fs.StringVar(&r.Preset, "preset", "", "`NAME` a built-in preset: see perfbench list presets")
	fs.StringArrayVarP(&r.Files, "file", "f", nil, "`PATH` a system's own settings file, or YAML; repeats where a system has several")
	fs.StringArrayVar(&f.sets, "set", nil, "`NAME=VALUE` any knob or parameter, TRACK.NAME for one track; repeats")
	f.values, f.switches = map[string]*string{}, map[string]*bool{}
	for _, v := range valueFlags {
		f.values[v.name] = fs.StringP(v.name, letters[v.name], "", "`"+v.kind+"` "+v.help)
	}
	fs.StringArrayVar(&r.Timetable, "at", nil, "`TIME:NAME=VALUE,…` a live change, counted from the start of measurement; 10s..40s:rate=1000..20000 is a ramp; repeats")
	fs.StringArrayVar(&r.Thresholds, "threshold", nil, "`EXPR` must hold: p99<5ms, p95.5<2ms, throughput>10000; with abort at its end ('errors<5% abort after 30s') a miss ends the run; repeats")
	fs.StringVarP(&r.Out, "out", "o", "", "`DIR` where the folders of runs go (default results)")
	fs.StringSliceVar(&f.formats, "format", nil, "`LIST` documents to write (default json,csv,hlog and the profile's own)")
	fs.StringArrayVar(&r.Tags, "tag", nil, "`NAME=VALUE` kept with the run, to find it by: perfbench history --tag NAME=VALUE; repeats")
	fs.StringVar(&r.Facts, "facts", "", "`FILE` facts that a client cannot know, for documents that have room for them: machines, topology, arguments, remarks")
	fs.StringVar(&f.outlet.Addr, "metrics-addr", "", "`ADDR` serve figures as OpenMetrics while runs go (:9400, 127.0.0.1:9400), at /metrics")
	fs.StringVar(&f.outlet.URL, "otlp", "", "`URL` push the same by OpenTelemetry, every 5 s (http://localhost:4318, grpc://localhost:4317)")
	f.switches["allow-existing"] = fs.Bool("allow-existing", false, "write into a space that is not empty and not ours")
	f.switches["cleanup"] = fs.Bool("cleanup", false, "delete at the end what this run made")
	f.switches["require-valid"] = fs.Bool("require-valid", false, "exit with 5 unless the verdict is VALID: nothing casts doubt on the figures")
	fs.BoolVar(&f.DryRun, "dry-run", false, "print the whole plan, each value with its origin; touch nothing")
	fs.StringVar(&r.PasswordFile, "password-file", "", "`FILE` its first line is the target's password")
	fs.BoolVarP(&f.Quiet, "quiet", "q", false, "print errors and the path of the report only")
	fs.BoolVar(&f.Plain, "plain", false, "no symbols, for screen readers")
	fs.BoolVar(&f.ASCII, "ascii", false, "draw with ASCII only")
	fs.StringVar(&f.Theme, "theme", "auto", "`NAME` colours: auto, light, dark or mono")
	cli.Group(fs, cli.Workload, "profile", "target", "preset", "file", "set", "seed")
	cli.Group(fs, cli.Load, "threads", "payload", "batch", "rate", "warmup", "at")
	cli.Group(fs, cli.Limits, "duration", "count", "until", "drain", "threshold", "require-valid")
	cli.Group(fs, cli.Output, "out", "format", "tag", "facts", "metrics-addr", "otlp")
	cli.Group(fs, cli.Safety, "dry-run", "namespace", "allow-existing", "cleanup", "password-file")
	c.InitDefaultHelpFlag()
	cli.Group(fs, cli.Screen, "quiet", "plain", "ascii", "theme", "help")
	complete(a, c)
}

// RegisterJSON adds --json, for commands without a screen.
func (f *Flags) RegisterJSON(c *cobra.Command) {
	c.Flags().BoolVar(&f.JSON, "json", false, "print run.json of each run on one line, in place of the summary")
	cli.Group(c.Flags(), cli.Output, "json")
}

// plainFlags are the flags that the environment may give and that are no values.
var plainFlags = []string{
	"profile", "target", "preset", "file", "at", "threshold", "out", "format", "tag", "facts", "metrics-addr", "otlp", "dry-run", "password-file",
	"quiet", "plain", "ascii", "theme", "json",
}

// Resolve turns flags and environment into the request. Its errors are of input.
func (f *Flags) Resolve(a *cli.Call, c *cobra.Command) error {
	r := &f.Request
	r.From, r.Values = map[string]string{}, workload.Values{}
	var problems workload.Problems
	for _, name := range plainFlags {
		problems.Add(a.FromEnvironment(c, name, r.From))
	}
	_, set := r.From["ascii"]
	f.ASCIIChosen = set || c.Flags().Changed("ascii")
	problems.Add(f.pickFormats())
	for name, v := range f.values {
		if c.Flags().Changed(name) {
			r.Values.Set(workload.Value{Name: name, Text: *v, Origin: workload.OriginFlag, Where: "--" + name})
		}
	}
	for name, on := range f.switches {
		if c.Flags().Changed(name) {
			r.Values.Set(workload.Value{Name: name, Text: map[bool]string{true: "on", false: "off"}[*on], Origin: workload.OriginFlag, Where: "--" + name})
		}
	}
	for _, s := range f.sets {
		name, text, ok := strings.Cut(s, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			problems.Add(fault.Input(fmt.Errorf("set: %q is not NAME=VALUE", s), "write it like --set threads=32"))
			continue
		}
		r.Values.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--set"})
	}
	if _, err := (workload.Value{Name: "theme", Text: f.Theme, Origin: workload.OriginFlag, Where: "--theme"}).Choice(Themes...); err != nil {
		problems.Add(err)
	}
	problems.Add(f.contradictions())
	if r.PasswordFile != "" {
		password, err := session.ReadPassword(r.PasswordFile)
		problems.Add(err)
		r.Password = password
	}
	problems.Add(f.open(a, c, problems.Err() == nil))
	return problems.Err()
}

// contradictions are flags that say what cannot be done. Its errors are of input.
func (f *Flags) contradictions() error {
	var problems workload.Problems
	if f.Request.Out == "-" {
		problems.Add(fault.Input(errors.New("out: a run has a folder, and cannot be written to -"), "--json prints run.json; perfbench report latest --format markdown --out - prints a document"))
	}
	if f.JSON && f.DryRun {
		problems.Add(fault.Input(errors.New("json: a dry run has no figures"), "--dry-run --format yaml prints the plan as YAML"))
	}
	return problems.Err()
}

// open opens the way out of figures, if all else is right and something will run; else it
// says what is wrong with it.
func (f *Flags) open(a *cli.Call, c *cobra.Command, run bool) error {
	if !run || f.DryRun {
		return telemetry.Check(f.outlet)
	}
	f.outlet.Version = cli.Of().Version
	var err error
	a.Outlet, err = telemetry.Open(c.Context(), f.outlet)
	return err
}

// planFormat is the format that is no document of a run, but the plan of one.
const planFormat = "yaml"

func (f *Flags) pickFormats() error {
	f.Request.Formats = slices.DeleteFunc(slices.Clone(f.formats), func(id string) bool { return id == planFormat })
	f.AsPlan = len(f.Request.Formats) < len(f.formats)
	if f.AsPlan && !f.DryRun {
		return fault.Input(fmt.Errorf("format %s: is the plan of a run, which only a dry run writes", planFormat), "add --dry-run")
	}
	return nil
}

// Run is the run that flags and environment ask for, as a file of plans.
func (f *Flags) Run() *request.File {
	return &request.File{Runs: []request.Run{{Request: f.Request}}}
}

// Plan returns what the plan file at a path says, or at - the standard input, with flags
// and environment on top of each of its runs. Call Resolve before. Errors are of input; the
// file comes with them as far as it was understood.
func (f *Flags) Plan(a *cli.Call, path string) (*request.File, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = infile.From(infile.Plan, "the standard input", a.Stdin)
	} else {
		data, err = infile.Read(infile.Plan, path)
	}
	if err != nil {
		return nil, fault.Input(fmt.Errorf("plan: %w", err), request.NearPath(path))
	}
	file, err := request.Read(path, data, a.Environ)
	if file != nil {
		for i := range file.Runs {
			file.Runs[i].Request = f.Request.Over(file.Runs[i].Request)
		}
	}
	return file, err
}
