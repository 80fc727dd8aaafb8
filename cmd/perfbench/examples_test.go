package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/profiles"
)

const examples = "../../docs/examples"

// matching returns the files that a pattern below the examples has.
func matching(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(examples, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	return files
}

// doing carries out a command line, wants it to succeed, and returns what it printed.
func doing(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	code := run(t.Context(), cli.Env{Args: args, Environ: environ, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
	require.Equal(t, 0, code, "%s\n%s\n%s", strings.Join(args, " "), stdout.String(), stderr.String())
	return stdout.String()
}

// pairs returns which profile a plan has in which mode: "tx saga".
func pairs(t *testing.T, file string) []string {
	t.Helper()
	var all []string
	planned := doing(t, nil, "run", file, "--dry-run")
	for _, m := range regexp.MustCompile(`(?m)^  profile +(\S+) .*\n(?:  target .*\n)?(?:  mode +(\S+))?`).FindAllStringSubmatch(planned, -1) {
		all = append(all, strings.TrimSpace(m[1]+" "+m[2]))
	}
	return all
}

// There is a plan for every profile and mode, and each runs as it is, but shorter.
func TestExamplesOfProfiles(t *testing.T) {
	tier.Slow(t, tier.Computes)
	t.Parallel()
	var have, want []string
	fewer := map[string][]string{"baseline.yaml": {"--set", "requests=500"}} // it counts in rows, and not in operations
	for _, file := range matching(t, "profiles/*.yaml") {
		have = append(have, pairs(t, file)...)
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			args := []string{"run", file, "--count", "100", "--duration", "2s", "--warmup", "0s", "--threshold", "errors<1%", "--out", out, "--quiet"}
			doing(t, nil, append(args, fewer[filepath.Base(file)]...)...)
			runs, err := filepath.Glob(filepath.Join(out, "*", "run.json"))
			require.NoError(t, err)
			assert.Len(t, runs, 1)
		})
	}
	for _, p := range profiles.All() {
		for _, mode := range append(p.Modes, "")[:max(1, len(p.Modes))] {
			want = append(want, strings.TrimSpace(p.Name+" "+mode))
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	assert.Equal(t, want, slices.Compact(have))
}

// There is a suite for every store that is a server or a file, with every profile that
// runs there.
func TestExamplesOfStores(t *testing.T) {
	t.Parallel()
	for _, d := range drivers.All() {
		if slices.Contains([]string{"embedded", "memory", "null"}, d.Name) {
			continue
		}
		have := " " + strings.Join(pairs(t, filepath.Join(examples, "stores", d.Name+".yaml")), " ") + " "
		for _, p := range profiles.All() {
			b, _ := p.Binding(d.Name)
			assert.Equal(t, b.Refuse == "", strings.Contains(have, " "+p.Name+" "), "%s on %s; the suite has%s", p.Name, d.Name, have)
		}
	}
}

// The suites for Redis and SQLite run as they are, but shorter. Those for other stores are
// planned only: their runs are those of the tests of each profile on that store.
func TestExamplesOfStoresRun(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestExamplesOfStores, and the runs of each profile on each store")
	for name, kind := range map[string]string{"redis": "redis", "sqlite": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := "sqlite:" + filepath.Join(t.TempDir(), "examples.db")
			if kind != "" {
				target = grounds[kind](t).target()
			}
			file, out := filepath.Join(examples, "stores", name+".yaml"), t.TempDir()
			doing(t, nil, "run", file, "--target", target, "--count", "100", "--duration", "2s", "--warmup", "0s", "--out", out, "--quiet")
			runs, err := filepath.Glob(filepath.Join(out, "*", "run.json"))
			require.NoError(t, err)
			assert.GreaterOrEqual(t, len(runs), len(pairs(t, file)))
		})
	}
}

// The commands of compose files are ones, and its services are there.
func TestExamplesOfCompose(t *testing.T) {
	t.Parallel()
	for _, file := range matching(t, "*/compose.yaml") {
		var compose struct {
			Services map[string]struct {
				Image   string
				Command []string
				Depends map[string]any `yaml:"depends_on"`
				Volumes []string
			}
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(data, &compose))
		ours := compose.Services["perfbench"]
		doing(t, nil, append(withSecrets(t, ours.Command), "--dry-run")...)
		assert.Contains(t, strings.Join(ours.Command, " "), "redis://redis:6379")
		assert.Contains(t, compose.Services, "redis")
		assert.Contains(t, ours.Depends, "redis")
		for name, s := range compose.Services {
			assert.NotEmpty(t, s.Image, name)
			for _, v := range s.Volumes {
				if from, _, _ := strings.Cut(v, ":"); strings.HasPrefix(from, ".") {
					assert.FileExists(t, filepath.Join(filepath.Dir(file), from))
				}
			}
		}
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		said, err := exec.CommandContext(t.Context(), promtool, "check", "config", filepath.Join(examples, "grafana/prometheus.yml")).CombinedOutput()
		assert.NoError(t, err, string(said))
	}
}

// mounts are where secrets are in the compose file, and in the pods of Kubernetes.
var mounts = []string{"/run/secrets/", podSecrets + "/"}

const podSecrets = "/etc/perfbench"

// withSecrets is a command whose secrets are there: a token, a certificate and its key.
func withSecrets(t *testing.T, args []string) []string {
	t.Helper()
	return secrets(t).in(args)
}

// secretDir is a folder with secrets.
type secretDir string

// in is a command whose secrets are in the folder.
func (dir secretDir) in(args []string) (out []string) {
	for _, a := range args {
		for _, m := range mounts {
			a = strings.ReplaceAll(a, m, string(dir)+"/")
		}
		out = append(out, a)
	}
	return out
}

// secrets makes a folder with secrets.
func secrets(t *testing.T) secretDir {
	t.Helper()
	dir, made := t.TempDir(), labtest.Certificates(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(strings.Repeat("0123", 8)), 0o600))
	require.NoError(t, os.Symlink(made.Cert, filepath.Join(dir, "tls.crt")))
	require.NoError(t, os.Symlink(made.Key, filepath.Join(dir, "tls.key")))
	return secretDir(dir)
}

