package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// JVM queries the heap of a Java server. Any goroutine may use it.
type JVM interface {
	// Heap returns the current state. Errors say why there is none.
	Heap(ctx context.Context) (*Heap, error)
	// Every is how often Heap may be called.
	Every() time.Duration
	// Note says what is not reported, if anything; it is known after the first Heap.
	Note() string
}

// NewJVM returns a JVM that is queried through a Jolokia agent if where is a URL, and
// otherwise by a nodetool command with its arguments.
func NewJVM(where string) JVM {
	if strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://") {
		return &jolokia{url: where, client: &http.Client{Timeout: 5 * time.Second}}
	}
	return &nodetool{command: strings.Fields(where)}
}

type jolokia struct {
	url    string
	client *http.Client
}

func (*jolokia) Every() time.Duration { return time.Second }
func (*jolokia) Note() string         { return "" }

// questions is the query of Heap, a single request.
const questions = `[{"type":"read","mbean":"java.lang:type=Memory","attribute":"HeapMemoryUsage"},` +
	`{"type":"read","mbean":"java.lang:type=MemoryPool,name=*","attribute":"Usage"},` +
	`{"type":"read","mbean":"java.lang:type=GarbageCollector,name=*","attribute":["CollectionCount","CollectionTime"]}]`

func (j *jolokia) Heap(ctx context.Context) (*Heap, error) {
	data, err := j.ask(ctx, questions)
	if err != nil {
		return nil, err
	}
	return parseJolokia(data)
}

// ask sends queries to the agent and returns its response.
func (j *jolokia) ask(ctx context.Context, questions string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, j.url, strings.NewReader(questions))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := j.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the JVM: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("ask the JVM: %w", err)
	}
	return data, nil
}

// errNoAgent means that something else listens where an agent should.
var errNoAgent = errors.New("what answers there is not a Jolokia agent")

type usage struct {
	Used int64 `json:"used"`
	Max  int64 `json:"max"`
}

func parseJolokia(data []byte) (*Heap, error) {
	var answers []struct {
		Status int             `json:"status"`
		Error  string          `json:"error"`
		Value  json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(data, &answers); err != nil || len(answers) != 3 {
		return nil, fmt.Errorf("ask the JVM: %w", errNoAgent)
	}
	for _, a := range answers {
		if a.Status != http.StatusOK {
			return nil, fmt.Errorf("ask the JVM: the agent answers %d: %s", a.Status, a.Error)
		}
	}
	var heap usage
	var pools map[string]struct{ Usage usage }
	var collectors map[string]collector
	if err := errors.Join(json.Unmarshal(answers[0].Value, &heap), json.Unmarshal(answers[1].Value, &pools), json.Unmarshal(answers[2].Value, &collectors)); err != nil {
		return nil, fmt.Errorf("ask the JVM: %w", err)
	}
	digest := beans{heap: heap, collectors: collectors, pools: map[string]usage{}}
	for name, p := range pools {
		digest.pools[name] = p.Usage
	}
	return digest.digest(), nil
}

// beans are what a JVM reports about its heap, pools and collectors, by name.
type beans struct {
	heap       usage
	pools      map[string]usage
	collectors map[string]collector
}

type collector struct{ CollectionCount, CollectionTime int64 }

// digest divides pools and collectors into old and young.
func (b *beans) digest() *Heap {
	h := &Heap{Used: &b.heap.Used}
	if b.heap.Max > 0 {
		h.Limit = &b.heap.Max
	}
	for name, p := range b.pools {
		switch {
		case strings.Contains(name, "Old Gen") || strings.Contains(name, "Tenured"):
			h.Old = plus(h.Old, p.Used)
		case strings.Contains(name, "Eden") || strings.Contains(name, "Survivor"):
			h.Young = plus(h.Young, p.Used)
		}
	}
	for name, c := range b.collectors {
		switch {
		case strings.Contains(name, "Young") || strings.Contains(name, "Scavenge") || strings.Contains(name, "ParNew") || strings.Contains(name, "name=Copy"):
			h.YoungGCs = plus(h.YoungGCs, c.CollectionCount)
		default:
			h.OldGCs = plus(h.OldGCs, c.CollectionCount)
		}
		t := time.Duration(c.CollectionTime) * time.Millisecond
		if h.GCTime != nil {
			t += *h.GCTime
		}
		h.GCTime = &t
	}
	return h
}

func plus(sum *int64, v int64) *int64 {
	if sum != nil {
		v += *sum
	}
	return &v
}
