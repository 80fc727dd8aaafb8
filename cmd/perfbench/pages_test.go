package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

// pages are README and everything under docs, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/*/*.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range files {
			data, err := os.ReadFile(f)
			require.NoError(t, err)
			out[strings.TrimPrefix(filepath.ToSlash(f), "../../")] = string(data)
		}
	}
	require.Greater(t, len(out), 20)
	return out
}

var (
	block = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```")
	// remark is what stands behind a command to explain it.
	remark = regexp.MustCompile(`(   +| +#).*$`)
	// beyond is what a shell would do with its output.
	beyond = regexp.MustCompile(` +[>|] .*$`)
	word   = regexp.MustCompile(`'[^']*'|\S+`)
	// bare is a word that a shell would not leave as it is.
	bare = regexp.MustCompile(`^[^']*[?&;]`)
	// synopsis is a word that stands for others.
	synopsis = regexp.MustCompile(`^[A-Z]{2,}|^\[|\w\|\w|…$|=LIST$`)
)

// written are the command lines of a page, without perfbench itself, as words with their
// quotes.
func written(page string) [][]string {
	var out [][]string
	for _, b := range block.FindAllStringSubmatch(page, -1) {
		for line := range strings.SplitSeq(strings.ReplaceAll(b[2], "\\\n", ""), "\n") {
			line = regexp.MustCompile(` {2,}--`).ReplaceAllString(line, " --") // of a line that went on
			line = beyond.ReplaceAllString(remark.ReplaceAllString(line, ""), "")
			args, ok := strings.CutPrefix(line, "perfbench ")
			if !ok {
				continue
			}
			words := word.FindAllString(args, -1)
			if !slices.ContainsFunc(words, synopsis.MatchString) {
				out = append(out, words)
			}
		}
	}
	return out
}

// elsewhere are servers of the lab as they would be without it.
var elsewhere = strings.NewReplacer("lab:redis", "redis://localhost", "lab:postgres", "postgres://pb@localhost/test", "lab:mariadb", "mysql://root@localhost/test",
	"lab:cassandra", "cassandra://localhost/test", "lab:coherence", "coherence://localhost", "lab:rabbitmq", "amqp://localhost")

// ofServers matches faults, and settings to be swept over, that only servers of the lab can have, or that are commands, which must
// be there for it.
var ofServers = regexp.MustCompile(`fault=(via\.)?(kill|pause|power-cut|exec):|^(via\.)?(kill|power-cut)(:\w+)?$|^(appendfsync|synchronous_commit|sync_binlog|innodb_flush_log_at_trx_commit)=`)

// samples are the files that the pages name.
func samples(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	gates := block.FindAllStringSubmatch(all["docs/tutorials/merge-gate.md"], -1)
	gate := slices.IndexFunc(gates, func(b []string) bool { return b[1] == "yaml" })
	require.GreaterOrEqual(t, gate, 0)
	for name, text := range map[string]string{
		"gate.yaml": gates[gate][2], "plan.yaml": "profile: ingestion\n", "ingestion.properties": "eligibility.totalEntryCount=50\n", "tx.properties": "eligibility.totalEntryCount=50\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../profiles/mix/foreign/testdata"))) // files of other tools
	return dir
}

// Every command of the pages is one: runs are prepared as far as they can be without a
// server, and of the others the flags and arguments are read.
func TestTheCommandsOfThePages(t *testing.T) {
	all := pages(t)
	t.Chdir(samples(t, all))
	prepared := 0
	for name, page := range all {
		for _, args := range written(page) {
			line := name + ": perfbench " + strings.Join(args, " ")
			for i, w := range args {
				assert.NotRegexp(t, bare, w, "%s: %s wants quotes", line, w)
				args[i] = strings.ReplaceAll(w, "'", "")
			}
			switch {
			case slices.Contains([]string{"run", "find", "sweep", "tui"}, args[0]) && filesAreThere(args) && !slices.Contains(args, "--watch") && !slices.ContainsFunc(args, ofServers.MatchString):
				code, stderr := dryRun(args)
				assert.Zero(t, code, "%s\n%s", line, stderr)
				prepared++
			default:
				assert.NoError(t, understood(t.Context(), args), line)
			}
		}
	}
	assert.Greater(t, prepared, 50, "the commands of the pages are no longer found")
}

