package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// built is the folder of the built program, made when a test first wants it.
var built string

// asCommand in the environment makes the test's own program the command: a process
// that a test may kill.
const asCommand = "RUN_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	code := labtest.Run(m)
	if built != "" {
		_ = os.RemoveAll(built) // a leftover in the temporary folder harms nobody
	}
	os.Exit(code) //nolint:forbidigo // as every TestMain ends
}

// binary returns the path of the real program, built once as releases are.
func binary(t testing.TB) string {
	t.Helper()
	path, err := buildOnce()
	require.NoError(t, err)
	return path
}

var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "perfbench-test-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "perfbench")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})
