package labtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// Prometheus starts a private Prometheus that scrapes addr, host:port, five times a
// second, keeping native histograms, and returns its URL.
func Prometheus(t testing.TB, addr string) string {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		lacks(t, err, "prometheus")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("scrape_configs: [{job_name: test, scrape_interval: 200ms, scrape_timeout: 200ms, static_configs: [{targets: [%q]}]}]\n", addr)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatalf("labtest: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--enable-feature=native-histograms")
	out, err := cmd.StderrPipe()
	if err == nil {
		err = lab.Detach(cmd, true)
	}
	if err != nil {
		t.Fatalf("labtest: %v", err)
	}
	found := make(chan string, 1) // one value: the sender never waits
	go watchPrometheus(cmd, bufio.NewScanner(out), found)
	t.Cleanup(func() { // its folder is deleted next
		for range found {
		}
	})
	if at := <-found; at != "" {
		return "http://" + at
	}
	t.Fatal("labtest: prometheus ended before it listened")
	return ""
}

var prometheusListens = regexp.MustCompile(`address=(127\.0\.0\.1:[1-9][0-9]*)`)

// watchPrometheus starts it and finds the address in its log, or "" if it ends first. A
// tied process ends with the thread that started it, so the thread is kept.
func watchPrometheus(cmd *exec.Cmd, log *bufio.Scanner, found chan<- string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cmd.Start() == nil {
		for log.Scan() {
			if m := prometheusListens.FindStringSubmatch(log.Text()); m != nil {
				select {
				case found <- m[1]:
				default: // reported already
				}
			}
		}
		_ = cmd.Wait() // it is killed when the test ends
	}
	close(found)
}
