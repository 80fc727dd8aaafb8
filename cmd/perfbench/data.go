package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/broker"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group"
	"github.com/perfbench/perfbench/profiles/group/design"
)

// dataFlags are the flags of data list and data delete.
type dataFlags struct {
	target, namespace, passwordFile, profile string
	files, sets                              []string
	yes, json                                bool
	// listing is that of the files' plan, when it has a layout of its own.
	listing workload.Lister
}

// dataCmd is the command in one call.
type dataCmd struct{ *cli.Call }

// dataCommand shows or deletes what perfbench made in a store.
func dataCommand(c *cli.Call) *cobra.Command { return dataCmd{c}.tree() }

func (a dataCmd) tree() *cobra.Command {
	c := &cobra.Command{
		Use: "data [URL]", Short: "Show or delete what perfbench made in a store",
		Args: cobra.ArbitraryArgs,
	}
	f := &dataFlags{}
	c.RunE = func(c *cobra.Command, args []string) error { return a.listed(c, f, args) }
	list := &cobra.Command{
		Use: "list [URL]", Short: "List what perfbench made under a namespace, with its size now",
		Args: f.url, RunE: func(c *cobra.Command, _ []string) error { return a.withData(c, f, a.dataList) },
	}
	for _, s := range []*cobra.Command{c, list} {
		s.Flags().BoolVar(&f.json, "json", false, "write JSON")
	}
	remove := &cobra.Command{
		Use: "delete [URL]", Short: "Delete what perfbench made under a namespace, and nothing else",
		Args: f.url, RunE: func(c *cobra.Command, _ []string) error { return a.withData(c, f, a.dataDelete) },
	}
	remove.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	for _, s := range []*cobra.Command{c, list, remove} {
		s.Flags().StringVarP(&f.target, "target", "t", "", "`URL` the store; also as an argument")
		s.Flags().StringVar(&f.namespace, "namespace", "perfbench", "`NAME` prefix of what was made")
		s.Flags().StringArrayVarP(&f.files, "file", "f", nil, "`PATH` only what a run of this file makes; repeats")
		s.Flags().StringArrayVar(&f.sets, "set", nil, "`NAME=VALUE` a parameter of the runs of --file, such as compat=on; repeats")
		s.Flags().StringVarP(&f.profile, "profile", "p", "", "`NAME` the profile that reads --file (default: the first that can)")
		s.Flags().StringVar(&f.passwordFile, "password-file", "", "`FILE` its first line is the target's password")
		_ = s.RegisterFlagCompletionFunc("target", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return cli.Targets(a.Call, typed), cli.NoFiles | cobra.ShellCompDirectiveNoSpace
		}) // the flag exists
	}
	c.AddCommand(list, remove)
	return c
}

// listed lists, where a target was named and not what is to be done with it.
func (a dataCmd) listed(c *cobra.Command, f *dataFlags, args []string) error {
	switch {
	case len(args) == 0 && f.target == "":
		return cli.SubcommandNeeded(c, args)
	case len(args) > 0 && !strings.Contains(args[0], ":"):
		return cli.NoSuchCommand(c, args)
	}
	if err := f.url(c, args); err != nil {
		return err
	}
	return a.withData(c, f, a.dataList)
}

// url takes the target as an argument.
func (f *dataFlags) url(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case len(args) > 1 || !strings.Contains(args[0], ":"):
		return fault.Input(fmt.Errorf("%s: unexpected argument %q", cli.Name(c), args[len(args)-1]), "it takes one target, for example redis://localhost:6379")
	case f.target != "" && f.target != args[0]:
		return fault.Input(fmt.Errorf("%s: two targets: --target %s and %s", cli.Name(c), f.target, args[0]), "give one of them")
	}
	f.target = args[0]
	return nil
}

// values are those that the runs of the files are given.
func (f *dataFlags) values() (workload.Values, error) {
	out := workload.Values{"namespace": {Name: "namespace", Text: f.namespace, Origin: workload.OriginFlag, Where: "--namespace"}}
	if len(f.sets) > 0 && len(f.files) == 0 {
		return nil, fault.Input(errors.New("--set is about the runs of a file, and none was given"), "add --file, or leave it out: all that was made is listed and deleted, however its run was set")
	}
	for _, s := range f.sets {
		name, text, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fault.Input(fmt.Errorf("--set %s: there is no =", s), "for example --set compat=on")
		}
		out[name] = workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--set"}
	}
	return out, nil
}

// entry is a space that we made, and what is there now.
type entry struct {
	store.Made
	Kind    string `json:"kind"`
	Entries int64  `json:"entries"`
	Exists  bool   `json:"exists"`
}

// kept is a store that keeps what was made, and what was made there.
type kept struct {
	conn  store.Conn
	keep  store.Keeper
	names []string // of spaces; nil: all
	all   []entry
}

