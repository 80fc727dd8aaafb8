package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// nodetool runs a command that starts a new JVM each time, so it must not be used
// often.
type nodetool struct {
	command []string
	older   bool // it does not report beans
	// The server's counter restarts from 0 each time it is read.
	collections int64
	time        time.Duration
}

func (*nodetool) Every() time.Duration { return 10 * time.Second }
func (n *nodetool) Note() string {
	if !n.older {
		return ""
	}
	return "this nodetool does not distinguish generations: all collections are counted as young ones"
}

func (n *nodetool) Heap(ctx context.Context) (*Heap, error) {
	if !n.older {
		text, err := n.run(ctx, "sjk", "mxdump", "-q", "java.lang:*")
		if err == nil {
			return parseBeans(text)
		}
		if !strings.Contains(err.Error(), "unexpected parameters") { // for example: nobody answers
			return nil, err
		}
		n.older = true // before 4.0
	}
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

func (n *nodetool) run(ctx context.Context, what ...string) (string, error) {
	if len(n.command) == 0 {
		return "", errors.New("no nodetool command was given")
	}
	ctx, cancel := context.WithTimeout(ctx, n.Every())
	defer cancel()
	cmd := exec.CommandContext(ctx, n.command[0], append(n.command[1:len(n.command):len(n.command)], what...)...)
	var out, diagnosis bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &diagnosis, time.Second
	if err := cmd.Run(); err != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(diagnosis.String()), "\n")
		return "", fmt.Errorf("%s %s: %w %s", n.command[0], strings.Join(what, " "), err, text)
	}
	return out.String(), nil
}

// parseBeans parses the output of mxdump.
func parseBeans(text string) (*Heap, error) {
	// The keys must match exactly: a bean has "name" and may have an attribute "Name".
	var all struct {
		Beans []map[string]json.RawMessage `json:"beans"`
	}
	err := json.Unmarshal([]byte(text), &all)
	b := beans{pools: map[string]usage{}, collectors: map[string]collector{}}
	for _, x := range all.Beans {
		var name string
		err = errors.Join(err, json.Unmarshal(x["name"], &name))
		switch {
		case name == "java.lang:type=Memory":
			err = errors.Join(err, json.Unmarshal(x["HeapMemoryUsage"], &b.heap))
		case strings.Contains(name, "type=MemoryPool"):
			var u usage
			err = errors.Join(err, json.Unmarshal(x["Usage"], &u))
			b.pools[name] = u
		case strings.Contains(name, "type=GarbageCollector"):
			var c collector
			err = errors.Join(err, json.Unmarshal(x["CollectionCount"], &c.CollectionCount), json.Unmarshal(x["CollectionTime"], &c.CollectionTime))
			b.collectors[name] = c
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read what nodetool prints of the beans: %w", err)
	}
	if b.heap.Used == 0 {
		return nil, errors.New("what nodetool prints of the beans has no heap")
	}
	return b.digest(), nil
}

// parse parses "Heap Memory (MB) : 123.45 / 512.00" and the line of gcstats below its
// heading: interval, longest and total pause in ms, deviation, MB, collections.
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
