package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/testing/labtest"
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
	t.Parallel()
	var have, want []string
	for _, file := range matching(t, "profiles/*.yaml") {
		have = append(have, pairs(t, file)...)
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			doing(t, nil, "run", file, "--count", "100", "--duration", "2s", "--warmup", "0s", "--threshold", "errors<1%", "--out", out, "--quiet")
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

// Each suite runs as it is on its store, but shorter. Those for dtm are planned only: the
// tests of sagas have its servers.
func TestExamplesOfStoresRun(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{"redis": "redis", "cassandra": "cassandra", "coherence": "coherence", "mysql": "mariadb", "postgres": "postgres", "sqlite": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "redis" && name != "sqlite" {
				labtest.Full(t, "the suites for Redis and SQLite, TestExamplesOfStores, and the runs of each profile on "+name)
			}
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

// withSecrets is a command whose secrets are there: a token, a certificate and its key.
func withSecrets(t *testing.T, args []string) []string {
	t.Helper()
	const mount = "/run/secrets/"
	if !strings.Contains(strings.Join(args, " "), mount) {
		return args
	}
	dir, made := t.TempDir(), labtest.Certificates(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(strings.Repeat("0123", 8)), 0o600))
	require.NoError(t, os.Symlink(made.Cert, filepath.Join(dir, "tls.crt")))
	require.NoError(t, os.Symlink(made.Key, filepath.Join(dir, "tls.key")))
	var out []string
	for _, a := range args {
		out = append(out, strings.ReplaceAll(a, mount, dir+"/"))
	}
	return out
}

// The jobs of the example of Kubernetes are a run and its workers, as many as it waits for;
// those that join give up at once here, as nobody listens.
func TestExampleOfKubernetes(t *testing.T) {
	t.Parallel()
	file, err := os.Open(filepath.Join(examples, "workers/kubernetes.yaml"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	type object struct {
		Kind     string
		Metadata struct{ Name string }
		Spec     struct {
			Completions, Parallelism int
			Template                 struct {
				Spec struct {
					Containers []struct{ Args []string }
				}
			}
		}
	}
	jobs := map[string]object{}
	for dec := yaml.NewDecoder(file); ; {
		var o object
		if dec.Decode(&o) != nil {
			break
		}
		jobs[o.Kind+" "+o.Metadata.Name] = o
	}
	require.Contains(t, jobs, "Service perfbench", "workers join it by that name")
	coordinator, workers := jobs["Job perfbench"].Spec, jobs["Job perfbench-workers"].Spec
	run := coordinator.Template.Spec.Containers[0].Args
	doing(t, nil, append(withSecrets(t, run), "--dry-run")...)
	assert.Contains(t, strings.Join(run, " "), fmt.Sprintf("--workers %d ", workers.Completions))
	assert.Equal(t, workers.Completions, workers.Parallelism)
	join := withSecrets(t, workers.Template.Spec.Containers[0].Args)
	join[slices.Index(join, "--wait")+1] = "1ms"
	join[1] = strings.Replace(join[1], "perfbench:4222", "127.0.0.1:1", 1)
	code, _, stderr := terminal(t, "", "", join...)
	assert.Equal(t, 3, code, stderr)
	assert.Contains(t, stderr, "no servers available")
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
