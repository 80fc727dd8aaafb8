package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// screenLimit is how long a screen may take to show what is waited for: generous,
// because only a failing test waits for it.
const screenLimit = 5 * time.Minute

// pane is the real program in a real terminal, which tmux plays. Only the
// test's goroutine may use it.
type pane struct {
	t testing.TB
	// dir is where the program runs, its home and the place of its results.
	dir, socket string
}

// inTerminal starts the program with args in a terminal of that size. When it has
// ended, the terminal says "exit code N".
func inTerminal(t testing.TB, bin string, width, height int, args ...string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no tmux: install the Debian package tmux")
		}
		t.Skip("SKIPPED, NOTHING WAS TESTED: there is no tmux: install the Debian package tmux")
	}
	short, err := os.MkdirTemp("", "pb") //nolint:usetesting // the path of a socket must be short
	require.NoError(t, err)
	s := &pane{t: t, dir: t.TempDir(), socket: filepath.Join(short, "tmux")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", s.screen())
		}
		s.kill()
		_, _ = s.tmux("kill-server") // our own, by its socket; gone already when the test has failed early
		_ = os.RemoveAll(short)      // a leftover in the temporary folder harms nobody
	})
	// A program that outlives a killed test ends by itself.
	script := `timeout --foreground 600 sh -c 'echo $$ >pid; exec "$0" "$@"' "$0" "$@"; echo "exit code $?"; exec sleep 600`
	cmd := append([]string{"-f", "/dev/null", "-u", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", s.dir, "sh", "-c", script, bin}, args...)
	out, err := s.tmux(cmd...)
	require.NoError(t, err, out)
	out, err = s.tmux("set", "-g", "status", "off", ";", "resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
	require.NoError(t, err, out)
	return s
}

func (s *pane) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "TERM=xterm-256color", "XDG_STATE_HOME=" + filepath.Join(s.dir, "state")}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// screen is what the terminal shows.
func (s *pane) screen() string {
	out, err := s.tmux("capture-pane", "-p")
	if err != nil {
		return fmt.Sprintf("(%v: %s)", err, out)
	}
	return out
}

// press sends keys by tmux's names, in one go.
func (s *pane) press(keys ...string) {
	s.t.Helper()
	out, err := s.tmux(append([]string{"send-keys"}, keys...)...)
	require.NoError(s.t, err, out)
}

// enter types text and then Enter.
func (s *pane) enter(text string) {
	s.t.Helper()
	out, err := s.tmux("send-keys", "-l", text)
	require.NoError(s.t, err, out)
	s.press("Enter")
}

// until waits for the screen to satisfy a condition and returns it.
func (s *pane) until(what string, ok func(screen string) bool) string {
	s.t.Helper()
	var screen string
	if !eventually(screenLimit, func() bool {
		screen = s.screen()
		return ok(screen)
	}) {
		s.t.Fatalf("waited %s for %s on the screen", screenLimit, what)
	}
	return screen
}

// shows waits for every text to be on the screen at once.
func (s *pane) shows(texts ...string) string {
	s.t.Helper()
	return s.until(strconv.Quote(strings.Join(texts, `" and "`)), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// matches waits for an expression and returns its groups.
func (s *pane) matches(expr string) []string {
	s.t.Helper()
	re := regexp.MustCompile(expr)
	return re.FindStringSubmatch(s.until(expr, re.MatchString))
}

// number waits for an expression whose only group is a whole number.
func (s *pane) number(expr string) int {
	s.t.Helper()
	n, err := strconv.Atoi(s.matches(expr)[1])
	require.NoError(s.t, err)
	return n
}

// pid is the process id of the program.
func (s *pane) pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, "pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// signal sends a signal to the program.
func (s *pane) signal(sig syscall.Signal) {
	s.t.Helper()
	pid, err := s.pid()
	require.NoError(s.t, err)
	require.NoError(s.t, syscall.Kill(pid, sig))
}

// kill ends the program if it still runs, and waits until it is gone: it may be
// writing into the test's folder.
func (s *pane) kill() {
	if strings.Contains(s.screen(), "exit code ") {
		return // its process id may be somebody else's by now
	}
	pid, err := s.pid()
	eventually(2*time.Second, func() bool { return err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil })
}

// mode tells one of the terminal's own states: alternate_on, mouse_any_flag,
// cursor_flag.
func (s *pane) mode(name string) string {
	s.t.Helper()
	out, err := s.tmux("display-message", "-p", "#{"+name+"}")
	require.NoError(s.t, err, out)
	return strings.TrimSpace(out)
}
