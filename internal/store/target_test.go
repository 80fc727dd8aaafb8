package store_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

func TestParseTarget(t *testing.T) {
	for in, want := range map[string]store.Target{
		"redis://localhost":                             {Scheme: "redis", Hosts: []string{"localhost"}},
		"REDIS://localhost:6379/":                       {Scheme: "redis", Hosts: []string{"localhost:6379"}},
		" redis://h1 ":                                  {Scheme: "redis", Hosts: []string{"h1"}},
		"redis://h1:1/2":                                {Scheme: "redis", Hosts: []string{"h1:1"}, Path: "2"},
		"redis://:pw@h1":                                {Scheme: "redis", Hosts: []string{"h1"}, Password: "pw"},
		"redis://app:p%40s%2Fw@h1":                      {Scheme: "redis", Hosts: []string{"h1"}, User: "app", Password: "p@s/w"},
		"redis://app:p@ss:w#rd@h1:1":                    {Scheme: "redis", Hosts: []string{"h1:1"}, User: "app", Password: "p@ss:w#rd"},
		"redis://app+1:a+b@h1":                          {Scheme: "redis", Hosts: []string{"h1"}, User: "app+1", Password: "a+b"},
		"redis://[::1]":                                 {Scheme: "redis", Hosts: []string{"[::1]"}},
		"redis://[fe80::1%25eth0]:6":                    {Scheme: "redis", Hosts: []string{"[fe80::1%eth0]:6"}},
		"redis+cluster://h1,h2:2,[::1]:3?connections=4": {Scheme: "redis+cluster", Hosts: []string{"h1", "h2:2", "[::1]:3"}, Params: url.Values{"connections": {"4"}}},
		"rediss+sentinel://h1, h2/master":               {Scheme: "rediss+sentinel", Hosts: []string{"h1", "h2"}, Path: "master"},
		"unix:///run/redis.sock?db=1":                   {Scheme: "unix", Path: "/run/redis.sock", Params: url.Values{"db": {"1"}}},
		"unix:/run/a%20b.sock":                          {Scheme: "unix", Path: "/run/a b.sock"},
		"unix://app:pw@/run/r@1.sock":                   {Scheme: "unix", Path: "/run/r@1.sock", User: "app", Password: "pw"},
		"cassandra://h1:9042,h2/ks?consistency=QUORUM":  {Scheme: "cassandra", Hosts: []string{"h1:9042", "h2"}, Path: "ks", Params: url.Values{"consistency": {"QUORUM"}}},
		"mysql://root@h1/db":                            {Scheme: "mysql", Hosts: []string{"h1"}, Path: "db", User: "root"},
		"postgres://h1?ca=/a/b@c.pem":                   {Scheme: "postgres", Hosts: []string{"h1"}, Params: url.Values{"ca": {"/a/b@c.pem"}}},
		"sqlite:perf@bench.db":                          {Scheme: "sqlite", Path: "perf@bench.db"},
		"sqlite:///tmp/x.db":                            {Scheme: "sqlite", Path: "/tmp/x.db"},
		"coherence://h1":                                {Scheme: "coherence", Hosts: []string{"h1"}},
		"dtm+http://h1:36789":                           {Scheme: "dtm+http", Hosts: []string{"h1:36789"}},
		"dtm+bench://h1/api/busi_bench/bench":           {Scheme: "dtm+bench", Hosts: []string{"h1"}, Path: "api/busi_bench/bench"},
		"embedded:":                                     {Scheme: "embedded"},
		"embedded://":                                   {Scheme: "embedded"},
		"memory:demo?latency=1ms":                       {Scheme: "memory", Path: "demo", Params: url.Values{"latency": {"1ms"}}},
		"null:":                                         {Scheme: "null"},
		"lab:redis":                                     {Scheme: "lab", Path: "redis"},
	} {
		got, err := store.ParseTarget(in)
		if want.Params == nil {
			want.Params = url.Values{}
		}
		if assert.NoError(t, err, in) {
			assert.Equal(t, fmt.Sprintf("%+v", plain(want)), fmt.Sprintf("%+v", plain(got)), in)
		}
	}
}

// plain is a Target that shows its secrets.
type plain store.Target