// Each benchmark that a page has run by go test, or names with its package, is there.
func TestTheBenchmarksOfThePages(t *testing.T) {
	found := 0
	for name, page := range pages(t) {
		for _, m := range ofBenchmarks.FindAllStringSubmatch(page, -1) {
			files, err := filepath.Glob(filepath.Join("..", "..", m[1]+m[3], "*_test.go"))
			require.NoError(t, err)
			var all []byte
			for _, f := range files {
				text, err := os.ReadFile(f)
				require.NoError(t, err)
				all = append(all, text...)
			}
			called, _, _ := strings.Cut(m[2]+m[4], "/")
			for one := range strings.SplitSeq(called, "|") {
				want := regexp.MustCompile(`func Benchmark\w*` + strings.TrimPrefix(one, "Benchmark") + `\w*\(`)
				assert.True(t, want.Match(all), "%s: %s", name, m[0])
				found++
			}
		}
	}
	assert.Greater(t, found, 15, "the benchmarks of the pages are no longer found")
}

var ofBenchmarks = regexp.MustCompile("go test \\./([\\w/]+)\\s+-run '\\^\\$'\\s+-bench '?([\\w|/]+)" + "|`((?:internal|profiles)/[\\w/]+)`: `(\\w+)`")

// filesAreThere says whether every file that a command names is a sample.
func filesAreThere(args []string) bool {
	for i, a := range args {
		named := i > 0 && slices.Contains([]string{"--file", "--facts", "--password-file"}, args[i-1]) || strings.HasSuffix(a, ".yaml")
		if _, err := os.Stat(a); named && err != nil {
			return false
		}
	}
	return true
}

// dryRun prepares what a command line asks for.
func dryRun(args []string) (code int, stderr string) {
	var err bytes.Buffer
	args = slices.Clone(args)
	for i := range args {
		args[i] = elsewhere.Replace(args[i])
	}
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--json" }) // a dry run has no figures
	code = run(context.Background(), cli.Env{
		Args: append(args, "--dry-run"), Environ: []string{"REDIS_URL=redis://localhost", "REDIS_HOST=localhost", "REDIS_PASSWORD=x", "RESULTS=results"},
		Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &err,
	})
	return code, err.String()
}

// understood says what is wrong with the flags or arguments of a command line.
func understood(ctx context.Context, args []string) error {
	root := root(&cli.Call{})
	c, rest, err := root.Find(cli.Shield(root.Command, args))
	if err != nil {
		return err
	}
	c.SetContext(ctx)
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

// Each page is reached from the README, and names no page, no heading and no picture that is
// not there.
func TestPagesAreLinked(t *testing.T) {
	all := pages(t)
	link := regexp.MustCompile(`\]\(([^)#:]+\.md)(#[^)]*)?\)`)
	other := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	within := regexp.MustCompile(`\]\((?:([^)#:]+\.md))?#([^)]+)\)`)
	for name, page := range all {
		page = block.ReplaceAllString(page, "")
		for _, m := range other.FindAllStringSubmatch(page, -1) {
			_, err := os.Stat(filepath.Join("../..", filepath.Dir(name), m[1]))
			assert.NoError(t, err, "%s links to it", name)
		}
		for _, m := range within.FindAllStringSubmatch(page, -1) {
			to := name
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(name), m[1])
			}
			text, err := os.ReadFile(filepath.Join("../..", to))
			if assert.NoError(t, err, "%s links to it", name) {
				assert.Contains(t, anchors(string(text)), m[2], "%s links to %s", name, to)
			}
		}
	}
	reached, todo := map[string]bool{"README.md": true}, []string{"README.md"}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		for _, m := range link.FindAllStringSubmatch(all[name], -1) {
			to := filepath.ToSlash(filepath.Join(filepath.Dir(name), m[1]))
			if _, ok := all[to]; !ok {
				_, err := os.Stat(filepath.Join("../..", to))
				assert.NoError(t, err, "%s links to %s", name, to)
				continue
			}
			if !reached[to] {
				reached[to], todo = true, append(todo, to)
			}
		}
	}
	for name := range all {
		assert.True(t, reached[name], "no page leads to %s", name)
	}
}

