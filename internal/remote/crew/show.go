package crew

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote/view"
)

// shown is what those who watch the run are told.
type shown struct {
	mu     sync.Mutex
	of     func() *view.View
	packed []byte
	at     time.Time
}

// fresh is how old what is shown may be: several who watch cost little more than one.
const fresh = 200 * time.Millisecond

// Show has f say from now on how the run is. It may be called from any goroutine; what it
// returns is never written to again.
func (c *Crew) Show(f func() *view.View) {
	c.shown.mu.Lock()
	defer c.shown.mu.Unlock()
	c.shown.of, c.shown.packed = f, nil
}

// show is the run as it goes over the wire.
func (c *Crew) show() []byte {
	c.shown.mu.Lock()
	defer c.shown.mu.Unlock()
	if c.shown.packed == nil || time.Since(c.shown.at) > fresh {
		c.shown.packed, c.shown.at = c.shown.of().Pack(), time.Now()
	}
	return c.shown.packed
}

// Concluded shows all who watch what came of the run.
func (c *Crew) Concluded(v *view.View) {
	if c == nil {
		return
	}
	c.Show(func() *view.View { return v })
	c.Last(c.show())
}

// Where is how a run of this machine is reached.
type Where struct {
	URL         string `json:"url"`
	Run         string `json:"run"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// whereFile has that of a run while it goes, in the folder of what workers send.
const whereFile = "where.json"

// writeAddress writes where the run is reached.
func (c *Crew) writeAddress() error {
	w := Where{URL: c.URL(), Run: c.run}
	if id := c.ask.Identity; id != nil {
		w.Fingerprint = id.Fingerprint
	}
	data, err := json.Marshal(w)
	if err == nil {
		err = errors.Join(os.MkdirAll(c.dir, 0o755), os.WriteFile(filepath.Join(c.dir, whereFile), data, 0o644))
	}
	if err != nil {
		return fmt.Errorf("write where the run can be watched: %w", err)
	}
	return nil
}

// Find tells where a run whose folder is on this machine is reached. Errors are of input.
func Find(dir string) (Where, error) {
	var w Where
	data, err := os.ReadFile(filepath.Join(dir, "stream", whereFile))
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	if err != nil {
		return w, fault.Input(fmt.Errorf("there is nothing to watch in %s: the run has ended, or has no workers", dir),
			"runs with --workers can be watched while they go; perfbench report shows one that has ended")
	}
	return w, nil
}
