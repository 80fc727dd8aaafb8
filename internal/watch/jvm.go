package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// JVM asks a Java server for its heap. Any goroutine may use it.
type JVM interface {
	// Heap is the state now. Errors say why there is none.
	Heap(ctx context.Context) (*Heap, error)
	// Every is how often it may be asked.
	Every() time.Duration
	// Note says what it does not tell, if anything.
	Note() string
}

// NewJVM asks over a Jolokia agent when where is its URL, else by a nodetool
// command, with its arguments.
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

// questions are what Heap asks, in one request.
const questions = `[{"type":"read","mbean":"java.lang:type=Memory","attribute":"HeapMemoryUsage"},` +
	`{"type":"read","mbean":"java.lang:type=MemoryPool,name=*","attribute":"Usage"},` +
	`{"type":"read","mbean":"java.lang:type=GarbageCollector,name=*","attribute":["CollectionCount","CollectionTime"]}]`

func (j *jolokia) Heap(ctx context.Context) (*Heap, error) {
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
	return parseJolokia(data)
}

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
		return nil, errors.New("ask the JVM: what answers there is no Jolokia agent")
	}
	for _, a := range answers {
		if a.Status != http.StatusOK {
			return nil, fmt.Errorf("ask the JVM: the agent answers %d: %s", a.Status, a.Error)
		}
	}
	var heap usage
	var pools map[string]struct{ Usage usage }
	var collectors map[string]struct{ CollectionCount, CollectionTime int64 }
	if err := errors.Join(json.Unmarshal(answers[0].Value, &heap), json.Unmarshal(answers[1].Value, &pools), json.Unmarshal(answers[2].Value, &collectors)); err != nil {
		return nil, fmt.Errorf("ask the JVM: %w", err)
	}
	h := &Heap{Used: &heap.Used}
	if heap.Max > 0 {
		h.Limit = &heap.Max
	}
	for name, p := range pools {
		switch {
		case strings.Contains(name, "Old Gen") || strings.Contains(name, "Tenured"):
			h.Old = plus(h.Old, p.Usage.Used)
		case strings.Contains(name, "Eden") || strings.Contains(name, "Survivor"):
			h.Young = plus(h.Young, p.Usage.Used)
		}
	}
	for name, c := range collectors {
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
	return h, nil
}

func plus(sum *int64, v int64) *int64 {
	if sum != nil {
		v += *sum
	}
	return &v
}

// nodetool runs a command that starts a JVM of its own each time, so not often.
type nodetool struct {
	command []string
	// Its count begins anew each time it is read.
	collections int64
	time        time.Duration
}

func (*nodetool) Every() time.Duration { return 10 * time.Second }
func (*nodetool) Note() string {
	return "nodetool tells no generations: all collections are in the column of the young one"
}

func (n *nodetool) Heap(ctx context.Context) (*Heap, error) {
	info, err := n.run(ctx, "info")
	if err != nil {
		return nil, err
	}
	gc, err := n.run(ctx, "gcstats")
	if err != nil {
		return nil, err
	}
	return n.parse(info, gc)
}

func (n *nodetool) run(ctx context.Context, what string) (string, error) {
	if len(n.command) == 0 {
		return "", errors.New("no nodetool command was given")
	}
	ctx, cancel := context.WithTimeout(ctx, n.Every())
	defer cancel()
	cmd := exec.CommandContext(ctx, n.command[0], append(n.command[1:len(n.command):len(n.command)], what)...)
	var out, diagnosis bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &diagnosis, time.Second
	if err := cmd.Run(); err != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(diagnosis.String()), "\n")
		return "", fmt.Errorf("%s %s: %w %s", n.command[0], what, err, text)
	}
	return out.String(), nil
}

// parse reads "Heap Memory (MB) : 123.45 / 512.00" and the line of gcstats below
// its heading: interval, longest and total pause in ms, deviation, MB, collections.
func (n *nodetool) parse(info, gc string) (*Heap, error) {
	h := &Heap{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) != "Heap Memory (MB)" {
			continue
		}
		used, limit, _ := strings.Cut(value, "/")
		h.Used, h.Limit = megabytes(used), megabytes(limit)
	}
	lines := strings.Split(strings.TrimSpace(gc), "\n")
	if fields := strings.Fields(lines[len(lines)-1]); len(lines) > 1 && len(fields) >= 6 {
		total, err1 := strconv.ParseFloat(fields[2], 64)
		count, err2 := strconv.ParseInt(fields[5], 10, 64)
		if err1 == nil && err2 == nil {
			n.collections += count
			n.time += time.Duration(total * float64(time.Millisecond))
			c, t := n.collections, n.time
			h.YoungGCs, h.GCTime = &c, &t
		}
	}
	if h.Used == nil && h.YoungGCs == nil {
		return nil, errors.New("what nodetool prints has neither a heap nor collections")
	}
	return h, nil
}

func megabytes(s string) *int64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return nil
	}
	n := int64(v * (1 << 20))
	return &n
}
