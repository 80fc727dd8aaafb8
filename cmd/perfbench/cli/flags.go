package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/telemetry"
	"github.com/perfbench/perfbench/internal/workload"
)

// Flags are the flags that run and tui share, made from the table of request.Fields.
type Flags struct {
	// Run is what was asked for, once Resolve has been called.
	Run      request.Run
	sets     []string
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
	// AllowExec lets faults run commands.
	AllowExec bool
	// Theme is one of Themes.
	Theme string
}

// allowExec is the flag that only the command line has: neither a plan nor the environment, which
// may be from others, can let anything be run.
const allowExec = "allow-exec"

// Themes returns the words of --theme, the one without a choice first.
func Themes() []string {
	f, _ := request.FieldNamed("theme")
	return f.Choices
}

// under is the flag of find for conditions, which other commands take for --threshold.
const under = "under"

// Register adds the flags of one run to a command.
func (f *Flags) Register(a *Call, c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	f.values, f.switches = map[string]*string{}, map[string]*bool{}
	for _, field := range request.Fields() {
		if field.Flag.Group != Comparison && field.Name != "json" {
			f.add(fs, field)
		}
	}
	c.InitDefaultHelpFlag()
	Group(fs, Screen, "help")
	if fs.Lookup(under) == nil { // what find calls its conditions
		fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			if name == under {
				name = "threshold"
			}
			return pflag.NormalizedName(name)
		})
	}
	complete(a, c)
}

// RegisterRepeat adds the flags of several runs in turn.
func (f *Flags) RegisterRepeat(a *Call, c *cobra.Command) {
	for _, field := range request.Fields() {
		if field.Flag.Group == Comparison {
			f.add(c.Flags(), field)
		}
	}
	completeRepeat(a, c)
}

// RegisterJSON adds --json, for commands without a screen.
func (f *Flags) RegisterJSON(c *cobra.Command) {
	field, _ := request.FieldNamed("json")
	f.add(c.Flags(), field)
}

// add adds the flag of a field, if it has one.
func (f *Flags) add(fs *pflag.FlagSet, field request.Field) {
	flag := field.Flag
	if flag.Group == "" {
		return
	}
	help := cmp.Or(flag.Help, field.Help)
	if flag.Value != "" {
		help = "`" + flag.Value + "` " + help
	}
	list := field.List(&f.Run)
	if field.Name == "set" {
		list = &f.sets
	}
	switch {
	case list != nil && flag.Commas:
		fs.StringSliceVarP(list, field.Name, flag.Letter, nil, help)
	case list != nil:
		fs.StringArrayVarP(list, field.Name, flag.Letter, nil, help)
	case field.Kind == workload.Switch:
		fs.BoolVarP(f.onOff(field), field.Name, flag.Letter, false, help)
	case field.IsValue(): // its default comes last, after plan, file and preset
		f.values[field.Name] = fs.StringP(field.Name, flag.Letter, "", help)
	default:
		fs.StringVarP(f.text(field), field.Name, flag.Letter, field.Default, help)
	}
	Group(fs, flag.Group, field.Name)
}

// text returns where a text goes that is no value.
func (f *Flags) text(field request.Field) *string {
	switch field.Name {
	case "metrics-addr":
		return &f.outlet.Addr
	case "otlp":
		return &f.outlet.URL
	case "theme":
		return &f.Theme
	}
	return field.Text(&f.Run)
}

// onOff returns where a switch goes.
func (f *Flags) onOff(field request.Field) *bool {
	switch field.Name {
	case "json":
		return &f.JSON
	case "dry-run":
		return &f.DryRun
	case "quiet":
		return &f.Quiet
	case "plain":
		return &f.Plain
	case "ascii":
		return &f.ASCII
	case "aa":
		return &f.Run.Repeat.AA
	case allowExec:
		return &f.AllowExec
	}
	f.switches[field.Name] = new(bool)
	return f.switches[field.Name]
}

// Resolve turns flags and environment into the request. Its errors are of input.
func (f *Flags) Resolve(a *Call, c *cobra.Command) error {
	r := &f.Run.Request
	r.From, r.Values = map[string]string{}, workload.Values{}
	var problems workload.Problems
	for _, field := range request.Fields() {
		if !field.IsValue() && field.Name != allowExec {
			problems.Add(a.FromEnvironment(c, field.Name, r.From))
		}
	}
	a.AllowExec = f.AllowExec
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
		v := workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--set"}
		if r.From["set"] != "" {
			v.Origin, v.Where = workload.OriginEnvironment, request.Variable("set")
		}
		r.Values.Set(v)
	}
	if _, err := (workload.Value{Name: "theme", Text: f.Theme, Origin: workload.OriginFlag, Where: "--theme"}).Choice(Themes()...); err != nil {
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
	if f.Run.Request.Out == "-" {
		problems.Add(fault.Input(errors.New("out: a run has a folder, and cannot be written to -"), "--json prints run.json; perfbench report latest --format markdown --out - prints a document"))
	}
	if f.JSON && f.DryRun {
		problems.Add(fault.Input(errors.New("json: a dry run has no figures"), "--dry-run --format yaml prints the plan as YAML"))
	}
	return problems.Err()
}

// open opens the way out of figures, if all else is right and something will run; else it
// says what is wrong with it.
func (f *Flags) open(a *Call, c *cobra.Command, run bool) error {
	if !run || f.DryRun {
		return telemetry.Check(f.outlet)
	}
	f.outlet.Version = Of().Version
	var err error
	a.Outlet, err = telemetry.Open(c.Context(), f.outlet)
	return err
}

// planFormat is the format that is no document of a run, but the plan of one.
const planFormat = "yaml"

func (f *Flags) pickFormats() error {
	formats := f.Run.Request.Formats
	f.Run.Request.Formats = slices.DeleteFunc(slices.Clone(formats), func(id string) bool { return id == planFormat })
	f.AsPlan = len(f.Run.Request.Formats) < len(formats)
	if f.AsPlan && !f.DryRun {
		return fault.Input(fmt.Errorf("format %s: is the plan of a run, which only a dry run writes", planFormat), "add --dry-run")
	}
	return nil
}

// File is the run that flags and environment ask for, as a file of plans.
func (f *Flags) File() *request.File {
	return &request.File{Runs: []request.Run{{Request: f.Run.Request}}}
}

// IsPlan says that an argument is the name of a plan file.
func IsPlan(arg string) bool { return arg == "-" || request.IsName(arg) }

// Plan returns what the plan file at a path says, or at - the standard input, with flags
// and environment on top of each of its runs. Call Resolve before. Errors are of input; the
// file comes with them as far as it was understood.
func (f *Flags) Plan(a *Call, path string) (*request.File, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = infile.From(infile.Plan, "the standard input", a.Stdin)
	} else {
		data, err = infile.Read(infile.Plan, path)
	}
	if err != nil {
		return nil, fault.Input(err, request.NearPath(path))
	}
	file, err := request.Read(path, data, a.Environ)
	if file != nil {
		for i := range file.Runs {
			file.Runs[i].Request = f.Run.Request.Over(file.Runs[i].Request)
			for _, name := range f.Run.Repeat.Given() {
				delete(file.Runs[i].Request.From, name) // the flag wins
			}
		}
	}
	return file, err
}
