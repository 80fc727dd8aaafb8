package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bareTerminal is a terminal that nobody looks at: what a program writes to it is
// read in big pieces and dropped, so that it costs next to nothing beside the
// program itself. It remembers what has been written until it is told to forget.
type bareTerminal struct {
	b      testing.TB
	master *os.File
	cmd    *exec.Cmd

	mu      sync.Mutex
	written []byte
	deaf    bool
}

// inBareTerminal starts a command on a terminal of that size.
func inBareTerminal(b testing.TB, cmd *exec.Cmd, width, height uint16) *bareTerminal {
	b.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = errors.Join(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}))
	}
	if err != nil {
		b.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_ = slave.Close() // the program has it
	t := &bareTerminal{b: b, master: master, cmd: cmd}
	go t.drain() // ends when the program has closed the terminal, at the latest with the test
	b.Cleanup(func() {
		_ = cmd.Process.Kill() // has ended already unless the benchmark failed
		_ = master.Close()
	})
	return t
}

func (t *bareTerminal) drain() {
	buf := make([]byte, 1<<16)
	for {
		n, err := t.master.Read(buf)
		if err != nil {
			return
		}
		t.mu.Lock()
		if !t.deaf {
			t.written = append(t.written, buf[:n]...)
		}
		t.mu.Unlock()
	}
}

// hears waits until a text has been written in one piece, and forgets what came
// before. Between two of these the terminal may be deaf.
func (t *bareTerminal) hears(text string) {
	t.b.Helper()
	if !eventually(screenLimit, func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		i := bytes.Index(t.written, []byte(text))
		if i >= 0 {
			t.written = t.written[i+len(text):]
		}
		return i >= 0
	}) {
		t.b.Fatalf("waited %s for the program to write %q", screenLimit, text)
	}
}

// answers is how long it takes from some keys to a text that they bring up, to the
// millisecond.
func (t *bareTerminal) answers(keys, text string) time.Duration {
	t.b.Helper()
	t.mu.Lock()
	t.written = nil
	t.mu.Unlock()
	began := time.Now()
	t.types(keys)
	for time.Since(began) < screenLimit {
		t.mu.Lock()
		found := bytes.Contains(t.written, []byte(text))
		t.mu.Unlock()
		if found {
			return time.Since(began)
		}
		time.Sleep(time.Millisecond)
	}
	t.b.Fatalf("waited %s for %q to bring up %q", screenLimit, keys, text)
	return 0
}

// deafen drops from now on all that is written, or no longer.
func (t *bareTerminal) deafen(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deaf = on
}

// types writes to the program what a keyboard would.
func (t *bareTerminal) types(keys string) {
	t.b.Helper()
	if _, err := t.master.WriteString(keys); err != nil {
		t.b.Fatal(err)
	}
}
