package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// programs is the folder of the program, made when a test first wants it.
var programs string

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program() {
		// The ceiling of perfbench itself is tested in internal/session; it would cost every
		// run half a second of two processors.
		env := system()
		env.Calibrate = false
		os.Exit(run(context.Background(), env)) //nolint:forbidigo // as main does
	}
	code := labtest.Run(m)
	if programs != "" {
		_ = os.RemoveAll(programs) // a leftover in the temporary folder harms nobody
	}
	os.Exit(code) //nolint:forbidigo // as every TestMain ends
}

// program is the name of the program, by which the test's own becomes it.
func program() string {
	if runtime.GOOS == "windows" {
		return "perfbench.exe"
	}
	return "perfbench"
}

// binary returns the path of the real program, for processes that a test may kill. It is
// the test's own under another name, as building takes longer than most tests; where that
// has the race detector, it is built without, as releases are: stories start it by the dozen.
// Plain go test leaves the test to make test here.
func binary(t testing.TB) string {
	t.Helper()
	tier.Slow(t, tier.Processes)
	path, err := programOnce()
	require.NoError(t, err)
	return path
}

var programOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "perfbench-test-")
	if err != nil {
		return "", err
	}
	programs = dir
	path := filepath.Join(dir, program())
	if !raced() {
		own, err := os.Executable()
		if err != nil {
			return "", err
		}
		if os.Link(own, path) == nil {
			return path, nil
		}
		data, err := os.ReadFile(own) // the file system has no links, or is another one
		if err != nil {
			return "", err
		}
		return path, os.WriteFile(path, data, 0o700)
	}
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// raced tells whether the tests have the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
