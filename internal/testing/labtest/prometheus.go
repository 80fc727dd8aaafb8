package labtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

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
	at := "http://" + listening(t, cmd, regexp.MustCompile(`address=(127\.0\.0\.1:[1-9][0-9]*)`))
	// It listens before it can be asked.
	for began := time.Now(); !ready(t.Context(), at+"/-/ready"); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("labtest: prometheus is not ready after %v", limit)
		}
	}
	return at
}

// ready reports whether a server answers that it is.
func ready(ctx context.Context, url string) bool {
	asks, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(asks)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// PgBouncer starts a private PgBouncer in front of a PostgreSQL server, in transaction mode,
// and returns its address. It has two connections to the server for each database.
func PgBouncer(t testing.TB, server string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			lacks(t, err, "pgbouncer")
		}
	}
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		t.Fatalf("labtest: %v", err)
	}
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("labtest: %v", err)
	}
	_, own, err := net.SplitHostPort(free.Addr().String())
	config := filepath.Join(t.TempDir(), "pgbouncer.ini")
	text := "[databases]\n* = host=" + host + " port=" + port + " user=pb\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " + own +
		"\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 200\nignore_startup_parameters = extra_float_digits\n"
	if err := errors.Join(err, free.Close(), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		t.Fatalf("labtest: %v", err)
	}
	args := []string{config}
	if os.Getuid() == 0 {
		args = []string{"-u", "nobody", config}
	}
	return listening(t, exec.CommandContext(t.Context(), program, args...), regexp.MustCompile(`listening on (127\.0\.0\.1:[0-9]+)`))
}

// listening starts a program that ends with the test, and returns the address that it says it
// listens at.
func listening(t testing.TB, cmd *exec.Cmd, says *regexp.Regexp) string {
	t.Helper()
	name := filepath.Base(cmd.Path)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = lab.Detach(cmd, true)
	}
	if err != nil {
		t.Fatalf("labtest: %v", err)
	}
	found := make(chan string, 1) // one value: the sender never waits
	go watchLog(cmd, bufio.NewScanner(out), says, found)
	t.Cleanup(func() { // its folder is deleted next
		for range found {
		}
	})
	at, ok := <-found
	if !ok {
		t.Fatalf("labtest: %s ended before it listened", name)
	}
	return at
}

// watchLog starts a program and finds the address in its log; it closes found when the program
// has ended. A tied process ends with the thread that started it, so the thread is kept.
func watchLog(cmd *exec.Cmd, log *bufio.Scanner, says *regexp.Regexp, found chan<- string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cmd.Start() == nil {
		for log.Scan() {
			if m := says.FindStringSubmatch(log.Text()); m != nil {
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
