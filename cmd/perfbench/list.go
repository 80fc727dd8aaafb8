package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
)

// listing is what a list command shows: a table for people, a value for --json.
type listing struct {
	head []string
	rows [][]string
	data any
	// hidden is how many names of older systems are left out.
	hidden int
}

// listCmd is the command in one call.
type listCmd struct{ *cli.Call }

// listCommand lists profiles, stores, formats, presets and knobs.
func listCommand(c *cli.Call) *cobra.Command { return listCmd{c}.tree() }

func (a listCmd) tree() *cobra.Command {
	var asJSON, all bool
	c := &cobra.Command{
		Use: "list", Short: "List profiles, stores, formats, presets, knobs, and the schema of plans",
		Args: cli.NoSuchCommand,
	}
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "write JSON")
	show := func(l listing, err error) error {
		if err != nil {
			return err
		}
		if asJSON {
			return cli.JSON(a.Stdout, l.data)
		}
		cli.Columns(a.Stdout, a.StdoutWidth, append([][]string{l.head}, l.rows...))
		if l.hidden > 0 {
			fmt.Fprintf(a.Stdout, "\n%d names that older systems use for the same are left out; --all shows them\n", l.hidden)
		}
		return nil
	}
	c.RunE = func(*cobra.Command, []string) error { return show(listProfiles(), nil) }
	add := func(use, short string, most int, f func(args []string) error) *cobra.Command {
		s := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > most {
				return fault.Input(fmt.Errorf("%s: unexpected argument %q", cli.Name(cmd), args[most]), "")
			}
			return f(args)
		}}
		c.AddCommand(s)
		return s
	}
	add("profiles", "The workloads", 0, func([]string) error { return show(listProfiles(), nil) })
	stores := add("stores [NAME]", "The kinds of store, and what runs on them; with NAME what its URL takes", 1, func(args []string) error {
		if len(args) == 1 {
			return show(listParameters(args[0]))
		}
		return show(listStores(), nil)
	})
	stores.ValidArgsFunction = cli.CompleteStores
	formats := add("formats [NAME]", "The documents of a run; with NAME the documentation of one", 1, func(args []string) error {
		if len(args) == 1 {
			return a.formatDoc(args[0])
		}
		return show(listFormats(), nil)
	})
	formats.ValidArgsFunction = cli.CompleteFormats
	presets := add("presets [P [NAME]]", "The presets of a profile, or of all; with NAME the YAML of one", 2, func(args []string) error {
		if len(args) == 2 {
			return a.presetText(args[0], args[1])
		}
		return show(ofProfiles(args, listPresets))
	})
	presets.ValidArgsFunction = cli.CompletePresets
	knobs := add("knobs [P]", "What --set and --at can change in a profile, or in all", 1, func(args []string) error {
		return show(ofProfiles(args, func(args []string) (listing, error) { return listKnobs(args, all) }))
	})
	knobs.Flags().BoolVar(&all, "all", false, "with the names that older systems use for the same, such as threadCount")
	knobs.ValidArgsFunction = cli.CompleteProfiles
	add("plan-schema", "The JSON Schema of plan files, for editors", 0, func([]string) error { return a.planSchema() })
	return c
}

// planSchema prints the JSON Schema of plan files.
func (a listCmd) planSchema() error {
	data, err := planSchema()
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(data)
	return err
}

func listProfiles() listing {
	type entry struct {
		Name    string   `json:"name"`
		Title   string   `json:"title"`
		Summary string   `json:"summary"`
		Unit    string   `json:"unit"`
		Thread  string   `json:"thread"`
		Modes   []string `json:"modes"`
		Stores  []string `json:"stores"`
		Reads   string   `json:"reads"`
		Writes  string   `json:"writes"`
		Preset  string   `json:"default_preset"`
	}
	l := listing{head: []string{"PROFILE", "RUNS ON", "COUNTS", "IMITATES"}}
	data := []entry{}
	for _, p := range cli.Profiles() {
		on := []string{}
		for _, b := range p.Stores {
			if b.Refuse == "" {
				on = append(on, b.Driver)
			}
		}
		if p.Design == nil {
			l.rows = append(l.rows, []string{p.Name, "not built yet", p.Unit, p.Summary})
			continue
		}
		l.rows = append(l.rows, []string{p.Name, strings.Join(on, " "), p.Unit, p.Summary})
		data = append(data, entry{p.Name, p.Title, p.Summary, p.Unit, p.Thread, some(p.Modes), on, p.Reads, p.Writes, p.DefaultPreset})
	}
	l.data = data
	return l
}