// withData opens the store and hands what was made there to do.
func (a dataCmd) withData(c *cobra.Command, f *dataFlags, do func(ctx context.Context, f *dataFlags, k *kept) error) error {
	for _, name := range []string{"target", "namespace", "file", "password-file", "yes"} {
		if err := a.FromEnvironment(c, name, map[string]string{}); err != nil {
			return err
		}
	}
	ctx := c.Context()
	target, driver, err := a.dataTarget(ctx, f)
	if err != nil {
		return err
	}
	for _, caution := range target.Cautions("the connection to " + strings.Join(target.Hosts, ", ")) {
		fmt.Fprintln(a.Stderr, "warning: "+caution)
	}
	names, err := a.namesOfFiles(ctx, f)
	if err != nil {
		return err
	}
	a.Begin()
	conn, err := driver.Open(ctx, target, store.OpenOptions{Threads: 4, Existing: true, Log: a.Log})
	if err != nil && target.Password == "" && session.WantsPassword(err) {
		if target.Password, _ = a.AskPassword(ctx, target.Redacted()); target.Password != "" {
			conn, err = driver.Open(ctx, target, store.OpenOptions{Threads: 4, Existing: true, Log: a.Log})
		}
	}
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	keeper, err := store.As[store.Keeper](conn)
	if err != nil {
		return errors.Join(fault.Code(fmt.Errorf("%s keeps no record of what was made: %w", driver.Title, err), fault.CodeInput), conn.Close())
	}
	k := &kept{conn: conn, keep: keeper, names: names}
	if err = k.list(ctx, f.namespace); err == nil {
		err = do(ctx, f, k)
	}
	return errors.Join(err, conn.Close())
}

// dataTarget reads the target and refuses those that keep nothing.
func (a dataCmd) dataTarget(ctx context.Context, f *dataFlags) (store.Target, store.Driver, error) {
	if f.target == "" {
		return store.Target{}, store.Driver{}, fault.Input(errors.New("no target was named"), "give --target URL, for example redis://localhost:6379")
	}
	url, err := a.Resolve(f.target)
	if err != nil {
		return store.Target{}, store.Driver{}, err
	}
	t, d, err := keeperAt(url)
	if err != nil {
		return t, d, err
	}
	if slices.Contains([]string{"embedded", "memory", "null"}, d.Name) {
		return t, d, fault.Input(fmt.Errorf("nothing outlives a run on %s, so there is nothing to list or delete", t.Redacted()), "name a server, for example redis://localhost:6379")
	}
	switch password, ok := a.Getenv(request.EnvPrefix + "TARGET_PASSWORD"); {
	case f.passwordFile != "":
		t.Password, err = session.ReadPassword(f.passwordFile)
	case t.Password == "" && ok:
		t.Password = password
	case t.Password == "" && t.User != "":
		t.Password, err = a.AskPassword(ctx, t.Redacted())
	}
	return t, d, err
}

// keeperAt finds who keeps what was made at a URL: a store, or a broker, whose queues
// outlive a run that was killed.
func keeperAt(url string) (store.Target, store.Driver, error) {
	if t, err := store.ParseTarget(url); err == nil && slices.Contains(broker.Driver.Schemes, t.Scheme) {
		return t, broker.Driver, nil
	}
	return drivers.Parse(url)
}

