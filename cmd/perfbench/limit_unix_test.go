//go:build unix

package main

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// Whatever fails for want of files, a connection, the embedded server, a database in
// a file or the run's own folder, names the limit and what raises it.
func TestTooFewFilesAreNamedAsTheLimitTheyAre(t *testing.T) {
	path := binary(t)
	for name, tt := range map[string]struct {
		url   string
		files []int
	}{
		"redis":    {labtest.Redis(t).URL(), []int{10, 16}},
		"mariadb":  {labtest.MariaDB(t).URL(), []int{10, 16}},
		"postgres": {labtest.Postgres(t).URL(), []int{10, 16}},
		"embedded": {"embedded:", []int{10, 16}},
		"sqlite":   {"sqlite:x.db", []int{8, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, files := range tt.files {
				c := exec.Command("sh", "-c", "ulimit -n "+strconv.Itoa(files)+` && exec "$@"`, "sh",
					path, "run", "--profile", "ingestion", "--target", tt.url, "--threads", "40", "--count", "4000", "--quiet")
				c.Dir = t.TempDir()
				out, err := c.CombinedOutput()
				text := string(out)
				assert.Error(t, err, "%s, %d files: %s", name, files, text)
				assert.Contains(t, text, "this process may have "+strconv.Itoa(files)+" files and connections open at once (ulimit -n)", text)
				for _, wrong := range []string{"is the server running", "does its folder exist", "firewall", "goroutine "} {
					assert.False(t, strings.Contains(text, wrong), "%s, %d files: %s", name, files, text)
				}
			}
		})
	}
}
