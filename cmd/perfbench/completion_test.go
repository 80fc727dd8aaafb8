package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

// The script of bash completes in a bash that has no package for it: what is asked of perfbench is
// the line up to the cursor, in which = and : part no words.
func TestBashCompletesWithoutItsPackage(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	var script, stderr bytes.Buffer
	require.Zero(t, run(context.Background(), cli.Env{Args: []string{"completion", "bash"}, Stdout: &script, Stderr: &stderr}), stderr.String())
	file := filepath.Join(t.TempDir(), "completion.bash")
	require.NoError(t, os.WriteFile(file, script.Bytes(), 0o600))
	const drive = `source "$1"
perfbench() { printf '%s|' "$@" >&2; printf 'redis://localhost\nredis://other\n:6\n'; }
__perfbench_get_completion_results() { perfbench __complete "${words[@]:1}"; }
COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9
shift 2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
__start_perfbench
`
	for line, words := range map[string]struct {
		split []string
		asked string
	}{
		"perfbench ru":                          {[]string{"perfbench", "ru"}, "__complete|ru|"},
		"perfbench run ":                        {[]string{"perfbench", "run", ""}, "__complete|run||"},
		"perfbench run --target=red":            {[]string{"perfbench", "run", "--target", "=", "red"}, "__complete|run|--target=red|"},
		"perfbench run --target redis://lo":     {[]string{"perfbench", "run", "--target", "redis", ":", "//lo"}, "__complete|run|--target|redis://lo|"},
		"perfbench run  --set a=b --target=ca:": {[]string{"perfbench", "run", "--set", "a", "=", "b", "--target", "=", "ca", ":", ""}, "__complete|run|--set|a=b|--target=ca:|"},
	} {
		c := exec.Command(bash, append([]string{"--norc", "--noprofile", "-c", drive, "bash", file, line}, words.split...)...)
		var asked bytes.Buffer
		c.Stderr = &asked
		require.NoError(t, c.Run(), asked.String())
		assert.Equal(t, words.asked, strings.TrimSpace(asked.String()), line)
	}
}

// What was used long ago is not offered: of the targets that are remembered, the newest five.
func TestCompletionOffersTheNewestTargets(t *testing.T) {
	state := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(state, "perfbench"), 0o700))
	var urls []string
	for _, port := range strings.Split("12345678", "") {
		urls = append(urls, `"redis://old:`+port+`"`)
	}
	require.NoError(t, os.WriteFile(filepath.Join(state, "perfbench", "targets.json"), []byte("["+strings.Join(urls, ",")+"]"), 0o600))
	var out, stderr bytes.Buffer
	env := cli.Env{Args: []string{"__complete", "run", "--target", ""}, Environ: []string{"XDG_STATE_HOME=" + state}, Stdout: &out, Stderr: &stderr}
	require.Zero(t, run(context.Background(), env), stderr.String())
	assert.Contains(t, out.String(), "redis://old:5\n")
	assert.NotContains(t, out.String(), "redis://old:6")
	assert.Contains(t, out.String(), "embedded:")
}
