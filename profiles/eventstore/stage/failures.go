package stage

import (
	"maps"
	"slices"
	"sync"

	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// Wrong is what went wrong: errors by their text, and what compat loses like the original.
type Wrong struct {
	Losses report.Losses
	Errors map[string]int64
}

// maxErrors is how many different errors are counted separately.
const maxErrors = 50

// Sound reports whether w can be what went wrong in another process.
func (w *Wrong) Sound() bool { return len(w.Errors) <= maxErrors+1 }

// Join adds what went wrong in another process.
func (w *Wrong) Join(o *Wrong) {
	w.Losses.Join(&o.Losses)
	for text, n := range o.Errors {
		w.Errors[text] += n
	}
}

// List lists the errors, the most frequent first.
func (w *Wrong) List() (out []report.Error) {
	for text, n := range w.Errors {
		out = append(out, report.Error{Text: text, Count: n})
	}
	slices.SortFunc(out, func(a, b report.Error) int { return int(b.Count - a.Count) })
	return out
}

// Failures keep what went wrong in this process. Their methods may be called from any goroutine.
type Failures struct {
	mu    sync.Mutex
	wrong Wrong
}

// Add counts an error by its text.
func (f *Failures) Add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrong.Errors == nil {
		f.wrong.Errors = map[string]int64{}
	}
	text := err.Error()
	if _, known := f.wrong.Errors[text]; !known && len(f.wrong.Errors) >= maxErrors {
		text = "others"
	}
	f.wrong.Errors[text]++
}

// Lose counts losses of compat.
func (f *Failures) Lose(count func(*report.Losses)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	count(&f.wrong.Losses)
}

// Told returns what went wrong so far.
func (f *Failures) Told() Wrong {
	f.mu.Lock()
	defer f.mu.Unlock()
	errors := maps.Clone(f.wrong.Errors)
	if errors == nil {
		errors = map[string]int64{}
	}
	return Wrong{f.wrong.Losses, errors}
}
