package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles"
)

// Profiles lists the profiles of this version.
func Profiles() []workload.Profile { return profiles.All() }

// Formats lists the formats of this version: those of every profile, then the
// documents of single ones.
func Formats() []rundir.Format {
	return report.All(append(profiles.Formats(), report.AnswersFormat)...)
}

// Profile finds the profile that the first argument names. Its errors are of input.
func Profile(args []string) (workload.Profile, error) {
	var names []string
	for _, p := range Profiles() {
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
	return workload.Profile{}, fault.Input(fmt.Errorf("unknown profile %q", args[0]), fault.Suggest(args[0], names, fault.SeeProfiles))
}

// CompleteProfiles offers the names of profiles for a first argument.
func CompleteProfiles(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	if len(args) == 0 {
		for _, p := range Profiles() {
			if p.Design != nil {
				out = append(out, p.Name+"\t"+p.Summary)
			}
		}
	}
	return out, NoFiles
}

// ReaderOf returns the profile for which a file was written, out of those that read it: the
// only one, or the one that the file is named after. It returns "" if it cannot tell.
func ReaderOf(file string, names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	for _, n := range names {
		if strings.HasPrefix(filepath.Base(file), n) {
			return n
		}
	}
	return ""
}

// CompletePresets offers a profile for a first argument, and its presets for a second.
func CompletePresets(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return PresetNames(args[0]), NoFiles
	}
	return CompleteProfiles(c, args, typed)
}

// CompleteFormats offers the names of formats for a first argument.
func CompleteFormats(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, NoFiles
	}
	return FormatNames(), NoFiles
}

// FormatNames lists the ids of all formats; those of several profiles may share one.
func FormatNames() []string {
	var out []string
	for _, f := range Formats() {
		out = append(out, f.ID)
	}
	return out
}

// PresetNames lists the presets of a profile for a shell: name, tab, description.
func PresetNames(profile string) []string {
	p, err := Profile([]string{profile})
	if err != nil || p.Presets == nil {
		return nil
	}
	all, err := request.Presets(p.Presets)
	if err != nil {
		return nil
	}
	var out []string
	for _, i := range all {
		out = append(out, i.Name+"\t"+i.Description)
	}
	return out
}

// StoreNames lists the kinds of store.
func StoreNames() []string {
	var names []string
	for _, d := range drivers.All() {
		names = append(names, d.Name)
	}
	return names
}

// CompleteStores offers the kinds of store for a first argument.
func CompleteStores(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, NoFiles
	}
	return StoreNames(), NoFiles
}

// DefaultFormats lists the ids of what a run of a profile writes by itself.
func DefaultFormats(profile string) []string {
	ids := []string{"json", "csv", "hlog"}
	for _, p := range Profiles() {
		if p.Name == profile && len(p.Formats) > 0 {
			ids = append(ids, p.Formats[0])
		}
	}
	return ids
}

// Runs offers the runs in a folder, as commands take them.
func Runs(dir string) []string {
	out := []string{"latest"}
	list, _, err := rundir.List(dir)
	if err != nil {
		return out
	}
	for _, e := range list {
		out = append(out, rundir.Base(e.Dir))
	}
	return out
}

// DefaultPlan is the plan that a profile makes without flags on the first store
// that it runs on, nil when there is none.
func DefaultPlan(p workload.Profile) *workload.Plan {
	prepared, err := session.Prepare(context.Background(), session.Env{
		Profiles: []workload.Profile{p}, Formats: Formats(), Drivers: drivers.All(),
	}, session.Request{Profile: p.Name})
	if err != nil {
		return nil
	}
	return prepared.Plan
}

// knobNames returns what --set can change in a profile, as list knobs names it with --all;
// nil when there is no such profile.
func knobNames(profile string) []string {
	p, err := Profile([]string{profile})
	if err != nil {
		return nil
	}
	var names []string
	if plan := DefaultPlan(p); plan != nil {
		for _, k := range plan.Knobs {
			names = append(names, k.Name)
		}
	}
	for _, q := range slices.Concat(p.Params, request.RunParams()) {
		names = append(names, q.Name)
	}
	return names
}