// anchors are what links can name in a page: its headings, in lower case and without
// punctuation.
func anchors(page string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(block.ReplaceAllString(page, ""), -1) {
		plain := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// A page says what it is for, and then has a first command to try, near its top and before its
// first section; a sentence that begins with perfbench is none.
func TestPagesBeginWithAPurposeAndACommand(t *testing.T) {
	command := regexp.MustCompile("(?m)^    perfbench |^```\n(?:[^`].*\n)*?perfbench ")
	for name, page := range pages(t) {
		if slices.Contains([]string{"README.md", "docs/CHANGELOG.md", "docs/internals.md"}, name) {
			continue // the front page, which has a first run; what has changed; for developers
		}
		title, rest, _ := strings.Cut(page, "\n\n")
		assert.Regexp(t, `^# \S.*$`, title, name)
		head, _, _ := strings.Cut(rest, "\n## ")
		assert.Regexp(t, `^[\pL*\x60]`, head, "%s begins with something other than a sentence", name)
		first := strings.Join(slices.Collect(strings.Lines(head))[:min(16, strings.Count(head, "\n"))], "")
		assert.Regexp(t, command, first, "%s has no command at its top", name)
	}
}

// Whoever does not know a word of a page is one click away from what it means.
func TestPagesLeadToTheGlossary(t *testing.T) {
	for name, page := range pages(t) {
		if slices.Contains([]string{"docs/glossary.md", "docs/CHANGELOG.md", "docs/internals.md"}, name) {
			continue // itself; what has changed; for developers, who have a glossary of their own
		}
		assert.Regexp(t, `\]\([\w./]*glossary\.md\)`, page, name)
	}
}

// The menu of the site (make docs) leads to every page.
func TestTheMenuOfTheSiteHasEveryPage(t *testing.T) {
	script, err := os.ReadFile("../../.ci/docs")
	require.NoError(t, err)
	_, menu, found := strings.Cut(string(script), "\nnav:\n")
	require.True(t, found)
	listed := regexp.MustCompile(`[\w/-]+\.md`).FindAllString(menu, -1)
	for name := range pages(t) {
		if in, ok := strings.CutPrefix(name, "docs/"); ok {
			assert.Contains(t, listed, in)
		}
	}
}

// A word that is explained to users and to developers is explained in the same words.
func TestWordsMeanTheSameToAll(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \|(?: [^|]+ \|)?$`) // a third column leads to more
	contributing, err := os.ReadFile("../../CONTRIBUTING.md")
	require.NoError(t, err)
	_, glossary, _ := strings.Cut(string(contributing), "\n## Glossary\n")
	meanings, both := map[string]string{}, 0
	for _, m := range row.FindAllStringSubmatch(glossary, -1) {
		for word := range strings.SplitSeq(m[1], ", ") {
			meanings[word] = m[2]
		}
	}
	for _, m := range row.FindAllStringSubmatch(pages(t)["docs/glossary.md"], -1) {
		for word := range strings.SplitSeq(m[1], ", ") {
			if meaning, ok := meanings[word]; ok && m[1] != "word" {
				both++
				assert.Equal(t, meaning, m[2], word)
			}
		}
	}
	assert.Greater(t, both, 20)
}

// The code of docs/internals.md is that of tests, from their imports to the first that tries it.
func TestTheCodeOfThePagesIsTried(t *testing.T) {
	page := pages(t)["docs/internals.md"]
	files := []string{"internal/session", "internal/store", "internal/report", "tui/screen"}
	for _, dir := range files {
		code, err := os.ReadFile("../../" + dir + "/example_test.go")
		require.NoError(t, err)
		_, example, _ := strings.Cut(string(code), ")\n\n")
		example, _, found := strings.Cut(example, "\n// The example of docs/internals.md")
		require.True(t, found, dir)
		assert.Contains(t, page, "```go\n"+example+"```\n", "copy it from "+dir+"/example_test.go")
	}
	assert.Equal(t, len(files), strings.Count(page, "```go\n"), "an example that no test compiles")
}
