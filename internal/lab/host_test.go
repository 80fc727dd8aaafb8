package lab

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What servers say of a port that somebody else has, by which a start is tried again with
// other ports.
func TestPortsThatAreTakenAreKnownByTheLog(t *testing.T) {
	t.Parallel()
	for server, log := range map[string]string{
		"redis":              "Warning: Could not create server TCP listening socket 127.0.0.1:19979: bind: Address already in use",
		"mariadb":            "[ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use",
		"rabbitmq, its peer": "{failed_to_start_child,prelaunch,{dist_port_already_used,19979,not_erlang,\"localhost\"}}",
		"rabbitmq":           "Failed to start Ranch listener {acceptor,{127,0,0,1},19979} reason: eaddrinuse (address already in use)",
		"cassandra, storage": "/127.0.0.1:19979 is in use by another process.  Change listen_address:storage_port in cassandra.yaml",
		"cassandra, JMX":     "java.rmi.server.ExportException: Port already in use: 19979; nested exception is: ",
	} {
		assert.True(t, portTaken(log), server)
	}
	assert.False(t, portTaken("cannot prepare configuration: unknown variable disk_free_limt on line 9"))
}

// Cassandra takes only the period of the way in which it syncs, and no setting twice.
func TestWhenCassandraSyncs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want []string
		not  string
	}{
		{nil, []string{"commitlog_sync: periodic", "commitlog_sync_period: 10000ms"}, "group_window"},
		{[]string{"--commitlog_sync", "batch"}, []string{"commitlog_sync: batch"}, "commitlog_sync_period"},
		{[]string{"--commitlog_sync", "periodic", "--commitlog_sync", "group"}, []string{"commitlog_sync: group", "commitlog_sync_group_window: 10ms"}, "periodic"},
		{[]string{"--commitlog_sync", "periodic", "--commitlog_sync_period", "100ms"}, []string{"commitlog_sync: periodic", "commitlog_sync_period: 100ms"}, "10000ms"},
	} {
		text, err := cassandraYAML(&host{rec: &record{Args: tt.args}}, t.TempDir(), 1, 2)
		require.NoError(t, err)
		for _, line := range tt.want {
			assert.Equal(t, 1, strings.Count("\n"+text, "\n"+line+"\n"), "%q: %s", tt.args, line)
		}
		assert.NotContains(t, text, tt.not, "%q", tt.args)
	}
}
