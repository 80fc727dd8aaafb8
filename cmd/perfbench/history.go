package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	keptlist "github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/profiles"
	"github.com/perfbench/perfbench/tui/widget"
)

// historyCmd is the command in one call, with what was asked of it.
type historyCmd struct {
	*cli.Call
	runs, profile, target, since string
	tags, kinds, verdicts        []string
	filter                       string
	failed                       bool
	json                         bool

	changes bool
	html    string

	olderThan   string
	keep        int
	dryRun, yes bool

	out    string
	remove bool
}

// historyCommand lists, deletes and archives runs.
func historyCommand(c *cli.Call) *cobra.Command { return (&historyCmd{Call: c}).tree() }

func (a *historyCmd) tree() *cobra.Command {
	c := &cobra.Command{
		Use: "history", Short: "List the runs that are kept; delete, archive, tag or annotate them",
		Long: `history lists the runs in results/ (or --runs DIR), newest first, folders and
archives, and the searches, sweeps, comparisons and repeats there, each with what came
out and what its figures are worth. Filters combine: what is listed matches all of
them. The p99 is that of all calls that count, taken together; of a search, that of the
level that it found; of a sweep, that of its knee.

--verdict takes ` + strings.Join(keptlist.VerdictWords(), ", ") + `,
several with commas: one of them has to be true.

With --changes it says what changed when: run by run of the same plan on the same kind
of machine, where throughput, p50 or p99 moved for good by 2.5 % or more, which run is
the first after it, and what else differs there (version of the store, of perfbench,
settings, machine). It takes six runs of a plan. --html FILE draws it.

Exit codes: 0 done; 2 bad input; 5 with --changes: the last change of a figure was for
the worse.`,
		Example: `  perfbench history --profile ingestion --since 7d
  perfbench history --tag build=1.4.2 --json
  perfbench history --failed --since today
  perfbench history --kind sweep,find
  perfbench history --changes --profile tx --since 8w
  perfbench history prune --older-than 30d --keep 20 --dry-run
  perfbench history archive latest --remove
  perfbench history note latest "with the new index"
  perfbench history tag latest build=1.4.2`,
		Args: cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.changes {
				return a.withRuns(cmd, a.changed)
			}
			if a.html != "" {
				return fault.Input(errors.New("html: only --changes has a picture"), "add --changes")
			}
			return a.withItems(cmd, a.list)
		},
	}
	a.filters(c)
	c.Flags().BoolVar(&a.changes, "changes", false, "say what changed when, and from which run on")
	c.Flags().StringVar(&a.html, "html", "", "`FILE` that gets the changes as a page with pictures")
	c.AddCommand(a.pruneTree(), a.archiveTree(), a.unpackTree(), a.noteTree(), a.tagTree())
	return c
}

// filters adds the flags that say which runs are meant.
func (a *historyCmd) filters(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVarP(&a.profile, "profile", "p", "", "`NAME` only runs of this profile")
	fs.StringVarP(&a.target, "target", "t", "", "`TEXT` only runs whose URL contains this, or on this kind of store")
	fs.StringArrayVar(&a.tags, "tag", nil, "`NAME=VALUE` only runs with this tag; repeats")
	fs.StringSliceVar(&a.verdicts, "verdict", nil, "`WORDS` only what is valid, degraded, invalid, failed, missed (a threshold), interrupted, cut-short, unfinished or running")
	fs.BoolVar(&a.failed, "failed", false, "only what failed: verification, a threshold, or a fault ended it")
	fs.StringSliceVar(&a.kinds, "kind", nil, "`WORDS` only these: run, find, sweep, compare, repeat")
	fs.StringVar(&a.filter, "filter", "", "`TEXT` only what has all of these words, as / in the workbench: 'today redis'")
	fs.StringVar(&a.since, "since", "", "`TIME` only runs that began at or after it: 2026-11-01, yesterday, 36h, 7d, 4w")
	a.folder(c)
	fs.BoolVar(&a.json, "json", false, "write JSON")
	_ = c.RegisterFlagCompletionFunc("profile", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, p := range cli.Profiles() {
			names = append(names, p.Name)
		}
		return names, cli.NoFiles
	}) // the flag exists
	_ = c.RegisterFlagCompletionFunc("verdict", cobra.FixedCompletions(keptlist.VerdictWords(), cli.NoFiles)) // likewise
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(keptlist.Kinds, cli.NoFiles))
}

func (a *historyCmd) folder(c *cobra.Command) {
	c.Flags().StringVar(&a.runs, "runs", session.DefaultOut, "`DIR` where to look for runs")
}

