package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
)

// complete offers what is known for the flags of run and tui.
func complete(a *Call, c *cobra.Command) {
	register := func(flag string, f cobra.CompletionFunc) { _ = c.RegisterFlagCompletionFunc(flag, f) } // the flag exists
	register("profile", CompleteProfiles)
	register("preset", func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return PresetNames(profileOf(c, args)), NoFiles
	})
	register("format", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		names := FormatNames()
		for i := range names {
			names[i] = before + names[i]
		}
		return names, NoFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("target", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return Targets(a, typed), NoFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("set", CompleteSet)
	register("at", completeAt)
	register("theme", cobra.FixedCompletions(Themes(), NoFiles))
}

func completeRepeat(a *Call, c *cobra.Command) {
	register := func(flag string, f cobra.CompletionFunc) { _ = c.RegisterFlagCompletionFunc(flag, f) } // the flag exists
	register("against", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return Targets(a, typed), NoFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("against-set", CompleteSet)
	register("unsure", cobra.FixedCompletions(compare.Policies, NoFiles))
}

// CompleteSet offers the settings and parameters of the profile that was named.
func CompleteSet(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := knobNames(profileOf(c, args))
	for i := range names {
		names[i] += "="
	}
	return names, NoFiles | cobra.ShellCompDirectiveNoSpace
}

// completeAt offers times of a timetable and, after a time, what can be changed then: knobs and, for a
// span, faults.
func completeAt(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	when, _, ok := strings.Cut(typed, ":")
	if !ok {
		return []string{
			cobra.CompletionWithDesc("10s:", "a change after ten seconds of measurement"), cobra.CompletionWithDesc("30s:", "a later one"),
			cobra.CompletionWithDesc("10s..40s:", "a ramp, or a fault that ends"),
		}, NoFiles | cobra.ShellCompDirectiveNoSpace
	}
	var out []string
	if p, err := Profile([]string{profileOf(c, args)}); err == nil {
		if plan := DefaultPlan(p); plan != nil {
			for _, k := range plan.Knobs {
				out = append(out, cobra.CompletionWithDesc(when+":"+k.Name+"=", k.Help))
			}
		}
	}
	for _, k := range workload.FaultKinds() {
		for _, text := range k.Examples {
			out = append(out, cobra.CompletionWithDesc(when+":fault="+text, k.Help))
		}
	}
	return out, NoFiles | cobra.ShellCompDirectiveNoSpace
}

// profileOf is the profile that was named, by its flag or without.
func profileOf(c *cobra.Command, args []string) string {
	if name := c.Flag("profile").Value.String(); name != "" || len(args) == 0 {
		return name
	}
	return args[0]
}

// offered is how many recent targets are offered: older ones are often gone.
const offered = 5

// Targets offers the newest targets, servers of the lab that run, and an example of each kind; where
// lab is typed, all servers of the lab.
func Targets(a *Call, typed string) []string {
	var out []string
	if dir, err := a.StateDir(); err == nil {
		out = request.Recent(dir)
		out = out[:min(len(out), offered)]
	}
	add := func(targets ...string) {
		for _, t := range targets {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	running, all := a.Labs()
	add(running...)
	for _, d := range drivers.All() {
		add(d.Example)
	}
	if strings.HasPrefix(typed, "lab") {
		add(all...)
	}
	return out
}
