package saga

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// ackLog is a file with a line for each saga whose outcome was reported to a client. A
// line has been passed to the operating system before the saga counts, so it survives
// this process, though not the machine. It is safe for use by several goroutines.
type ackLog struct {
	f *os.File
}

// openAckLog opens or creates the file, and returns its current content. An incomplete
// last line is left out.
func openAckLog(path string) (*ackLog, map[string]outcome, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, fault.Field("ackLog", fault.Input(fmt.Errorf("ackLog: %w", err), "name a file in a folder that exists"))
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil, errors.Join(fault.Field("ackLog", fault.Input(fmt.Errorf("ackLog: %s is not a regular file", path), "name another file")), f.Close())
	}
	old := map[string]outcome{}
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		gid, word, ok := strings.Cut(in.Text(), " ")
		switch {
		case ok && len(gid) == model.GidLength && word == model.Succeed:
			old[gid] = ackedDone
		case ok && len(gid) == model.GidLength && word == model.Failed:
			old[gid] = ackedUndone
		case n == 1:
			return nil, nil, errors.Join(fault.Field("ackLog", fault.Input(fmt.Errorf("ackLog: %s is not a log of acknowledged transactions", path), "name another file")), f.Close())
		}
	}
	if err := in.Err(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("ackLog: %w", err), f.Close())
	}
	return &ackLog{f}, old, nil
}

func (l *ackLog) add(gid string, o outcome) error {
	word := model.Succeed
	if o == ackedUndone {
		word = model.Failed
	}
	var line [model.GidLength + 12]byte
	b := append(append(append(line[:0], gid...), ' '), word...)
	if _, err := l.f.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("ackLog: %w", err)
	}
	return nil
}

func (l *ackLog) close() error {
	if l == nil {
		return nil
	}
	return l.f.Close()
}
