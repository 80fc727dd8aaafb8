package crew

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// fresh is how old what is shown may be: several who watch cost little more than one.
const fresh = 200 * time.Millisecond

// display owns what those who watch the run are told.
type display struct {
	mu     sync.Mutex
	of     func() *View
	packed []byte
	at     time.Time
}

// set has f say from now on how the run is; what it returns is never written to again.
func (d *display) set(f func() *View) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of, d.packed = f, nil
}

// show is the run as it goes over the wire.
func (d *display) show() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.packed == nil || time.Since(d.at) > fresh {
		d.packed, d.at = d.of().Pack(), time.Now()
	}
	return d.packed
}

// Show has f say from now on how the run is. It may be called from any goroutine; what it
// returns is never written to again.
func (c *Crew) Show(f func() *View) { c.display.set(f) }

// Concluded shows all who watch what came of the run.
func (c *Crew) Concluded(v *View) {
	if c == nil {
		return
	}
	c.Show(func() *View { return v })
	c.Coordinator.Last(c.display.show())
}

// Where is how a run of this machine is reached.
type Where struct {
	URL         string `json:"url"`
	Run         string `json:"run"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// whereFile has that of a run while it goes, in the folder of what workers send.
const whereFile = "where.json"

// where is how the crew's run is reached.
func (c *Crew) where() Where {
	w := Where{URL: c.Coordinator.Connection.URL(), Run: c.run}
	if id := c.ask.Identity; id != nil {
		w.Fingerprint = id.Fingerprint
	}
	return w
}

// Find tells where the coordinator is reached of a run whose folder is on this machine; false: it
// has none, or none any more.
func Find(dir string) (w Where, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, "stream", whereFile))
	return w, err == nil && json.Unmarshal(data, &w) == nil
}