// fromEnvironment looks for runs where the environment has new ones written.
func (a *historyCmd) fromEnvironment(c *cobra.Command) {
	if v, ok := a.Getenv(request.EnvPrefix + "OUT"); ok && v != "" && !c.Flags().Changed("runs") {
		a.runs = v
	}
}

// withItems hands what is kept and asked for to do.
func (a *historyCmd) withItems(c *cobra.Command, do func(list []keptlist.Item) error) error {
	a.fromEnvironment(c)
	f := keptlist.Filter{Profile: a.profile, Target: a.target, Kinds: a.kinds, Verdicts: a.verdicts, Sought: keptlist.Sought{Text: a.filter, Now: time.Now(), Title: profiles.TitleOf}}
	err := f.Check()
	if err != nil {
		return err
	}
	if f.Tags, err = request.Tags(a.tags); err != nil {
		return err
	}
	if a.since != "" {
		if f.Since, err = rundir.ParseAgo("since", a.since, f.Sought.Now); err != nil {
			return err
		}
	}
	list, warnings, err := new(keptlist.Lister).List(a.runs)
	for _, w := range warnings {
		fmt.Fprintln(a.Stderr, "warning: "+cli.Printable(w))
	}
	if err != nil {
		return err
	}
	if err := f.Sought.Check(list); err != nil {
		return err
	}
	list = f.Of(list)
	if a.failed {
		list = keptlist.Filter{Verdicts: []string{keptlist.Failed}}.Of(list)
	}
	return do(list)
}

// withRuns hands the runs that are asked for to do.
func (a *historyCmd) withRuns(c *cobra.Command, do func(list []rundir.Entry) error) error {
	return a.withItems(c, func(list []keptlist.Item) error {
		var runs []rundir.Entry
		for _, i := range list {
			if i.Run != nil {
				runs = append(runs, rundir.Entry{Dir: i.Dir, Run: *i.Run})
			}
		}
		return do(runs)
	})
}

// changed says what changed when in runs.
func (a *historyCmd) changed(list []rundir.Entry) error {
	var runs []*rundir.Run
	for i := range list {
		runs = append(runs, &list[i].Run)
	}
	series := compare.Changed(runs)
	text := []byte(cli.Plain(report.Changed(series), a.StdoutTerminal && a.PoorLetters()))
	if a.json {
		var err error
		if text, err = report.ChangedJSON(series); err != nil {
			return err
		}
	}
	if _, err := a.Stdout.Write(text); err != nil {
		return err
	}
	if a.html != "" {
		if err := os.WriteFile(a.html, report.ChangedHTML(series), 0o644); err != nil {
			return fault.Input(fmt.Errorf("write the changes: %w", err), "name a file in a folder that exists with --html")
		}
	}
	return compare.WorseSince(series)
}

