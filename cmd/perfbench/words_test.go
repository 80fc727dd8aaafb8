package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

// commands are all of them, as help shows them, with the flag help.
func commands() []*cobra.Command {
	all := described(root(&cli.Call{}).Command)
	for _, c := range all {
		c.InitDefaultHelpFlag()
	}
	return all
}

// A value of a flag arrives as it was typed, also one that looks like a run; a wrong one
// is refused in plain words.
func TestValuesOfFlagsArriveAsTyped(t *testing.T) {
	numbers := 0
	for _, path := range commands() {
		path.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return
			}
			for _, flag := range []string{"--" + f.Name, "-" + f.Shorthand} {
				if flag == "-" {
					continue
				}
				parsed := func(value string) (*pflag.Flag, error) {
					all := root(&cli.Call{}).Command
					args := append(strings.Fields(path.CommandPath())[1:], flag, value)
					c, rest, err := all.Find(cli.Shield(all, args))
					require.NoError(t, err)
					return c.Flag(f.Name), c.ParseFlags(rest)
				}
				got, err := parsed("-1")
				if err == nil {
					assert.NotContains(t, got.Value.String(), "\x00", "%s %s", path.CommandPath(), flag)
				} else {
					assert.NotContains(t, err.Error(), `\x00`, "%s %s", path.CommandPath(), flag)
				}
				if kind := f.Value.Type(); kind != "int" && kind != "duration" {
					continue
				}
				numbers++
				_, err = parsed("many")
				require.Error(t, err)
				assert.Regexp(t, `: --[a-z-]+: "many" is not a (whole number|duration)$`, cli.BadFlag(path, err).Error())
			}
		})
	}
	assert.Positive(t, numbers)
}

func TestHelpFitsEightyColumns(t *testing.T) {
	for _, c := range commands() {
		var b bytes.Buffer
		cli.Help(&b, c)
		for line := range strings.SplitSeq(b.String(), "\n") {
			assert.LessOrEqual(t, ansi.StringWidth(line), 80, "%s: %s", c.CommandPath(), line)
			assert.Equal(t, strings.TrimRight(line, " "), line, "blanks at the end")
		}
		assert.NotContains(t, b.String(), "`", c.CommandPath())
	}
}

// --help of a command that does runs fits two screens and says how to see the rest; help shows
// every flag, of any command.
func TestHelpHasTwoLayers(t *testing.T) {
	brief := 0
	for _, c := range commands() {
		words := strings.Fields(c.CommandPath())[1:]
		_, short, _ := terminal(t, "", "", append(slices.Clone(words), "--help")...)
		_, whole, _ := terminal(t, "", "", append([]string{"help"}, words...)...)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			assert.Contains(t, whole, "--"+f.Name, "%s --%s", c.CommandPath(), f.Name)
		})
		if !slices.Contains([]string{"run", "tui", "find", "sweep"}, strings.Join(words, " ")) {
			assert.Equal(t, whole, short, c.CommandPath())
			continue
		}
		brief++
		assert.Contains(t, strings.ReplaceAll(short, "\n", " "), "perfbench "+strings.Join(append([]string{"help"}, words...), " ")+" shows all of them")
		assert.Less(t, strings.Count(short, "\n"), 80, "%s --help", c.CommandPath())
		for _, flag := range []string{"--target", "--duration", "--threads", "--rate", "--set", "--dry-run"} {
			assert.Contains(t, short, flag, c.CommandPath())
		}
	}
	assert.Equal(t, 4, brief)
}

// A flag that takes a value says what stands for it, once.
func TestFlagsNameTheirValues(t *testing.T) {
	for _, c := range commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			_, value, text := cli.Flag(f)
			assert.Equal(t, f.Value.Type() != "bool", value != "", "%s --%s: what stands for its value", c.CommandPath(), f.Name)
			assert.NotContains(t, text, "`", "%s --%s", c.CommandPath(), f.Name)
			if value != "" {
				assert.False(t, strings.HasPrefix(text, value), "%s --%s: %s", c.CommandPath(), f.Name, text)
			}
		})
	}
}

func TestTheFlagsOfARunAreGrouped(t *testing.T) {
	for _, c := range commands() {
		if name := c.Name(); name != "run" && name != "tui" {
			continue
		}
		var b bytes.Buffer
		cli.Help(&b, c)
		at := -1
		for _, group := range []string{"Workload", "Load", "Limits", "Output", "Safety", "Screen"} {
			next := strings.Index(b.String(), "\n"+group+":\n")
			assert.Greater(t, next, at, "%s: %s", c.Name(), group)
			at = next
		}
		assert.NotContains(t, b.String(), "\nFlags:\n", "%s: a flag is in no group", c.Name())
	}
}

