package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
)

// Session is what a session takes from here.
func (a *Call) Session() session.Env {
	return session.Env{
		Profiles: withOwnPresets(Profiles(), a.PresetDir()), Formats: Formats(), Drivers: drivers.All(), Environ: a.Environ,
		Version: Of().Version, Log: a.Log, Resolve: a.Resolve, Agent: a.agentOf, OutOfHeap: a.outOfHeap, Servers: a.servers, CacheDir: a.cacheDir(), Outlet: a.Outlet, AllowExec: a.AllowExec, Beside: true, Owe: a.owe,
	}
}

// Resolve turns lab: targets into URLs.
func (a *Call) Resolve(target string) (string, error) {
	if target == strings.TrimSuffix(lab.Scheme, ":") {
		target = lab.Scheme
	}
	if !strings.HasPrefix(target, lab.Scheme) {
		return target, nil
	}
	dir, err := a.LabDir()
	if err != nil {
		return "", err
	}
	return lab.Resolve(dir, target)
}

// Labs are the targets of the servers of the lab that run, and of all that it can start.
func (a *Call) Labs() (running, all []string) {
	dir, err := a.LabDir()
	if err != nil {
		return nil, nil
	}
	return lab.Targets(dir)
}

// agentOf is where the JVM of a server of the lab tells what it measures, or "".
func (a *Call) agentOf(target string) string {
	dir, err := a.LabDir()
	if err != nil {
		return ""
	}
	return lab.Agent(dir, target)
}

// owe notes what a command of a fault breaks.
func (a *Call) owe(broke, heal []string) (settled func(), err error) {
	dir, err := a.LabDir()
	if err != nil {
		return nil, err
	}
	return lab.Owe(dir, broke, heal)
}

// outOfHeap is what a server of the lab wrote when it ended for want of heap.
func (a *Call) outOfHeap(target string) string {
	dir, err := a.LabDir()
	if err != nil {
		return ""
	}
	return lab.OutOfHeap(dir, target)
}

// AskPassword asks for the target's password on a terminal, once for each, until ctx ends.
func (a *Call) AskPassword(ctx context.Context, target string) (string, error) {
	if secret, ok := a.typed[target]; ok {
		return secret, nil
	}
	if a.ReadSecret == nil || !a.StdinTerminal || !a.StderrTerminal {
		return "", nil
	}
	secret, err := a.ReadSecret(ctx, "password for "+target+": ")
	if err != nil {
		return "", fault.Input(errors.New("no password was typed"), "give it with --password-file or "+request.EnvPrefix+"TARGET_PASSWORD")
	}
	if a.typed == nil {
		a.typed = map[string]string{}
	}
	a.typed[target] = secret
	return secret, nil
}

// withOwnPresets shows the user's presets beside the built-in ones.
func withOwnPresets(profiles []workload.Profile, dir string) []workload.Profile {
	for i, p := range profiles {
		if dir != "" && p.Design != nil {
			profiles[i].Presets = request.Overlay(p.Presets, infile.Dir(filepath.Join(dir, p.Name)))
		}
	}
	return profiles
}

// FromEnvironment sets a flag that was not given from its variable. Where a flag
// repeats, a semicolon parts the values.
func (a *Call) FromEnvironment(c *cobra.Command, name string, from map[string]string) error {
	flag := c.Flags().Lookup(name)
	variable := request.EnvPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	text, ok := a.Getenv(variable)
	if flag == nil || flag.Changed || !ok || text == "" {
		return nil
	}
	from[name] = "environment " + variable
	list := []string{text}
	switch flag.Value.Type() {
	case "stringArray":
		list = strings.Split(text, ";")
	case "bool":
		on, err := workload.Value{Name: name, Text: text, Origin: workload.OriginEnvironment, Where: variable}.Bool()
		if err != nil {
			return err
		}
		list[0] = fmt.Sprint(on)
	}
	for _, one := range list {
		if err := flag.Value.Set(one); err != nil {
			return fault.Input(fmt.Errorf("%s: %w", variable, err), "")
		}
	}
	return nil
}

// servers returns the servers at a resolved target that this machine's lab has started, or nil.
func (a *Call) servers(target string) session.Servers {
	dir, err := a.LabDir()
	if err != nil {
		return nil
	}
	if s := lab.ServersAt(dir, target); s != nil {
		return s
	}
	return nil
}
