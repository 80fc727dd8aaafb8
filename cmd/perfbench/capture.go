package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/store/redis/traffic"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/statements"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/profiles/mix/fit"
)

// watchedFirst is how long a server is watched before it is listened to.
const watchedFirst = 2 * time.Second

// captureCmd is the command in one call.
type captureCmd struct {
	*cli.Call
	target, passwordFile, from string
	duration                   time.Duration
	sample, maxSize            string
	values, anonymise          bool
	keyFile, keep              string
	show, json                 bool
	asMix                      string
}

// captureCommand writes down what a store is asked.
func captureCommand(c *cli.Call) *cobra.Command { return (&captureCmd{Call: c}).tree() }

func (a *captureCmd) tree() *cobra.Command {
	c := &cobra.Command{
		Use: "capture --target URL FILE | --from LOG FILE | --show FILE | --as-mix WORKLOAD FILE | --target URL --as-mix WORKLOAD", Short: "Write down what a store is asked, live or from its logs, and show it",
		Long: `capture writes down the calls that a store is asked to carry out: when, on which
connection, the command, its keys or the statement, and the sizes of everything else.
Values are left out unless --values is given; passwords are always left out.

With --target it listens to a Redis by MONITOR for --duration. MONITOR has the server send every
call to us, which takes throughput from a busy server, and --sample makes only the file
smaller. What the server did before and meanwhile is measured and shown.

With --from it reads a log: an append-only file, or the folder or manifest of one that
has several parts; what redis-cli monitor printed; a monitor file of memtier_benchmark;
a cache trace of Twitter's or Meta's; csvlog or jsonlog of PostgreSQL; the general log or
slow log of MariaDB or MySQL; what fqltool dump of Cassandra printed. The file may be
packed by zstd.

With --show it shows what is in a capture; with --as-mix it makes a workload of one, with
the weights, sizes, times to live and key distributions that were recorded, as far as they
are known, for perfbench run mix --file WORKLOAD. With --as-mix, FILE may also be
pg_stat_statements of PostgreSQL as a CSV file with the names of its columns; with --target
postgres://… in place of FILE, the server is asked twice, --duration apart.
perfbench run mix --file FILE makes the calls themselves again.

FILE must not be there yet. Its owner alone may read it. If perfbench is killed, the file
has everything up to the last second.`,
		Example: `  perfbench capture --target redis://localhost --duration 1m shop.capture
  perfbench capture --target redis://localhost --sample 1/100 --anonymise --keep-prefix : shop.capture
  perfbench capture --from appendonlydir shop.capture
  perfbench capture --show shop.capture
  perfbench capture --as-mix shop.yaml shop.capture
  perfbench capture --as-mix shop.yaml pg_stat_statements.csv
  perfbench capture --target postgres://localhost/shop --duration 10m --as-mix shop.yaml`,
		Args: func(c *cobra.Command, args []string) error {
			if counted := a.counted(); counted && len(args) > 0 {
				return fault.Input(fmt.Errorf("capture: unexpected argument %q", args[0]), "with --target, --as-mix makes a workload of what the server counts, and of no file")
			} else if counted {
				return nil
			}
			if len(args) == 0 {
				return fault.Input(errors.New("capture: no file was named"), "for example  perfbench capture --target redis://localhost shop.capture")
			}
			if len(args) > 1 {
				return fault.Input(fmt.Errorf("capture: unexpected argument %q", args[1]), "")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.do(c, cli.Unshield(append(args, "")[0])) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVarP(&a.target, "target", "t", "", "`URL` the Redis to listen to")
	fs.DurationVarP(&a.duration, "duration", "d", time.Minute, "`D` how long to listen")
	fs.StringVar(&a.from, "from", "", "`LOG` read this instead: a file, or the folder of an AOF")
	fs.BoolVar(&a.show, "show", false, "show what is in FILE")
	fs.StringVar(&a.asMix, "as-mix", "", "`WORKLOAD` make a workload of FILE, as a YAML file of the profile mix")
	fs.StringVar(&a.sample, "sample", "", "`1/N` record one connection of N, with all of its calls")
	fs.BoolVar(&a.values, "values", false, "record values, too, not only their sizes")
	fs.BoolVar(&a.anonymise, "anonymise", false, "replace keys and values by others of the same length")
	fs.StringVar(&a.keyFile, "key-file", "", "`PATH` the secret by which they are replaced, made if it is not there (default FILE.key)")
	fs.StringVar(&a.keep, "keep-prefix", "", "`DELIMITER` what stands before the first of these in a key is not replaced")
	fs.StringVar(&a.maxSize, "max-size", "1GiB", "`SIZE` end when FILE has as many bytes; 0: never")
	fs.StringVar(&a.passwordFile, "password-file", "", "`PATH` its first line is the target's password")
	fs.BoolVar(&a.json, "json", false, "write JSON")
	_ = c.RegisterFlagCompletionFunc("target", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return cli.Targets(a.Call, typed), cli.NoFiles | cobra.ShellCompDirectiveNoSpace
	}) // the flag exists
	return c
}

// counted reports whether a workload is to be made of what a server counts.
func (a *captureCmd) counted() bool { return a.asMix != "" && a.target != "" }

// contradictions says which flags do not go together.
func (a *captureCmd) contradictions(c *cobra.Command) error {
	var ways []string
	for name, given := range map[string]bool{"--target": a.target != "", "--from": a.from != "", "--show": a.show, "--as-mix": a.asMix != ""} {
		if given {
			ways = append(ways, name)
		}
	}
	slices.Sort(ways)
	if a.counted() && len(ways) == 2 {
		ways = ways[:1]
	}
	switch {
	case len(ways) == 0:
		return fault.Input(errors.New("capture: nothing says what to read"), "give --target URL or --from LOG; or --show or --as-mix for what is in a file")
	case len(ways) > 1:
		return fault.Input(fmt.Errorf("capture: %s do not go together", strings.Join(ways, " and ")), "give one of them")
	case !a.anonymise && (a.keyFile != "" || a.keep != ""):
		return fault.Input(errors.New("capture: --key-file and --keep-prefix are about --anonymise, which is not given"), "add --anonymise")
	case a.target != "" && a.duration <= 0:
		return fault.Input(fmt.Errorf("capture: --duration %s is no time", a.duration), "for example --duration 1m")
	case a.from != "" && c.Flags().Changed("duration"):
		return fault.Input(errors.New("capture: a log is read to its end, whatever --duration says"), "leave out --duration")
	}
	for _, name := range []string{"sample", "values", "anonymise", "max-size"} {
		if a.counted() && c.Flags().Changed(name) {
			return fault.Input(fmt.Errorf("capture: --%s changes nothing about what a server counts", name), "leave it out")
		}
	}
	for _, name := range []string{"sample", "values", "anonymise", "max-size", "duration", "password-file"} {
		if !a.counted() && (a.show || a.asMix != "") && c.Flags().Changed(name) {
			return fault.Input(fmt.Errorf("capture: --%s changes nothing about what is in a file", name), "leave it out")
		}
	}
	return nil
}

func (a *captureCmd) do(c *cobra.Command, path string) error {
	for _, name := range []string{"target", "duration", "password-file"} {
		if a.from != "" || a.show || a.asMix != "" && !a.counted() {
			break // whoever names a file asks no server
		}
		if err := a.FromEnvironment(c, name, map[string]string{}); err != nil {
			return err
		}
	}
	if err := a.contradictions(c); err != nil {
		return err
	}
	switch {
	case a.show:
		return a.showFile(c.Context(), path)
	case a.counted():
		return a.countStatements(c.Context())
	case a.asMix != "":
		return a.makeWorkload(c.Context(), path)
	}
	o, err := a.options(path)
	if err != nil {
		return err
	}
	var tally capture.Tally
	if a.from != "" {
		tally, err = a.convert(c.Context(), path, o)
	} else {
		tally, err = a.listen(c.Context(), path, o)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "%s: %s on %s; %s\n", path, units.Plural(tally.Calls, "call"), units.Plural(tally.Connections, "connection"), tally.Ended)
	a.explain(tally)
	if err := context.Cause(c.Context()); err != nil {
		return fault.Code(err, fault.CodeInterrupted)
	}
	if a.json {
		return cli.JSON(a.Stdout, tally)
	}
	return nil
}

// convert makes a capture of a log.
func (a *captureCmd) convert(ctx context.Context, path string, o capture.Options) (capture.Tally, error) {
	if statements.Recognises(ctx, a.from) {
		return statements.Convert(ctx, a.from, path, o)
	}
	return traffic.Convert(ctx, a.from, path, o)
}

// meaning returns what says what the calls of a capture mean to their store.
func meaning(h *capture.Header) func(*capture.Call) capture.Meaning {
	if h.Store == "redis" {
		return traffic.Mean(h)
	}
	return statements.Mean(h)
}

// explain says what was left out, and what else there is to say.
func (a *captureCmd) explain(tally capture.Tally) {
	for _, why := range slices.Sorted(maps.Keys(tally.Left)) {
		fmt.Fprintf(a.Stderr, "left out: %s: %s\n", units.Plural(tally.Left[why], "call"), why)
	}
	for _, n := range tally.Notes {
		fmt.Fprintln(a.Stderr, "note: "+n)
	}
}

// options reads the flags that say how calls are recorded.
func (a *captureCmd) options(path string) (o capture.Options, err error) {
	o.Values = a.values
	if a.sample != "" {
		n, ok := strings.CutPrefix(a.sample, "1/")
		if o.Sample, err = strconv.Atoi(n); !ok || err != nil || o.Sample < 1 {
			return o, fault.Input(fmt.Errorf("capture: --sample %s is not one of so many", a.sample), "for example --sample 1/100")
		}
	}
	if o.Max, err = units.ParseSize(a.maxSize); err != nil {
		return o, fault.Input(fmt.Errorf("capture: --max-size: %w", err), "for example --max-size 200MiB")
	}
	if _, err := os.Lstat(path); err == nil { // before there is a file with a key for it
		return o, fault.Input(fmt.Errorf("%s is there already", path), "name another file, or delete this one")
	}
	if a.anonymise {
		key, err := capture.KeyFile(cmp.Or(a.keyFile, path+".key"))
		if err != nil {
			return o, err
		}
		o.Disguise = capture.NewDisguise(key, a.keep)
	}
	return o, nil
}

// listen makes a capture of a live server.
func (a *captureCmd) listen(ctx context.Context, path string, o capture.Options) (tally capture.Tally, err error) {
	t, d, err := a.parse(ctx)
	if err != nil {
		return tally, err
	}
	if d.Name != "redis" {
		return tally, fault.Input(fmt.Errorf("capture: only Redis can be listened to, and %s is not one", t.Redacted()), "name one, for example redis://localhost:6379; --from reads the logs of other stores")
	}
	a.Begin()
	l := traffic.Live{Options: o, Duration: a.duration, Before: watchedFirst, Say: func(s string) { fmt.Fprintln(a.Stderr, s) }}
	tally, err = l.Record(ctx, t, path)
	return tally, err
}

// parse reads the target, and finds its password.
func (a *captureCmd) parse(ctx context.Context) (t store.Target, d store.Driver, err error) {
	url, err := a.Resolve(a.target)
	if err != nil {
		return t, d, err
	}
	if t, d, err = drivers.Parse(url); err != nil {
		return t, d, err
	}
	if t.Password, err = a.password(ctx, t); err != nil {
		return t, d, err
	}
	for _, caution := range t.Cautions("the connection to " + strings.Join(t.Hosts, ", ")) {
		fmt.Fprintln(a.Stderr, "warning: "+caution)
	}
	return t, d, nil
}

// password finds the password of a target.
func (a *captureCmd) password(ctx context.Context, t store.Target) (string, error) {
	switch password, ok := a.Getenv(request.EnvPrefix + "TARGET_PASSWORD"); {
	case a.passwordFile != "":
		return session.ReadPassword(a.passwordFile)
	case t.Password == "" && ok:
		return password, nil
	case t.Password == "" && t.User != "":
		return a.AskPassword(ctx, t.Redacted())
	}
	return t.Password, nil
}

// showFile shows what is in a capture.
func (a *captureCmd) showFile(ctx context.Context, path string) error {
	s, err := infile.While(ctx, func() (*capture.Summary, error) {
		f, err := infile.Open(infile.Recorded, path)
		if err != nil {
			return nil, fault.Code(err, fault.CodeInput)
		}
		defer f.Close() //nolint:errcheck // it was only read
		r, err := capture.NewReader(path, f)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return capture.Summarize(r, meaning(&r.Header))
	})
	if err != nil {
		return err
	}
	if a.json {
		return cli.JSON(a.Stdout, s)
	}
	a.print(s)
	return nil
}

// makeWorkload makes a workload of a capture, or of a server's statistics.
func (a *captureCmd) makeWorkload(ctx context.Context, path string) error {
	if err := a.vacant(); err != nil {
		return err
	}
	w, err := infile.While(ctx, func() (*fit.Fitted, error) {
		f, err := infile.Open(infile.Recorded, path)
		if err != nil {
			return nil, fault.Input(fmt.Errorf("capture: %w", err), request.NearPath(path))
		}
		defer f.Close() //nolint:errcheck // it was only read
		return fit.Of(path, f)
	})
	if err != nil {
		return err
	}
	return a.write(w)
}

// vacant refuses a workload whose file is there, before all of a capture is read.
func (a *captureCmd) vacant() error {
	to := cli.Unshield(a.asMix)
	if _, err := os.Lstat(to); err == nil {
		return fault.Input(fmt.Errorf("%s is there already", to), "name another file, or delete this one")
	}
	return nil
}

// countStatements makes a workload of what PostgreSQL counts of its own accord within the duration.
func (a *captureCmd) countStatements(ctx context.Context) error {
	if err := a.vacant(); err != nil {
		return err
	}
	t, _, err := a.parse(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(sqlstore.Postgres.Schemes, t.Scheme) {
		return fault.Input(fmt.Errorf("capture: only PostgreSQL counts statements in pg_stat_statements, and %s is another store", t.Redacted()), "use postgres://, or --from with a log, and --as-mix with what that makes")
	}
	if t.Path == "" {
		return fault.Input(fmt.Errorf("capture: %s names no database", t.Redacted()), "statements are counted by database: "+t.Redacted()+"/shop")
	}
	a.Begin()
	found, took, err := sqlstore.CountedWithin(ctx, t, a.duration, func() {
		fmt.Fprintf(a.Stderr, "%s counts statements; they are read again in %s\n", t.Redacted(), units.Duration(a.duration))
	})
	if err != nil {
		return err
	}
	var counts []fit.Counts
	for _, one := range found {
		counts = append(counts, fit.Counts(one))
	}
	if len(counts) == 0 {
		return fault.Store(fmt.Errorf("%s has counted no statement within %s", t.Redacted(), units.Duration(a.duration)), "ask for longer with --duration")
	}
	w, err := fit.OfCounts("pg_stat_statements of "+t.Redacted(), counts, took)
	if err != nil {
		return err
	}
	return a.write(w)
}

// write writes a workload, and says what it is.
func (a *captureCmd) write(w *fit.Fitted) error {
	to := cli.Unshield(a.asMix)
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fault.Code(err, fault.CodeInput)
	}
	_, err = out.WriteString(w.Text)
	if err := errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	left := int64(0)
	for _, n := range w.Left {
		left += n
	}
	fmt.Fprintf(a.Stderr, "%s: a workload of %s; its first lines say how well it fits\n", to, units.Plural(w.Calls, "call"))
	if left > 0 {
		fmt.Fprintf(a.Stderr, "left out: %s that a workload cannot have\n", units.Plural(left, "call"))
	}
	fmt.Fprintf(a.Stderr, "perfbench run mix --file %s\n", to)
	return nil
}

// print shows a summary to people.
func (a *captureCmd) print(s *capture.Summary) {
	h, span := s.Header, (s.Last - s.First).Seconds()
	server := ""
	if h.Server != "" {
		server = " (" + cli.Printable(h.Server) + ")"
	}
	fmt.Fprintf(a.Stdout, "%s%s, by %s, from %s\n", cli.Printable(h.Source), server, cli.Printable(h.How), h.Started.Format(time.RFC3339))
	cli.Table(a.Stdout, func(row func(...string)) {
		calls := units.Number(float64(s.Calls))
		if h.Timing != capture.Unknown && span >= 0.2 {
			calls += fmt.Sprintf(" in %s: %s/s, %s in the busiest second", units.Duration(s.Last-s.First), units.Number(float64(s.Calls)/span), units.Number(float64(s.Peak)))
		}
		row("calls", calls)
		row("timing", timings[h.Timing])
		connections := units.Number(float64(s.Connections))
		if h.Sample > 1 {
			connections += fmt.Sprintf(", one of %d", h.Sample)
		}
		row("connections", connections)
		if s.Keys > 0 {
			most := ""
			if s.AtLeast {
				most = "at least "
			}
			row("keys", fmt.Sprintf("%s%s; the 10 hottest have %s of all calls on keys, the hottest 1 %% %s", most, units.Number(float64(s.Keys)), percent(s.Hottest10), percent(s.Hottest1Percent)))
			row("size of keys", spreadText(s.KeySizes, units.Size))
		}
		if s.TTLs.Count > 0 {
			row("times to live", spreadText(s.TTLs, func(ms int64) string { return units.Duration(time.Duration(ms) * time.Millisecond) })+fmt.Sprintf(", set by %s", units.Plural(s.TTLs.Count, "call")))
		}
		if s.Reads > 0 {
			of := fmt.Sprintf("%s of %s with a known answer", percent(float64(s.Hits)/float64(s.Reads)), units.Plural(s.Reads, "read"))
			if s.Hits > 0 {
				of += "; found: " + spreadText(s.FoundSizes, units.Size)
			}
			row("hit ratio", of)
		}
		if s.Known > 0 {
			row("failed", fmt.Sprintf("%s of %s with a known outcome", units.Number(float64(s.Failed)), units.Plural(s.Known, "call")))
		}
		values := "sizes only"
		if h.Values {
			values = "recorded"
		}
		if h.Anonymised {
			values += "; keys and texts are replaced"
		}
		row("values", values)
	})
	fmt.Fprintln(a.Stdout)
	cli.Table(a.Stdout, func(row func(...string)) {
		row("COMMAND", "CALLS", "SHARE", "BYTES p50", "p99", "max", "A REPLAY")
		for _, c := range s.Commands {
			replay := "makes it"
			if statements.NotAgain(h.Store) != "" {
				replay = "cannot make it" // why, is said below
			}
			switch {
			case c.Left == c.Calls:
				replay = "leaves it out: " + c.LeftOut
			case c.Left > 0:
				replay = fmt.Sprintf("%s, but for %d: %s", replay, c.Left, c.LeftOut)
			}
			row(cli.Printable(c.Name), units.Number(float64(c.Calls)), percent(c.Share), units.Size(c.Sizes.P50), units.Size(c.Sizes.P99), units.Size(c.Sizes.Max), replay)
		}
	})
	a.printForms(s)
	a.printLeft("not recorded", s.Tally.Left)
	a.printLeft("a replay leaves out", s.LeftOut)
	if why := statements.NotAgain(h.Store); why != "" {
		fmt.Fprintln(a.Stdout, "note: "+why)
	}
	for _, n := range append(slices.Clone(h.Notes), s.Tally.Notes...) {
		fmt.Fprintln(a.Stdout, "note: "+cli.Printable(n))
	}
	switch {
	case s.Cut > 0:
		fmt.Fprintf(a.Stdout, "the file was cut short after line %d\n", s.Cut)
	case s.Tally.Ended == "":
		fmt.Fprintln(a.Stdout, "nobody ended the recording: it is complete up to the last second")
	}
}

// printForms shows the most frequent forms of calls.
func (a *captureCmd) printForms(s *capture.Summary) {
	if len(s.Forms) == 0 {
		return
	}
	fmt.Fprintln(a.Stdout)
	cli.Table(a.Stdout, func(row func(...string)) {
		row("CALLS", "SHARE", "STATEMENT")
		for _, f := range s.Forms[:min(len(s.Forms), mostStatements)] {
			text := cli.Printable(f.Form)
			if r := []rune(text); len(r) > widestStatement {
				text = string(r[:widestStatement-1]) + "…"
			}
			row(units.Number(float64(f.Calls)), percent(f.Share), text)
		}
	})
}

// How many statements are shown, and how much of one; --json has more.
const mostStatements, widestStatement = 10, 120

// timings explain how exactly moments are known.
var timings = map[capture.Timing]string{
	capture.Exact:   "each call to the microsecond",
	capture.Millis:  "each call to the millisecond",
	capture.Seconds: "the second of each call",
	capture.Unknown: "only the order of the calls",
}

func (a *captureCmd) printLeft(what string, left map[string]int64) {
	for i, why := range slices.Sorted(maps.Keys(left)) {
		if i == 0 {
			fmt.Fprintln(a.Stdout)
		}
		fmt.Fprintf(a.Stdout, "%s: %s: %s\n", what, units.Plural(left[why], "call"), cli.Printable(why))
	}
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func spreadText(s capture.Spread, text func(int64) string) string {
	return fmt.Sprintf("p50 %s, p99 %s, at most %s", text(s.P50), text(s.P99), text(s.Max))
}
