package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/cmd/perfbench/runflags"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/history"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// bench is what the screens see of the rest of the program. It has no state of
// its own but what it was made with.
type bench struct {
	env session.Env
	// out is the folder of run directories, state and presets are the user's own.
	out, state, presets string
	// home is what ~ stands for in a path that is typed; empty when there is none.
	home string
	logs *logRing
	// crew is who does the work of runs; nil: this process.
	crew *runflags.Workers
	// secrets are the passwords of the targets that were used, by target: what is run again
	// from a screen has none.
	secrets sync.Map
	// dirs are the folders of the runs that were done here, by id: they may be elsewhere.
	dirs sync.Map
	// soft ends at the first interrupt, hard at the second.
	soft, hard context.Context
}

func (b *bench) Profiles() []workload.Profile { return b.env.Profiles }

func (b *bench) profile(name string) (workload.Profile, bool) {
	for _, p := range b.env.Profiles {
		if p.Name == name {
			return p, true
		}
	}
	return workload.Profile{}, false
}

// Presets lists the built-in presets, the default first, then the user's own.
func (b *bench) Presets(profile string) []screen.Preset {
	p, ok := b.profile(profile)
	if !ok {
		return nil
	}
	var first, rest []screen.Preset
	if p.Presets != nil {
		list, err := preset.List(p.Presets)
		if err != nil {
			b.env.Log.Warn("The presets could not be listed", "error", err)
		}
		for _, info := range list {
			one := screen.Preset{Name: info.Name, Summary: info.Description}
			if info.Name == cmp.Or(p.LivePreset, p.DefaultPreset) {
				first = append(first, one)
			} else {
				rest = append(rest, one)
			}
		}
	}
	return append(first, rest...)
}

func (b *bench) Stores() []screen.StoreInfo {
	var out []screen.StoreInfo
	for _, d := range drivers.All() {
		out = append(out, screen.StoreInfo{Driver: d.Name, Title: d.Title, Example: d.Example})
	}
	return out
}

// lastFile has what was set last for each profile, in the folder of the user's settings.
const lastFile = "last.json"

func (b *bench) Last() (map[string]request.Request, error) {
	if b.presets == "" {
		return nil, nil
	}
	return request.Last(filepath.Join(filepath.Dir(b.presets), lastFile))
}

func (b *bench) Remember(r request.Request) {
	if b.presets == "" {
		return
	}
	if err := request.Keep(filepath.Join(filepath.Dir(b.presets), lastFile), r); err != nil {
		b.env.Log.Warn("What was set could not be kept for the next time", "error", err)
	}
}

func (b *bench) Recent() []string { return request.Recent(b.state) }

// request fills in what the screens leave to the flags.
func (b *bench) request(r request.Request) request.Request {
	if r.Out == "" {
		r.Out = b.out
	}
	r.Out = b.path(r.Out)
	r.Files = slices.Clone(r.Files)
	for i, path := range r.Files {
		r.Files[i] = b.path(path)
	}
	if r.Password != "" {
		b.secrets.Store(r.Target, r.Password)
	} else if known, ok := b.secrets.Load(r.Target); ok {
		r.Password, _ = known.(string)
	}
	return r
}

// endless is a request for a run that somebody watches: unless it says how long it is, it
// goes on until it is stopped.
func (b *bench) endless(r request.Request) request.Request {
	r = b.request(r)
	r.Endless = true
	return r
}

// path is one that was typed: no shell has replaced its ~.
func (b *bench) path(typed string) string {
	if rest, ok := strings.CutPrefix(typed, "~"); ok && b.home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return filepath.Join(b.home, rest)
	}
	return typed
}

func (b *bench) Preview(r request.Request) (*request.Preview, error) {
	p, err := b.prepare(context.Background(), b.endless(r))
	if err != nil {
		return nil, err
	}
	v := p.Preview()
	return &v, nil
}

// pings is how often the round trip is timed; the shortest counts.
const pings = 5

func (b *bench) Ping(ctx context.Context, target, password string) (screen.Pong, error) {
	conn, err := b.open(ctx, target, password)
	if err != nil {
		return screen.Pong{}, err
	}
	info, err := conn.Info(ctx)
	pong := screen.Pong{Info: info}
	for range pings {
		began := time.Now()
		if keeper, askErr := store.As[store.Keeper](conn); askErr == nil {
			_, askErr = keeper.Inspect(ctx, store.Space{Namespace: "perfbench", Name: "ping", Shape: store.Map})
			err = errors.Join(err, askErr)
		} else {
			_, askErr = conn.Info(ctx)
			err = errors.Join(err, askErr)
		}
		if took := time.Since(began); pong.RoundTrip == 0 || took < pong.RoundTrip {
			pong.RoundTrip = took
		}
	}
	return pong, errors.Join(err, conn.Close())
}