func TestBadTargets(t *testing.T) {
	for in, want := range map[string][2]string{
		"":                             {"target is empty", "embedded:"},
		"redis":                        {`"redis" has no colon`, "redis://localhost:6379"},
		"localhost":                    {`"localhost" is not a URL`, "redis://localhost"},
		"7721":                         {"is a number", "did you mean redis://localhost:7721?"},
		"localhost:6379":               {"has no scheme", "did you mean redis://localhost:6379?"},
		"reddis://h1":                  {`unknown scheme "reddis"`, "did you mean redis"},
		"redis-cluster://h1":           {`unknown scheme "redis-cluster"`, "did you mean redis+cluster"},
		"valkey://h1":                  {`unknown scheme "valkey"`, "speaks the protocol of redis://"},
		"scylla://h1":                  {`unknown scheme "scylla"`, "speaks the protocol of cassandra://"},
		"cockroach://h1":               {`unknown scheme "cockroach"`, "speaks the protocol of postgres://"},
		"http://h1":                    {`unknown scheme "http"`, "there are redis, postgres, mysql, "},
		"postgre://h1":                 {`unknown scheme "postgre"`, "did you mean postgres"},
		"redis:h1":                     {"// is missing", "redis://localhost:6379"},
		"redis://":                     {"a host is missing", "redis://localhost:6379"},
		"redis://:6379":                {"a host is missing", "redis://localhost:6379"},
		"redis://h1,,h2":               {"a host is missing", ""},
		"redis://h1:0":                 {"a port is not a number in 1..65535", ""},
		"redis://h1:http":              {"a port is not a number in 1..65535", ""},
		"redis://h1:65536":             {"a port is not a number in 1..65535", ""},
		"redis://::1:6379":             {"write IPv6 addresses in [ ]", ""},
		"redis://[::1":                 {"lacks its ]", ""},
		"redis://[h1]:1":               {"is not an IPv6 address", ""},
		"redis://[::1]1":               {"only a port may follow", ""},
		"redis://h 1":                  {"a character that is not allowed there", ""},
		"redis://:pa/ss@h1":            {"character with a special meaning in URLs", "%2F"},
		"redis://:pa?ss@h1":            {"character with a special meaning in URLs", "%3F"},
		"redis://app:12/ss@h1":         {"character with a special meaning in URLs", "%2F"},
		"redis://:p%zz@h1":             {"a % in the password", "%25"},
		"redis://h1?db":                {"", ""},
		"redis://h1?db=1&db=2":         {"parameter db is given twice", ""},
		"redis://h1?d b=1":             {"parameter's name", "?name=value"},
		"redis://h1?db=%zz":            {"db: a %", "%25"},
		"unix://host/path":             {"takes a path, not a host", "unix:///"},
		"unix:":                        {"no path", "unix:///"},
		"memory:a b":                   {"not a name", "memory:"},
		"unknown://user:secret-pw@h1":  {"unknown scheme", ""},
		"user:secret-pw@h1":            {"unknown scheme", ""},
		"//user:secret-pw@h1":          {"not a URL", ""},
		"secret-pw@h1:6379":            {"not a URL", ""},
		"redis:/user:secret-pw@h1":     {"// is missing", ""},
		"redis://u:1?secret-pw@h1":     {"parameter's name", ""},
		"redis://u:secret-pw%@h1":      {"a % in the password", ""},
		"redis://u:x/secret-pw@h1":     {"character with a special meaning", ""},
		"redis://u:secret-pw@h1:x":     {"a port is not", ""},
		"redis://u:secret-pw@h1/%zz":   {"a % in the path", ""},
		"memory://u:secret-pw@h1":      {"not a name", ""},
		"redis://u:secret-pw@h1?a=%zz": {"a: a %", ""},
	} {
		_, err := store.ParseTarget(in)
		if want[0] == "" {
			assert.NoError(t, err, in)
			continue
		}
		if assert.Error(t, err, in) {
			assert.Contains(t, err.Error(), want[0], in)
			assert.Contains(t, fault.HintOf(err), want[1], in)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err), in)
			assert.NotContains(t, err.Error()+fault.HintOf(err), "secret", in)
		}
	}
}

func TestTargetShowsNoSecrets(t *testing.T) {
	target, err := store.ParseTarget("rediss+sentinel://app:correct%20horse@h1,[fe80::1%25e]:2/m?sentinel_password=battery&key=staple.pem&ca=ca.pem&db=1")
	require.NoError(t, err)
	want := "rediss+sentinel://app:***@h1,[fe80::1%25e]:2/m?ca=ca.pem&db=1&key=***&sentinel_password=***"
	assert.Equal(t, want, target.Redacted())
	log := &strings.Builder{}
	slog.New(slog.NewTextHandler(log, nil)).Info("T", "target", target)
	slog.New(slog.NewJSONHandler(log, nil)).Info("T", "target", target)
	text, err := json.Marshal(map[string]any{"target": target})
	require.NoError(t, err)
	for _, s := range []string{
		fmt.Sprint(target), fmt.Sprintf("%+v", target), fmt.Sprintf("%#v", target), fmt.Sprintf("%v", &target),
		log.String(), string(text),
	} {
		assert.Contains(t, s, "app:***@h1")
		for _, secret := range []string{"horse", "battery", "staple"} {
			assert.NotContains(t, s, secret)
		}
	}
	for _, same := range []string{"embedded:", "memory:demo?latency=1ms", "unix:///run/r.sock", "sqlite:x.db", "sqlite:///tmp/x.db", "redis://h1:1/2?db=2", "lab:redis"} {
		target, err := store.ParseTarget(same)
		require.NoError(t, err)
		assert.Equal(t, same, target.Redacted())
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{
		"redis://localhost", "redis://u:p@h1,h2:3/4?tls=1", "unix:///a/b?db=1", "redis://[::1]:1", "memory:x",
		"redis+sentinel://h/m?sentinel_password=x", "sqlite:a?b=c", "x", "redis://:%zz@h",
	} {
		f.Add(s, "correct horse")
	}
	f.Fuzz(func(t *testing.T, s, password string) {
		if target, err := store.ParseTarget(s); err == nil {
			again, err := store.ParseTarget(target.Redacted())
			if assert.NoError(t, err, "what is shown can be read again: %q", target.Redacted()) {
				assert.Equal(t, target.Redacted(), again.Redacted())
			}
		} else {
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		}
		if len(password) < 4 || strings.Contains("redis://user:***@localhost:6379/m?ca=x&db=1&key=***&sentinel_password=***", password) { //nolint:gocritic // a password that the masked URL holds anyway
			return
		}
		secret := url.QueryEscape(password)
		target, err := store.ParseTarget("redis://user:" + url.PathEscape(password) + "@localhost:6379/m?ca=x&db=1&sentinel_password=" + secret + "&key=" + secret)
		if assert.NoError(t, err) {
			assert.Equal(t, password, target.Password)
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", target, target, &target), password)
		}
	})
}
