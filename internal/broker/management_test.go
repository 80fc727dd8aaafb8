package broker_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/broker"
	"github.com/perfbench/perfbench/internal/watch"
)

// What RabbitMQ 3.10.8 answered, cut to what is read and what stands beside it.
const (
	overviewAnswer = `{"management_version":"3.10.8","message_stats":{"publish":5500,"publish_details":{"rate":110.5},"redeliver":7,"redeliver_details":{"rate":0.5},"ack":5200},
		"queue_totals":{"messages":230,"messages_ready":200,"messages_unacknowledged":30},"object_totals":{"channels":9,"connections":6,"queues":2}}`
	nodesAnswer = `[{"name":"a","mem_used":1000,"mem_alarm":false,"disk_free":5000,"disk_free_alarm":true,"fd_used":40,"proc_used":500,"run_queue":1,"gc_num":70,"gc_num_details":{"rate":14.0}},
		{"name":"b","mem_used":2000,"fd_used":2,"proc_used":5,"run_queue":0,"gc_num":30,"gc_num_details":{"rate":6.0}}]`
)

// The numbers of all nodes are added up, and a refusal is named without the password.
func TestTheManagementOfABrokerIsRead(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		answer := map[string]string{"/proxy/api/overview": overviewAnswer, "/proxy/api/nodes": nodesAnswer}[r.URL.Path]
		if user != "me" || password != "pw-7f" || answer == "" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(answer)) // the client tells
	}))
	defer srv.Close()
	asked := func(login string) (map[string]watch.Count, error) {
		a, err := broker.Parse("amqp://" + login + "@localhost?management=" + srv.URL + "/proxy/")
		require.NoError(t, err)
		m := a.Management()
		defer m.Close()
		list, err := m.Counts(t.Context())
		by := map[string]watch.Count{}
		for _, c := range list {
			by[c.Name] = c
		}
		return by, err
	}
	got, err := asked("me:pw-7f")
	require.NoError(t, err)
	for name, want := range map[string]float64{
		"ready_messages": 200, "unacknowledged_messages": 30, "published_per_s": 110.5, "redelivered_per_s": 0.5, "acknowledged_per_s": 0,
		"connections": 6, "broker_memory_bytes": 3000, "open_files": 42, "collections_per_s": 20, "nodes_with_alarm": 1,
	} {
		assert.InDelta(t, want, got[name].Value, 0, name)
	}

	_, err = asked("me:pw-8e")
	require.ErrorContains(t, err, "ask the management of the broker at "+srv.URL+"/proxy/: 401 Unauthorized")
	assert.NotContains(t, err.Error(), "pw-8e")

	a, err := broker.Parse("amqp://localhost")
	require.NoError(t, err)
	assert.Nil(t, a.Management(), "nobody is asked who was not named")
}
