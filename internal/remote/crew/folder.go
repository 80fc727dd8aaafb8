package crew

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// folder owns what a coordinator writes beside what workers send: where it is reached, what
// another would need to go on in its place, and what is decided while the run goes.
type folder struct {
	dir string

	mu    sync.Mutex
	notes *os.File // nil until there are any
}

func (f *folder) make() error { return os.MkdirAll(f.dir, 0o755) }

// write puts a file in place in one step, for nobody else to read.
func (f *folder) write(name string, data []byte) error {
	tmp := filepath.Join(f.dir, "."+name)
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(f.dir, name))
}

// writeAddress writes where the run is reached.
func (f *folder) writeAddress(w Where) error {
	data, err := json.Marshal(w)
	if err == nil {
		err = errors.Join(f.make(), os.WriteFile(filepath.Join(f.dir, whereFile), data, 0o644))
	}
	if err != nil {
		return fmt.Errorf("write where the run can be watched: %w", err)
	}
	return nil
}

// note adds to what was decided while the run goes, of a kind that encodes to JSON. What
// cannot be written is not known to another coordinator.
func (f *folder) note(note any) {
	data, err := json.Marshal(note)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.notes == nil {
		if f.notes, err = os.OpenFile(filepath.Join(f.dir, notesFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
			return
		}
	}
	// The line before may have been cut short, by a process that died.
	_, _ = f.notes.Write(append(append([]byte("\n"), data...), '\n'))
}

// close ends the notes.
func (f *folder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.notes != nil {
		_ = f.notes.Close()
	}
}

// clear removes all of it, and what workers sent: figures are in the journal by now.
func (f *folder) clear() { _ = os.RemoveAll(f.dir) }