// object is what of Kubernetes the example has.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Completions, Parallelism int
		Selector                 map[string]string
		Template                 struct {
			Metadata struct{ Labels map[string]string }
			Spec     pod
		}
	}
}

// pod is that of a job.
type pod struct {
	Token      *bool `yaml:"automountServiceAccountToken"`
	Containers []struct {
		Args []string
		Env  []struct {
			Name string
			From struct {
				Key struct {
					Name, Key string
					Optional  bool
				} `yaml:"secretKeyRef"`
			} `yaml:"valueFrom"`
		}
		Mounts []struct {
			Name string
			Path string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name   string
		Secret struct {
			Name  string `yaml:"secretName"`
			Items []struct{ Key, Path string }
		}
	}
}

// inKubernetes reads the example.
func inKubernetes(t *testing.T) (text string, coordinator, workers object, service map[string]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(examples, "workers/kubernetes.yaml"))
	require.NoError(t, err)
	all := map[string]object{}
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var o object
		err := dec.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		all[o.Kind+" "+o.Metadata.Name] = o
	}
	require.Contains(t, all, "Service perfbench", "workers join it by that name")
	return string(data), all["Job perfbench"], all["Job perfbench-workers"], all["Service perfbench"].Spec.Selector
}

// The jobs of the example of Kubernetes are a run and its workers, as many as it waits for.
// Each pod has the password where the file says, and each file that its command names: in a
// secret that is mounted where Kubernetes mounts nothing itself. Who may not be taken for the
// coordinator does not have its key.
func TestExampleOfKubernetes(t *testing.T) {
	t.Parallel()
	text, coordinator, workers, selector := inKubernetes(t)
	assert.Equal(t, selector, coordinator.Spec.Template.Metadata.Labels, "the service is the coordinator")
	run := coordinator.Spec.Template.Spec.Containers[0].Args
	doing(t, nil, append(withSecrets(t, run), "--dry-run")...)
	assert.Contains(t, strings.Join(run, " "), fmt.Sprintf("--workers %d ", workers.Spec.Completions))
	assert.Equal(t, workers.Spec.Completions, workers.Spec.Parallelism)

	inSecret := regexp.MustCompile(`--from-(?:file|literal)=([\w.]+)`).FindAllStringSubmatch(text, -1)
	for name, job := range map[string]object{"coordinator": coordinator, "worker": workers} {
		p := job.Spec.Template.Spec
		c := p.Containers[0]
		require.Len(t, c.Env, 1, name)
		assert.Equal(t, request.EnvPrefix+"TARGET_PASSWORD", c.Env[0].Name, name)
		from := c.Env[0].From.Key
		assert.Equal(t, [2]string{"perfbench", c.Env[0].Name}, [2]string{from.Name, from.Key}, name)
		assert.True(t, from.Optional, "%s: not every target has a password", name)
		if assert.NotNil(t, p.Token, name) {
			assert.False(t, *p.Token, "%s: Kubernetes would mount it below /run", name)
		}
		require.Equal(t, "secret", c.Mounts[0].Name, name)
		assert.Equal(t, podSecrets, c.Mounts[0].Path, name)
		require.Equal(t, "secret", p.Volumes[0].Name, name)
		assert.Equal(t, "perfbench", p.Volumes[0].Secret.Name, name)
		var there []string
		for _, item := range p.Volumes[0].Secret.Items {
			assert.Equal(t, item.Key, item.Path, name)
			there = append(there, item.Path)
		}
		for _, made := range inSecret {
			if len(p.Volumes[0].Secret.Items) == 0 && made[1] != c.Env[0].Name {
				there = append(there, made[1])
			}
		}
		for _, a := range c.Args {
			if file, ok := strings.CutPrefix(a, podSecrets+"/"); ok {
				assert.Contains(t, there, file, name)
			}
		}
		assert.Equal(t, name == "coordinator", slices.Contains(there, "tls.key"), name)
	}
}

