package lab_test

import (
	"bufio"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Servers that are started anew have their ports and settings, but no data, and in the end are what
// they had been.
func TestServersAreStartedAnewWithSettings(t *testing.T) {
	t.Parallel()
	needRedis(t)
	dir := labDir(t)
	st, err := lab.Up(t.Context(), dir, "redis", lab.Options{Args: []string{"--maxmemory", "50mb"}, Tied: true})
	require.NoError(t, err)
	s, addr := lab.ServersAt(dir, st.URL), st.Processes[0].Addr
	config := func(name string) string {
		return strings.Join(redisDo(t, addr, "CONFIG GET "+name, "", "", "", "")[4:], "")
	}
	redisDo(t, addr, "SET a 1")
	require.NoError(t, s.Anew(t.Context(), map[string]string{"appendfsync": "always"}))
	assert.Equal(t, []string{":0"}, redisDo(t, addr, "EXISTS a"))
	assert.Equal(t, "always", config("appendfsync"))
	assert.Equal(t, "yes", config("appendonly"), "what the setting needs")
	assert.Equal(t, "52428800", config("maxmemory"), "what it had been started with")

	err = s.Anew(t.Context(), map[string]string{"appendfsync": "allways"})
	require.ErrorContains(t, err, "lab: start redis anew: ")
	require.ErrorContains(t, err, "allways")
	require.NoError(t, s.Anew(t.Context(), nil))
	assert.Equal(t, "no", config("appendonly"))
	assert.Equal(t, "52428800", config("maxmemory"))
}

func TestSeveralServersAreStartedAnewOnTheirPorts(t *testing.T) {
	tier.Full(t, "TestServersAreStartedAnewWithSettings, with one")
	dir := labDir(t)
	st := up(t, dir, "redis-sentinel")
	s := lab.ServersAt(dir, st.URL)
	require.NoError(t, s.Anew(t.Context(), map[string]string{"min-replicas-to-write": "1"}))
	again, err := lab.Status(dir)
	require.NoError(t, err)
	assert.Equal(t, st.URL, again[0].URL)
	assert.Equal(t, lab.Running, again[0].Condition)
}

func TestSettingsOfServers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"appendfsync", "synchronous_commit", "fsync", "innodb_flush_log_at_trx_commit", "sync_binlog", "commitlog_sync"} {
		assert.True(t, lab.IsSetting(name), name)
	}
	assert.False(t, lab.IsSetting("threads"))
	dir := labDir(t)
	s := lab.ServersAt(dir, up(t, dir, "redis").URL)
	require.NoError(t, s.HasSetting("appendfsync"))
	err := s.HasSetting("fsync")
	require.EqualError(t, err, "fsync is a setting of postgres, postgres-standby, and not of redis")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.Contains(t, fault.HintOf(err), "appendfsync, appendonly")
}

// redisDo sends commands in one piece and returns the replies, which are of one line each.
func redisDo(t *testing.T, addr string, commands ...string) []string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(strings.Join(commands, "\r\n") + "\r\n"))
	require.NoError(t, err)
	var out []string
	for in := bufio.NewReader(conn); len(out) < len(commands); {
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		out = append(out, strings.TrimSpace(line))
	}
	return out
}
