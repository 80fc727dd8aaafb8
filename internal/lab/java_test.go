package lab

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// script writes an executable file.
func script(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
	return path
}

func TestAJavaIsTakenByItsRelease(t *testing.T) {
	dir := t.TempDir()
	java := func(name, version string) string {
		return script(t, filepath.Join(dir, name, "bin", "java"), `echo 'openjdk version "`+version+`" 2025-01-21' >&2`)
	}
	right, tooNew, old := java("seventeen", "17.0.15"), java("new", "99.0.1"), java("eight", "1.8.0_402")
	need := Need{Binary: "java", Package: "openjdk-17-jre-headless", Java: []int{17, 11}}
	on := func(path string) func(string) (string, error) {
		return func(string) (string, error) { return path, nil }
	}
	got, err := need.FindIn(on(right), nil)
	require.NoError(t, err)
	assert.Equal(t, right, got)
	got, err = need.FindIn(on(tooNew), []string{"JAVA_HOME=" + filepath.Join(dir, "seventeen")})
	require.NoError(t, err)
	assert.Equal(t, right, got, "JAVA_HOME comes first")

	need.Java = []int{98} // nothing installed will do
	_, err = need.FindIn(on(tooNew), []string{"JAVA_HOME=" + filepath.Join(dir, "eight")})
	require.ErrorContains(t, err, "it runs on Java 98")
	assert.ErrorContains(t, err, "8 and 99", old)
	assert.Contains(t, fault.HintOf(err), "apt-get install openjdk-17-jre-headless")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}

// fetching returns a host whose Maven is the given script.
func fetching(t *testing.T, maven string, steps *[]string) *host {
	t.Helper()
	dir := t.TempDir()
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	return &host{
		Dir: dir, binaries: map[string]string{"mvn": script(t, filepath.Join(dir, "mvn"), maven)},
		opts: Options{
			Environ:  []string{"HOME=" + dir, "PATH=" + filepath.Dir(sh) + ":/usr/bin:/bin", "PERFBENCH_TARGET_PASSWORD=hush"},
			Progress: func(s string) { *steps = append(*steps, s) },
		},
	}
}

func TestJarsAreFetchedOnceAndExplained(t *testing.T) {
	var steps []string
	h := fetching(t, `env > "$HOME/env"; echo again >> "$HOME/runs"; mkdir lib; cp pom.xml lib/a.jar; echo "Downloaded from x: y"`, &steps)
	a := artefact{"org.example", "thing", "1.2"}
	lib, err := h.jarCache().jars(t.Context(), "thing-1.2", a, 7)
	require.NoError(t, err)
	pom, err := os.ReadFile(filepath.Join(lib, "a.jar"))
	require.NoError(t, err)
	assert.Contains(t, string(pom), "<artifactId>thing</artifactId><version>1.2</version>")
	require.NotEmpty(t, steps)
	assert.Contains(t, steps[0], "first start: fetching thing 1.2 through Maven, some 7 MB")
	env, err := os.ReadFile(filepath.Join(h.Dir, "env"))
	require.NoError(t, err)
	assert.NotContains(t, string(env), "hush")

	again, err := h.jarCache().jars(t.Context(), "thing-1.2", a, 7)
	require.NoError(t, err)
	assert.Equal(t, lib, again)
	runs, err := os.ReadFile(filepath.Join(h.Dir, "runs"))
	require.NoError(t, err)
	assert.Equal(t, "again\n", string(runs), "the second time they are in the cache")
}

func TestJarsThatCannotBeFetchedLeaveNothing(t *testing.T) {
	var steps []string
	h := fetching(t, `mkdir lib; touch lib/half.jar; echo "[ERROR] no such artefact"; exit 1`, &steps)
	_, err := h.jarCache().jars(t.Context(), "thing-1.2", artefact{"org.example", "thing", "1.2"}, 7)
	require.ErrorContains(t, err, "no such artefact")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	left, err := filepath.Glob(filepath.Join(h.Dir, ".cache", "perfbench", "thing*"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(h.Dir, ".cache", "perfbench", "thing-1.2.lock")}, left)

	h = fetching(t, "sleep 60", &steps)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the user went away")
	cancel(gone)
	_, err = h.jarCache().jars(ctx, "thing-1.2", artefact{"org.example", "thing", "1.2"}, 7)
	require.Error(t, err)
}

func TestHeapOfANodeGrowsWithTheMachine(t *testing.T) {
	node := javaServer{most: nodeHeap}
	assert.Equal(t, []string{"-Xms512m", "-Xmx512m"}, node.heap(0), "nobody knows the memory")
	assert.Equal(t, []string{"-Xms512m", "-Xmx512m"}, node.heap(2<<30))
	assert.Equal(t, []string{"-Xms512m", "-Xmx1024m"}, node.heap(8<<30))
	assert.Equal(t, []string{"-Xms512m", "-Xmx2048m"}, node.heap(64<<30))
	assert.Equal(t, []string{"-Xms512m", "-Xmx512m"}, javaServer{}.heap(64<<30))
}
