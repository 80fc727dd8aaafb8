package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/session/given"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
)

// listing is what a list command shows: a table for people, a value for --json.
type listing struct {
	head []string
	rows [][]string
	data any
}

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List profiles, stores, formats, presets and knobs",
		Args: noSuchCommand,
	}
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "write JSON")
	show := func(l listing, err error) error {
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(a.Stdout, l.data)
		}
		columns(a.Stdout, a.StdoutWidth, append([][]string{l.head}, l.rows...))
		return nil
	}
	c.RunE = func(*cobra.Command, []string) error { return show(listProfiles(), nil) }
	add := func(use, short string, most int, f func(args []string) error) *cobra.Command {
		s := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > most {
				return fault.Input(fmt.Errorf("%s: unexpected argument %q", name(cmd), args[most]), "")
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
	stores.ValidArgsFunction = completeStores
	formats := add("formats [NAME]", "The documents of a run; with NAME the documentation of one", 1, func(args []string) error {
		if len(args) == 1 {
			return a.formatDoc(args[0])
		}
		return show(listFormats(), nil)
	})
	formats.ValidArgsFunction = completeFormats
	presets := add("presets P [NAME]", "The presets of a profile; with NAME the YAML of one", 2, func(args []string) error {
		if len(args) == 2 {
			return a.presetText(args[0], args[1])
		}
		return show(listPresets(args))
	})
	presets.ValidArgsFunction = completeProfilePresets
	knobs := add("knobs P", "What --set and --at can change in a profile", 1, func(args []string) error { return show(listKnobs(args)) })
	knobs.ValidArgsFunction = completeProfiles
	return c
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// profileNamed finds the profile that a list command was asked for.
func profileNamed(args []string) (workload.Profile, error) {
	var names []string
	for _, p := range allProfiles() {
		switch {
		case len(args) > 0 && p.Name == args[0] && p.Design == nil:
			return p, fault.Input(fmt.Errorf("profile %s is not built yet", p.Name), "")
		case len(args) > 0 && p.Name == args[0]:
			return p, nil
		case p.Design != nil:
			names = append(names, p.Name)
		}
	}
	if len(args) == 0 {
		return workload.Profile{}, fault.Input(fmt.Errorf("no profile was named"), "one of: "+strings.Join(names, ", "))
	}
	return workload.Profile{}, fault.Input(fmt.Errorf("unknown profile %q", args[0]), suggest.Hint(args[0], names))
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
	for _, p := range allProfiles() {
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
	for _, f := range allFormats() {
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
func (a *app) formatDoc(id string) error {
	fs, err := given.FindFormats(allFormats(), []string{id}, "")
	if err != nil {
		return err
	}
	for i, f := range allFormats() { // those of several profiles may share an id
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
	p, err := profileNamed(args)
	if err != nil {
		return listing{}, err
	}
	l := listing{head: []string{"PRESET", "", "WHAT IT IS"}}
	data := []entry{}
	if p.Presets == nil {
		return listing{head: l.head, data: data}, nil
	}
	all, err := preset.List(p.Presets)
	if err != nil {
		return listing{}, err
	}
	for _, i := range all {
		mark := ""
		if i.Name == p.DefaultPreset {
			mark = "default"
		}
		values, err := preset.Load(p.Presets, i.Name)
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
	l.data = data
	return l, nil
}

// presetText prints the YAML of a preset.
func (a *app) presetText(profile, name string) error {
	p, err := profileNamed([]string{profile})
	if err != nil {
		return err
	}
	if p.Presets == nil {
		return fault.Input(fmt.Errorf("profile %s has no presets", p.Name), "")
	}
	if _, err := preset.Load(p.Presets, name); err != nil {
		return err
	}
	all, err := preset.List(p.Presets)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(i preset.Info) bool { return i.Name == name })
	_, err = a.Stdout.Write(all[max(i, 0)].Data)
	return err
}