func (b *bench) open(ctx context.Context, target, password string) (store.Conn, error) {
	url := target
	if url == "" {
		url = session.DefaultTarget
	}
	url, err := b.env.Resolve(url)
	if err != nil {
		return nil, err
	}
	t, d, err := drivers.Parse(url)
	if err != nil {
		return nil, err
	}
	switch {
	case password != "":
		t.Password = password
	case t.Password == "":
		t.Password = session.Password(b.env.Environ)
	}
	return d.Open(ctx, t, store.OpenOptions{Threads: 1, Log: b.env.Log})
}

func (b *bench) Start(ctx context.Context, r request.Request) (screen.Run, error) {
	req := b.endless(r)
	req.MaxThreads = workload.MaxThreads
	p, err := b.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	return startBenchRun(ctx, b, p)
}

// prepare gets a single run ready, with the workers that were asked for.
func (b *bench) prepare(ctx context.Context, r session.Request) (*session.Prepared, error) {
	p, err := session.Prepare(ctx, b.env, r)
	if err != nil {
		return nil, err
	}
	return b.crew.Of(p)
}

// History lists the runs of the results folder, newest first.
func (b *bench) History() ([]rundir.Run, error) {
	list, _, err := rundir.List(b.out)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	out := make([]rundir.Run, len(list))
	for i, e := range list {
		out[i] = e.Run
	}
	return out, err
}

func (b *bench) Load(id string) (*rundir.Folder, error) {
	if dir, ok := b.dirs.Load(id); ok {
		path, _ := dir.(string)
		return rundir.Load(path)
	}
	dir, err := rundir.Find(b.out, id)
	if err != nil {
		return nil, err
	}
	return rundir.Load(dir)
}

func (b *bench) Remove(ids []string) error {
	var errs []error
	for _, id := range ids {
		dir, err := rundir.Find(b.out, id)
		if err == nil {
			err = b.remove(dir)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (b *bench) remove(dir string) error {
	f, err := rundir.Load(dir)
	if err != nil {
		return err
	}
	return history.Remove(rundir.Entry{Dir: dir, Run: f.Run}, cli.Formats())
}

func (b *bench) Pack(ids []string) error {
	var errs []error
	for _, id := range ids {
		dir, err := rundir.Find(b.out, id)
		if err == nil {
			var run rundir.Run
			if _, run, err = history.Archive(dir, ""); err == nil {
				err = history.Remove(rundir.Entry{Dir: dir, Run: run}, cli.Formats())
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (b *bench) Annotate(id, note string) error {
	dir, err := rundir.Find(b.out, id)
	if err != nil {
		return err
	}
	return history.Note(dir, note)
}

func (b *bench) Formats(profile string) []rundir.Format {
	var out []rundir.Format
	for _, f := range b.env.Formats {
		if f.Profile == "" || f.Profile == profile {
			out = append(out, f)
		}
	}
	return out
}

func (b *bench) Export(id string, formats []string, dir string) ([]string, error) {
	f, err := b.Load(id)
	if err != nil {
		return nil, err
	}
	picked, err := rundir.Pick(b.env.Formats, formats, f.Run.Profile)
	if err != nil {
		return nil, err
	}
	dir = b.path(dir)
	names, err := report.Write(f, picked, dir)
	if dir == "" {
		dir = f.Dir
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names, err
}

// SavePreset writes a plan file that --preset NAME and the picker find again.
func (b *bench) SavePreset(name string, r request.Request) (string, error) {
	if b.presets == "" {
		return "", fault.Hint(errors.New("there is no home directory for presets"), "set XDG_CONFIG_HOME to an absolute path")
	}
	for _, r := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r) {
			return "", fault.Input(fmt.Errorf("preset: %q may contain only letters, digits, - and _", name), "")
		}
	}
	if name == "" {
		return "", fault.Input(errors.New("a preset needs a name"), "")
	}
	path := filepath.Join(b.presets, r.Profile, name+".yaml")
	if _, err := os.Stat(path); err != nil {
		if slices.ContainsFunc(b.Presets(r.Profile), func(s screen.Preset) bool { return s.Name == name }) {
			return "", fault.Input(fmt.Errorf("preset: %q is built in", name), "choose another name")
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("preset: %w", err)
	}
	data := request.Write(said(r)+", saved from the workbench on "+time.Now().Format("2 January 2006, 15:04")+".",
		&request.File{Runs: []request.Run{{Request: r}}})
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return "", fmt.Errorf("preset: %w", err)
	}
	return path, nil
}

// said names a run in a few words.
func said(r request.Request) string {
	from := r.Preset
	if len(r.Files) > 0 {
		from = filepath.Base(r.Files[0])
	}
	if t, err := store.ParseTarget(r.Target); err == nil {
		return from + " on " + t.Redacted()
	}
	return from
}

func (b *bench) Logs() []string { return b.logs.lines() }