// namesOfFiles returns the names of the spaces that a run of the files would
// write, nil without files.
func (a dataCmd) namesOfFiles(ctx context.Context, f *dataFlags) ([]string, error) {
	given, err := f.values()
	if err != nil {
		return nil, err
	}
	if len(f.files) == 0 {
		return nil, nil
	}
	var first error
	for _, p := range cli.Profiles() {
		if p.Read == nil || (f.profile != "" && p.Name != f.profile) {
			continue
		}
		if f.profile == "" && p.Name != group.Name && design.Reads(f.files) {
			continue // other profiles would read it too, and find nothing of theirs
		}
		env := a.Session()
		env.Environ = nil
		plan, err := session.Prepare(ctx, env, session.Request{Profile: p.Name, Files: f.files, Target: f.target, Values: given})
		if err == nil {
			f.listing, _ = plan.Plan.Binder.(workload.Lister)
			names := []string{}
			for _, s := range plan.Plan.Spaces {
				names = append(names, s.Name)
			}
			return names, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		_, first = cli.Profile([]string{f.profile})
	}
	if first == nil {
		first = fault.Input(fmt.Errorf("profile %s reads no files", f.profile), "")
	}
	return nil, first
}

// list lists what is recorded, of these names if any are given, with what is there
// now.
func (k *kept) list(ctx context.Context, namespace string) error {
	made, err := k.keep.Made(ctx, namespace)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	k.all = []entry{}
	for _, m := range made {
		if k.names != nil && !slices.Contains(k.names, m.Name) {
			continue
		}
		found, err := k.keep.Inspect(ctx, m.Space, m.Parts...)
		if err != nil {
			return fault.Code(err, fault.CodeStore)
		}
		k.all = append(k.all, entry{m, found.Kind, found.Size, found.Exists})
	}
	return nil
}

func (a dataCmd) dataList(ctx context.Context, f *dataFlags, k *kept) error {
	if f.json {
		return cli.JSON(a.Stdout, k.all)
	}
	if f.listing != nil {
		return a.listing(ctx, f, k.conn, nil)
	}
	a.entries(f, k.all)
	who, err := ownership.Holder(ctx, k.conn, f.namespace)
	if who != "" {
		fmt.Fprintf(a.Stdout, "in use by %s\n", who)
	}
	return fault.Code(err, fault.CodeStore)
}

func (a dataCmd) entries(f *dataFlags, all []entry) {
	if len(all) == 0 {
		fmt.Fprintf(a.Stdout, "perfbench has recorded nothing under namespace %q\n", f.namespace)
		return
	}
	cli.Table(a.Stdout, func(row func(...string)) {
		row("SPACE", "SHAPE", "ENTRIES", "PROFILE", "RUN", "WRITTEN")
		for _, e := range all {
			size := "gone"
			switch {
			case e.Exists && e.Entries < 0:
				size = "unknown"
			case e.Exists:
				size = fmt.Sprint(e.Entries)
			}
			shape := string(e.Shape)
			if e.Grouped {
				shape += " by group"
			}
			if e.Shared {
				shape += ", shared"
			}
			row(e.Name, shape, size, e.Profile, e.Run, e.Updated)
		}
	})
}

func (a dataCmd) dataDelete(ctx context.Context, f *dataFlags, k *kept) error {
	a.entries(f, k.all)
	if len(k.all) == 0 {
		return nil
	}
	if !f.yes {
		if !a.StdinTerminal {
			return fault.Input(errors.New("delete: nothing was deleted: there is no terminal to ask on"), "pass --yes to delete without being asked")
		}
		fmt.Fprintf(a.Stderr, "Delete these %d spaces for good? [y/N] ", len(k.all))
		answer, _ := bufio.NewReader(a.Stdin).ReadString('\n')
		if !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
			fmt.Fprintln(a.Stdout, "nothing was deleted")
			return nil
		}
	}
	claim, err := ownership.Hold(ctx, k.conn, f.namespace, "perfbench data delete")
	if err != nil {
		return fault.Code(fmt.Errorf("nothing was deleted: %w", err), fault.CodeStore)
	}
	if err = k.list(ctx, f.namespace); err == nil { // again, for a run may have ended while somebody was asked
		if f.listing != nil {
			err = a.listing(ctx, f, k.conn, claim)
		} else {
			err = a.deleteAll(ctx, claim, k.all)
		}
	}
	return errors.Join(err, claim.Release(context.WithoutCancel(ctx)))
}

// deleteAll deletes spaces one by one.
func (a dataCmd) deleteAll(ctx context.Context, claim *ownership.Claim, all []entry) error {
	return ownership.InTurn(all, func(e entry) error {
		last := time.Now()
		_, err := claim.Delete(ctx, e.Space, func(int64) { // keys, rows or tables, as the store has it
			if time.Since(last) > time.Second {
				last = time.Now()
				fmt.Fprintf(a.Stderr, "%s: still deleting\n", e.Name)
			}
		})
		if errors.Is(err, ownership.ErrShared) {
			fmt.Fprintf(a.Stdout, "%s: left alone: it was there before perfbench wrote into it; delete it yourself\n", e.Name)
			return nil
		}
		if err != nil {
			return fault.Hint(fault.Code(fmt.Errorf("delete %s: %w", e.Name, err), fault.CodeStore), "what is left can be deleted by the same command")
		}
		fmt.Fprintf(a.Stdout, "%s: %s\n", e.Name, e.gone())
		return nil
	})
}

// gone says what was deleted, in the unit in which the list shows it.
func (e *entry) gone() string {
	switch {
	case !e.Exists:
		return "was gone already"
	case e.Entries < 0:
		return "gone"
	}
	return several(e.Entries, "entry", "entries") + " gone"
}

func several(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// listing prints what a file names, and with a claim removes what of it is
// ours.
func (a dataCmd) listing(ctx context.Context, f *dataFlags, conn store.Conn, claim *ownership.Claim) error {
	text, err := f.listing.Listing(ctx, conn, claim)
	fmt.Fprint(a.Stdout, text)
	return fault.Code(err, fault.CodeStore)
}