// Each command has a page, in the words of its help.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	code, _, stderr := terminal(t, "", "", "man", "--dir", dir)
	require.Zero(t, code, stderr)
	release, err := os.ReadFile("../../goreleaser.yaml")
	require.NoError(t, err)
	for _, c := range commands() {
		assert.Contains(t, string(release), "- man/"+manName(c)+".1.gz\n", "the cask of goreleaser.yaml lists each page")
		data, err := os.ReadFile(filepath.Join(dir, manName(c)+".1"))
		require.NoError(t, err)
		page := string(data)
		assert.Contains(t, page, ".SH NAME\n"+roff(manName(c))+` \- `)
		assert.NotContains(t, page, ".PP\\fR", "%s: a flag without a value has none", c.CommandPath())
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			_, _, text := cli.Flag(f)
			if f.Name != "help" {
				assert.Contains(t, page, roff(text), "%s --%s", c.CommandPath(), f.Name)
			}
		})
	}
}

// No flag of a run is registered and ignored: each changes the plan that a dry run prints,
// or is refused with a value that is wrong. Those of the screen have tests of their own.
func TestNoFlagOfARunIsIgnored(t *testing.T) {
	samples := map[string]string{
		"profile": "tx", "target": "null:", "preset": "large", "file": "some.properties", "set": "testCase=put", "threads": "7", "payload": "77", "batch": "7",
		"records": "7", "load": "some", "rate": "77", "warmup": "7s", "at": "1s:threads=7", "duration": "7s", "count": "7", "until": "p99 ±7%", "drain": "7s", "threshold": "p77<7s",
		"require-valid": "true", "out": "elsewhere", "format": "csv", "tag": "colour", "facts": "missing.yaml", "metrics-addr": "9400", "otlp": "htp://h",
		"namespace": "other", "seed": "7", "allow-existing": "true", "cleanup": "true", "password-file": "missing", "theme": "pink", "json": "true",
		"client": "deadline=7ms", "repeat": "7", "against": "null:", "against-set": "threads=7", "tolerance": "x", "unsure": "x", "aa": "true",
		"workers": "7", "listen": "127.0.0.1:4222", "token-file": "missing", "watch-token-file": "missing", "coordinator-key": "missing", "tls-self-signed": "true", "tls-cert": "missing", "tls-key": "missing", "nats": "missing", "nats-creds": "missing", "nats-nkey": "missing", "tls-ca": "missing", "patience": "20s", "on-loss": "end",
	}
	stories := stories(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("some.properties", []byte("eligibility.totalEntryCount=50\n"), 0o644))
	said := func(c *cobra.Command, more ...string) string {
		args := append([]string{c.Name(), "--target=memory:", "--dry-run"}, more...)
		if !strings.Contains(strings.Join(more, " "), "--profile") {
			args = append(args, "--profile=ingestion")
		}
		code, stdout, stderr := terminal(t, "", "", args...)
		return strings.Join([]string{string(rune('0' + code)), stdout, stderr}, "\n")
	}
	for _, c := range commands() {
		if name := c.Name(); name != "run" && name != "tui" {
			continue
		}
		plan := said(c)
		require.True(t, strings.HasPrefix(plan, "0\n"), plan)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			sample, ok := samples[f.Name]
			switch {
			case ok:
				assert.NotEqual(t, plan, said(c, "--"+f.Name+"="+sample), "%s --%s=%s", c.Name(), f.Name, sample)
			case f.Name != "help" && !slices.Contains([]string{"workers", "listen", "token-file", "tls-self-signed", "tls-cert", "tls-key", "nats", "nats-creds", "nats-nkey", "tls-ca", "patience", "on-loss"}, f.Name): // of several processes
				assert.Contains(t, stories, "--"+f.Name, "no test uses %s --%s", c.Name(), f.Name)
			}
		})
	}
}

// stories are the tests that may call commands.
func stories(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range []string{"testdata/script/*.txtar", "*_test.go", "*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			data, err := os.ReadFile(f)
			require.NoError(t, err)
			b.Write(data)
		}
	}
	return b.String()
}

// A search chooses rate and end itself: what it would have to ignore is refused.
func TestFindRefusesWhatItWouldIgnore(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--rate=500"}, {"--count=10"}, {"--duration=1m", "--until=p99 ±5%"}, {"--set=profile.rate=7"}} {
		var out, stderr strings.Builder
		code := run(t.Context(), cli.Env{
			Args:    append([]string{"find", "ingestion", "--target=memory:", "--under=p99<10ms", "--dry-run"}, args...),
			Environ: []string{"HOME=" + t.TempDir()}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr,
		})
		assert.Equal(t, 2, code, "%v: %s", args, out.String())
		assert.Contains(t, stderr.String(), "a search ", args)
		assert.Contains(t, stderr.String(), "leave ", args)
	}
}