// ofProfiles lists something of the profile that is named, or of each, one after the
// other; as JSON the latter is by the name of the profile.
func ofProfiles(args []string, one func(args []string) (listing, error)) (listing, error) {
	if len(args) > 0 {
		return one(args)
	}
	all, data := listing{}, map[string]any{}
	for _, p := range cli.Profiles() {
		if p.Design == nil {
			continue
		}
		l, err := one([]string{p.Name})
		if err != nil {
			return listing{}, err
		}
		all.hidden += l.hidden
		all.head, data[p.Name] = append([]string{"PROFILE"}, l.head...), l.data
		for _, row := range l.rows {
			all.rows = append(all.rows, append([]string{p.Name}, row...))
		}
	}
	all.data = data
	return all, nil
}

func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func listFormats() listing {
	type entry struct {
		ID      string `json:"id"`
		Title   string `json:"title"`
		Profile string `json:"profile"`
	}
	l := listing{head: []string{"FORMAT", "OF PROFILE", "WHAT IT IS"}}
	data := []entry{}
	for _, f := range cli.Formats() {
		of := f.Profile
		if of == "" {
			of = "any"
		}
		l.rows = append(l.rows, []string{f.ID, of, f.Title})
		data = append(data, entry{f.ID, f.Title, f.Profile})
	}
	l.data = data
	return l
}

// formatDoc prints the documentation of a format.
func (a listCmd) formatDoc(id string) error {
	fs, err := rundir.Pick(cli.Formats(), []string{id}, "")
	if err != nil {
		return err
	}
	for i, f := range cli.Formats() { // those of several profiles may share an id
		if f.ID == fs[0].ID {
			if i > 0 && f.Profile != fs[0].Profile {
				fmt.Fprintln(a.Stdout)
			}
			fmt.Fprintln(a.Stdout, strings.TrimSpace(f.Doc))
		}
	}
	return nil
}

func listPresets(args []string) (listing, error) {
	type entry struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Default     bool              `json:"default"`
		Values      map[string]string `json:"values"`
	}
	p, err := cli.Profile(args)
	if err != nil {
		return listing{}, err
	}
	l := listing{head: []string{"PRESET", "", "WHAT IT IS"}}
	data := []entry{}
	if p.Presets == nil {
		return listing{head: l.head, data: data}, nil
	}
	all, err := request.Presets(p.Presets)
	if err != nil {
		return listing{}, err
	}
	for _, i := range all {
		mark := ""
		if i.Name == p.DefaultPreset {
			mark = "default"
		}
		values, err := request.LoadPreset(p.Presets, i.Name)
		if err != nil {
			return listing{}, err
		}
		e := entry{i.Name, i.Description, mark != "", map[string]string{}}
		for _, v := range values {
			e.Values[v.Name] = v.Text
		}
		l.rows = append(l.rows, []string{i.Name, mark, i.Description})
		data = append(data, e)
	}
	absent, err := request.Absent(p.Presets)
	for _, i := range absent {
		l.rows = append(l.rows, []string{i.Name, "absent", i.Description})
	}
	l.data = data
	return l, err
}

// presetText prints the YAML of a preset.
func (a listCmd) presetText(profile, name string) error {
	p, err := cli.Profile([]string{profile})
	if err != nil {
		return err
	}
	if p.Presets == nil {
		return fault.Input(fmt.Errorf("profile %s has no presets", p.Name), "")
	}
	if _, err := request.LoadPreset(p.Presets, name); err != nil {
		return err
	}
	all, err := request.Presets(p.Presets)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(i request.Preset) bool { return i.Name == name })
	_, err = a.Stdout.Write(all[max(i, 0)].Data)
	return err
}