// historyRow is a thing that is kept, as it is listed.
type historyRow struct {
	ID         string            `json:"id"`
	Kind       string            `json:"kind"`
	Dir        string            `json:"dir"`
	Archived   bool              `json:"archived"`
	Bytes      int64             `json:"bytes"`
	Profile    string            `json:"profile"`
	Mode       string            `json:"mode"`
	Target     string            `json:"target"`
	Store      string            `json:"store"`
	Started    time.Time         `json:"started"`
	MeasuredS  float64           `json:"measured_s"`
	EndedBy    string            `json:"ended_by"`
	Unit       string            `json:"unit"`
	Segments   int               `json:"segments,omitempty"`
	Answer     string            `json:"answer"`
	Throughput *float64          `json:"throughput_per_s"`
	P99        *int64            `json:"response_p99_ns"`
	Errors     int64             `json:"errors"`
	Verdict    string            `json:"verdict"`
	Judged     string            `json:"judged"`
	Missed     []string          `json:"thresholds_missed"`
	Runs       []string          `json:"runs,omitempty"`
	Name       string            `json:"name,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
	Note       string            `json:"note,omitempty"`
}

func rowOf(i *keptlist.Item) historyRow {
	rate, p99, failed := i.Figures()
	out := historyRow{
		ID: i.ID(), Kind: i.Kind(), Dir: i.Dir, Bytes: rundir.Size(rundir.Entry{Dir: i.Dir}), Started: i.When(), Unit: i.Unit(), Answer: i.Answer(i.Unit()),
		Errors: failed, Verdict: i.State(), Judged: i.Because(i.Judged()), Missed: append([]string{}, i.Missed()...), Runs: i.Runs(), Tags: i.Tags(),
	}
	out.Profile, out.Mode = i.Profile()
	out.Target, out.Store = i.Target()
	for _, r := range i.Of {
		out.MeasuredS += r.MeasuredS
	}
	if r := i.Run; r != nil {
		out.Archived, out.MeasuredS, out.EndedBy, out.Segments, out.Name, out.Note = rundir.IsArchive(i.Dir), r.MeasuredS, r.EndedBy, r.Mixes(), r.Name, r.Note
	}
	if !math.IsNaN(rate) {
		out.Throughput = &rate
	}
	if p99 > 0 {
		out.P99 = &p99
	}
	return out
}

// list lists what is kept.
func (a *historyCmd) list(list []keptlist.Item) error {
	if a.json {
		return a.writeJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Stderr, "there is no such run in "+a.runs)
		return nil
	}
	a.table(list)
	return nil
}

// itemsOf are runs as they are listed.
func itemsOf(list []rundir.Entry) (out []keptlist.Item) {
	for i := range list {
		out = append(out, keptlist.Item{Dir: list[i].Dir, Run: &list[i].Run})
	}
	return out
}

func (a *historyCmd) writeJSON(list []keptlist.Item) error {
	rows := []historyRow{}
	for i := range list {
		rows = append(rows, rowOf(&list[i]))
	}
	enc := json.NewEncoder(a.Stdout)
	enc.SetEscapeHTML(false) // thresholds are to be read
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}

// leastRow is the least width of a row.
const leastRow = 60

// table writes what is kept in columns, each in one line. On a narrow terminal the words get
// fewer, and columns that have no room are left out or cut: the note and the tags first.
func (a *historyCmd) table(list []keptlist.Item) {
	g, width := historyGrid(list, 0), max(a.StdoutWidth, leastRow)
	if a.StdoutWidth == 0 { // nobody reads it, or scrolls: nothing is cut
		width = math.MaxInt32
		for c := range g.Cols {
			g.Cols[c].Most = 0
		}
	}
	for brevity := 1; brevity <= 2 && g.Least() > width; brevity++ {
		g = historyGrid(list, brevity)
	}
	head, lines := g.Lines(&widget.Styles{}, width)
	for _, l := range append([]string{head}, lines...) {
		fmt.Fprintln(a.Stdout, cli.Plain(strings.TrimRight(l, " "), a.StdoutTerminal && a.PoorLetters()))
	}
	if n := slices.IndexFunc(list, func(i keptlist.Item) bool { return i.Run != nil && i.Run.EndedBy == rundir.StillRunning }); n >= 0 {
		fmt.Fprintln(a.Stdout, "perfbench tui --watch "+list[n].ID()+" shows it live")
	}
	var runs []*rundir.Run
	for _, i := range list {
		if i.Run != nil && i.Run.Sought == nil {
			runs = append(runs, i.Run)
		}
	}
	if note := rundir.SignNote(runs...); note != "" {
		fmt.Fprintln(a.Stdout, note+"; perfbench report RUN has more")
	}
}

// historyGrid returns the table of what is kept; with more brevity, from 0 to 2, its words are
// fewer.
func historyGrid(list []keptlist.Item, brevity int) *widget.Grid {
	g := &widget.Grid{Cols: []widget.Column{
		{Head: "run"}, {Head: "what", Spare: 2}, {Head: "began", Spare: 5}, {Head: "result", Spare: 1}, {Head: "p99", Spare: 4}, {Head: "verdict"},
		{Spare: 6, Most: 40}, {Spare: 7, Most: 60},
	}}
	for n := range list {
		i := &list[n]
		_, p99, _ := i.Figures()
		name, latency, note, called := i.ID(), widget.Nanos(p99), "", ""
		if r := i.Run; r != nil {
			called = r.Name
			if note = r.Note; rundir.IsArchive(i.Dir) {
				name += rundir.Suffix
			}
			if p99 > 0 && r.Sought == nil {
				latency = r.Sign() + latency
			}
		}
		tags := strings.TrimSpace(called + " " + strings.Join((&rundir.Run{Tags: i.Tags()}).TagWords(), " "))
		switch {
		case called != "":
			g.Cols[6].Head = "name, tags"
		case tags != "":
			g.Cols[6].Head = cmp.Or(g.Cols[6].Head, "tags")
		}
		if note != "" {
			g.Cols[7].Head = "note"
		}
		answer, judged := i.Answer(i.Unit()), i.Because(i.Judged())
		if brevity > 0 {
			answer = i.Brief()
		}
		if brevity > 1 {
			judged = i.JudgedBriefly()
		}
		cells := []string{name, i.Kind(), i.When().Local().Format("2006-01-02 15:04"), answer, latency, judged, tags, note}
		for c := range cells {
			cells[c] = cli.Printable(cells[c])
		}
		g.Add(cells...)
	}
	return g
}