// What the pods of the example do, done by processes of this machine: workers that are there
// before the coordinator, whose name has no address yet, and a store with a password.
func TestExampleOfKubernetesStarts(t *testing.T) {
	tier.Full(t, "the tests of workers; the example is read in the first tier")
	t.Parallel()
	_, coordinator, workers, _ := inKubernetes(t)
	path, srv, dir := binary(t), labtest.Redis(t, "--requirepass", "sesame42"), t.TempDir()
	at := labtest.Nobody(t)
	here, mounted := strings.NewReplacer("perfbench:4222", at, "0.0.0.0:4222", at, "redis://redis:6379", "redis://"+srv.Addr(), "60s", "1s"), secrets(t)
	pods := [][]string{coordinator.Spec.Template.Spec.Containers[0].Args}
	for range workers.Spec.Completions {
		pods = append([][]string{workers.Spec.Template.Spec.Containers[0].Args}, pods...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for _, args := range pods {
		var ours []string
		for _, a := range mounted.in(args) {
			ours = append(ours, here.Replace(a))
		}
		var said bytes.Buffer
		c := exec.CommandContext(ctx, path, ours...)
		c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), request.EnvPrefix + "TARGET_PASSWORD=sesame42"}
		c.Stdout, c.Stderr = &said, &said
		require.NoError(t, c.Start())
		all.Go(func() {
			if !assert.NoError(t, c.Wait(), "%s", &said) {
				cancel() // the others would wait for it
			}
		})
	}
	all.Wait()
	runs, err := filepath.Glob(filepath.Join(dir, "results", "*", "run.json"))
	require.NoError(t, err)
	assert.Len(t, runs, 1)
}

// The plan of the gate of our own and that of the example are ones.
func TestThePlansOfTheGate(t *testing.T) {
	for _, path := range []string{"../../.ci/gate.yaml", filepath.Join(examples, "merge-gate/gate.yaml")} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		environ := []string{"STORE=memory:", "RESULTS=x"}
		file, err := request.Read("gate.yaml", data, environ)
		require.NoError(t, err)
		for _, r := range file.Runs {
			assert.Equal(t, r.Name, filepath.Base(r.Request.Out), "its folder has its name")
			assert.NotEmpty(t, r.Repeat.Times)
		}
		doing(t, environ, "run", path, "--dry-run")
	}
}

// The plans of failovers can be planned: those of the lab's servers and of clusters of users.
func TestExamplesOfFailovers(t *testing.T) {
	t.Parallel()
	for _, file := range matching(t, "merge-gate/failover*.yaml") {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		args := []string{"run", file, "--allow-exec", "--dry-run"}
		if bytes.Contains(data, []byte("target: lab:")) {
			args = append(args, "--target", "memory:", "--at", "20s..30s:fault=pause") // no server of the lab runs
		}
		planned := doing(t, nil, args...)
		assert.Contains(t, planned, ": a fault, ", file)
		assert.Contains(t, planned, "lost=0", file)
		assert.Contains(t, planned, "recovery<", file)
	}
}
