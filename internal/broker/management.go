package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/watch"
)

// Management reads what a broker reports over HTTP if its management plugin is enabled.
// Any goroutine may use it.
type Management struct {
	base   *url.URL
	user   string
	secret string
	client *http.Client
}

// managementURL parses the URL of the plugin; nil for an empty text.
func managementURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // it is not said
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, fault.Input(errors.New("management: this is not the URL of a management plugin"), "for example management=http://localhost:15672; it has the user and the password of the broker")
	}
	return u, nil
}

// Management returns access to the plugin at the URL given in the target,
// management=http://host:15672; nil if there is none.
func (a *Address) Management() *Management {
	if a.management == nil {
		return nil
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = a.tls.Clone()
	return &Management{base: a.management, user: a.user, secret: a.password(), client: &http.Client{Transport: t}}
}

// Close closes its connections.
func (m *Management) Close() { m.client.CloseIdleConnections() }

// overview is the part of /api/overview that we use.
type overview struct {
	Totals struct {
		Ready   float64 `json:"messages_ready"`
		Unacked float64 `json:"messages_unacknowledged"`
	} `json:"queue_totals"`
	Objects struct {
		Connections float64 `json:"connections"`
		Channels    float64 `json:"channels"`
	} `json:"object_totals"`
	Messages struct {
		Published    pace `json:"publish_details"`
		Confirmed    pace `json:"confirm_details"`
		Delivered    pace `json:"deliver_get_details"`
		Acknowledged pace `json:"ack_details"`
		Redelivered  pace `json:"redeliver_details"`
		Unroutable   pace `json:"drop_unroutable_details"`
	} `json:"message_stats"`
}

// pace is a rate per second when the plugin last measured it.
type pace struct {
	Rate float64 `json:"rate"`
}

// node is the part of an entry of /api/nodes that we use.
type node struct {
	Memory      float64 `json:"mem_used"`
	MemoryAlarm bool    `json:"mem_alarm"`
	Disk        float64 `json:"disk_free"`
	DiskAlarm   bool    `json:"disk_free_alarm"`
	Files       float64 `json:"fd_used"`
	Processes   float64 `json:"proc_used"`
	Queue       float64 `json:"run_queue"`
	Collections pace    `json:"gc_num_details"`
}

// Counts returns what the broker reports about itself, summed over its nodes. The
// plugin updates it, including rates, every five seconds unless configured otherwise.
func (m *Management) Counts(ctx context.Context) ([]watch.Count, error) {
	var o overview
	var nodes []node
	for path, into := range map[string]any{"api/overview": &o, "api/nodes": &nodes} {
		if err := m.get(ctx, path, into); err != nil {
			return nil, err
		}
	}
	var sum node
	alarms := 0.0
	for _, n := range nodes {
		sum.Memory, sum.Disk, sum.Files, sum.Processes = sum.Memory+n.Memory, sum.Disk+n.Disk, sum.Files+n.Files, sum.Processes+n.Processes
		sum.Queue, sum.Collections.Rate = sum.Queue+n.Queue, sum.Collections.Rate+n.Collections.Rate
		if n.MemoryAlarm || n.DiskAlarm {
			alarms++
		}
	}
	return []watch.Count{
		{Name: "ready_messages", Value: o.Totals.Ready}, {Name: "unacknowledged_messages", Value: o.Totals.Unacked},
		{Name: "published_per_s", Value: o.Messages.Published.Rate}, {Name: "confirmed_per_s", Value: o.Messages.Confirmed.Rate},
		{Name: "delivered_per_s", Value: o.Messages.Delivered.Rate}, {Name: "acknowledged_per_s", Value: o.Messages.Acknowledged.Rate},
		{Name: "redelivered_per_s", Value: o.Messages.Redelivered.Rate}, {Name: "unroutable_per_s", Value: o.Messages.Unroutable.Rate},
		{Name: "connections", Value: o.Objects.Connections}, {Name: "channels", Value: o.Objects.Channels},
		{Name: "broker_memory_bytes", Value: sum.Memory}, {Name: "free_disk_bytes", Value: sum.Disk}, {Name: "open_files", Value: sum.Files},
		{Name: "erlang_processes", Value: sum.Processes}, {Name: "run_queue", Value: sum.Queue}, {Name: "collections_per_s", Value: sum.Collections.Rate},
		{Name: "nodes_with_alarm", Value: alarms},
	}, nil
}

// get fetches one page.
func (m *Management) get(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(m.base.String(), "/")+"/"+path, nil)
	if err != nil {
		return err
	}
	r.SetBasicAuth(m.user, m.secret)
	answer, err := m.client.Do(r)
	if err != nil {
		return fmt.Errorf("ask the management of the broker: %w", err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read, or is not needed
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the management of the broker at %s: %s", m.base, answer.Status)
	}
	const most = 16 << 20
	if err := json.NewDecoder(io.LimitReader(answer.Body, most)).Decode(into); err != nil {
		return fmt.Errorf("read the answer of the management API at %s: %w", m.base, err)
	}
	return nil
}
