package main

import (
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
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
)

// historyCmd is the command in one call, with what was asked of it.
type historyCmd struct {
	*cli.Call
	runs, profile, target, since string
	tags                         []string
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
archives. Filters combine: a run is listed when it matches all of them. The p99 is
the highest of its operations that count.

With --changes it says what changed when: run by run of the same plan on the same kind
of machine, where throughput, p50 or p99 moved for good by 2.5 % or more, which run is
the first after it, and what else differs there (version of the store, of perfbench,
settings, machine). It takes six runs of a plan. --html FILE draws it.

Exit codes: 0 done; 2 bad input; 5 with --changes: the last change of a figure was for
the worse.`,
		Example: `  perfbench history --profile ingestion --since 7d
  perfbench history --tag build=1.4.2 --json
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
			return a.withRuns(cmd, a.list)
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

// withRuns hands the runs that are asked for to do.
func (a *historyCmd) withRuns(c *cobra.Command, do func(list []rundir.Entry) error) error {
	a.fromEnvironment(c)
	f := rundir.Filter{Profile: a.profile, Target: a.target}
	var err error
	if f.Tags, err = request.Tags(a.tags); err != nil {
		return err
	}
	if a.since != "" {
		if f.Since, err = rundir.ParseAgo("since", a.since, time.Now()); err != nil {
			return err
		}
	}
	list, warnings, err := rundir.List(a.runs)
	for _, w := range warnings {
		fmt.Fprintln(a.Stderr, "warning: "+cli.Printable(w))
	}
	if err != nil {
		return err
	}
	return do(f.Of(list))
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

// historyRow is a run as it is listed.
type historyRow struct {
	ID         string            `json:"id"`
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
	Throughput *float64          `json:"throughput_per_s"`
	P99        *int64            `json:"response_p99_ns"`
	Verdict    string            `json:"verdict"`
	Tags       map[string]string `json:"tags,omitempty"`
	Note       string            `json:"note,omitempty"`
}

func rowOf(e rundir.Entry) historyRow {
	r, h := &e.Run, e.Run.Headline()
	out := historyRow{
		ID: r.ID, Dir: e.Dir, Archived: rundir.IsArchive(e.Dir), Bytes: rundir.Size(e), Profile: r.Profile, Mode: r.Mode, Target: r.Target, Store: r.Store.Name,
		Started: r.Started, MeasuredS: r.MeasuredS, EndedBy: r.EndedBy, Unit: r.Unit, Segments: r.Mixes(), Verdict: r.Verdict.State, Tags: r.Tags, Note: r.Note,
	}
	if !math.IsNaN(h.Rate) {
		out.Throughput = &h.Rate
	}
	if len(h.Timed) > 0 && h.Response.P99 != measure.Hidden {
		out.P99 = &h.Response.P99
	}
	return out
}

// list lists runs.
func (a *historyCmd) list(list []rundir.Entry) error {
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

func (a *historyCmd) writeJSON(list []rundir.Entry) error {
	rows := []historyRow{}
	for _, e := range list {
		rows = append(rows, rowOf(e))
	}
	enc := json.NewEncoder(a.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}

// table writes runs in columns.
func (a *historyCmd) table(list []rundir.Entry) {
	rows := [][]string{{"run", "began", "throughput", "p99", "verdict", "tags"}}
	noted := slices.ContainsFunc(list, func(e rundir.Entry) bool { return e.Run.Note != "" })
	if noted {
		rows[0] = append(rows[0], "note")
	}
	for _, e := range list {
		r := rowOf(e)
		rate, p99 := "–", "–"
		if r.Throughput != nil {
			rate = e.Run.Sign() + units.Number(*r.Throughput) + " " + r.Unit + "/s"
		}
		if r.P99 != nil {
			p99 = e.Run.Sign() + units.Duration(time.Duration(*r.P99))
		}
		name := r.ID
		if r.Archived {
			name += rundir.Suffix
		}
		word := r.Verdict
		if r.EndedBy == rundir.StillRunning {
			word = r.EndedBy
		}
		rows = append(rows, []string{name, r.Started.Local().Format("2006-01-02 15:04"), rate, p99, word, strings.Join(e.Run.TagWords(), " ")})
		if noted {
			rows[len(rows)-1] = append(rows[len(rows)-1], r.Note)
		}
	}
	cli.Columns(a.Stdout, a.StdoutWidth, rows)
	if slices.ContainsFunc(list, func(e rundir.Entry) bool { return e.Run.Mixes() > 0 }) {
		fmt.Fprintln(a.Stdout, rundir.MixedNote+"; perfbench report RUN has each")
	}
}
