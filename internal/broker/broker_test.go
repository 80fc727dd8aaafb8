package broker_test

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/broker"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/watch"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

// inPlace says what make test has in place of what needs a broker.
const inPlace = "profiles/eventstore's TestBroker"

func TestConnectionsAreNamedAndCounted(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	srv := labtest.RabbitMQ(t)
	a, err := broker.Parse(srv.URL())
	require.NoError(t, err)
	var traffic watch.Traffic
	c, err := a.Dial(t.Context(), "a name", broker.Line{Traffic: &traffic})
	require.NoError(t, err)
	assert.Equal(t, srv.Version(), broker.Property(c, "version"))
	assert.Contains(t, srv.Ctl("list_connections", "client_properties"), "a name")
	require.NoError(t, c.Close())
	assert.Positive(t, traffic.In())
	assert.Positive(t, traffic.Out())
	assert.Equal(t, []string{srv.Addr()}, a.Hosts())
}

func TestRefusalsSayWhyAndKeepThePassword(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	srv := labtest.RabbitMQ(t)
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer deaf.Close()
	for target, want := range map[string]string{
		"amqp://guest:hush@" + srv.Addr():                               "refuses the user guest",
		"amqp://nobody:hush@" + srv.Addr():                              "refuses the user nobody",
		"amqp://" + srv.Addr() + "/nowhere":                             `may not use virtual host "nowhere", or there is none`,
		"amqp://u:hush@127.0.0.1:1":                                     "connection refused",
		"amqps://u:hush@" + srv.Addr():                                  "TLS: ",
		"amqp://u:hush@" + deaf.Addr().String() + "?dial_timeout=100ms": "no answer within 100ms",
	} {
		a, err := broker.Parse(target)
		require.NoError(t, err, target)
		_, err = a.Dial(t.Context(), "test", broker.Line{})
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
		assert.NotEmpty(t, fault.HintOf(err))
		for _, text := range []string{err.Error(), fault.HintOf(err), a.String(), fmt.Sprintf("%v %+v %#v", a, a, a)} {
			assert.NotContains(t, text, "hush")
		}
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	srv := labtest.RabbitMQTLS(t, labtest.TLSOptions{ClientAuth: true})
	a, err := broker.Parse(srv.URL())
	require.NoError(t, err)
	c, err := a.Dial(t.Context(), "test", broker.Line{})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	a, err = broker.Parse("amqps://" + srv.Addr() + "?ca=" + srv.CA)
	require.NoError(t, err)
	_, err = a.Dial(t.Context(), "test", broker.Line{})
	assert.Error(t, err, "it wants a certificate")
}

func TestWhatIsNoBroker(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"redis://h":                              "redis: this is not a broker",
		"amqp://h?tsl=1":                         `amqp: unknown parameter "tsl"`,
		"amqp://h?ca=/nope":                      "amqp: ca has no meaning without TLS",
		"amqp://h?management=h:15672":            "management: this is not the URL of a management plugin",
		"amqp://h?management=http://u:p@h:15672": "management: this is not the URL of a management plugin",
	} {
		_, err := broker.Parse(target)
		require.EqualError(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}
