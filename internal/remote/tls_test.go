package remote

import (
	"crypto/x509"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// Where a coordinator is there and TLS does not come about, what to do is about that.
func TestWhoCannotJoinByTLSIsToldWhatHelps(t *testing.T) {
	t.Parallel()
	id, err := NewIdentity()
	require.NoError(t, err)
	with, without := open(t, Options{Workers: 1, Identity: id}), open(t, Options{Workers: 1})
	wrong := strings.Repeat("ab", 32)
	for _, tt := range []struct {
		at        *Coordinator
		scheme    string
		o         JoinOptions
		why, help string
	}{
		{with, "tls://", JoinOptions{Fingerprint: wrong}, "has another fingerprint than --fingerprint says", "copy the fingerprint that the coordinator printed"},
		{with, "nats://", JoinOptions{Fingerprint: wrong}, "has another fingerprint than --fingerprint says", "copy the fingerprint that the coordinator printed"},
		{with, "nats://", JoinOptions{}, "the coordinator wants TLS", "use tls:// with --fingerprint"},
		{with, "tls://", JoinOptions{Authorities: x509.NewCertPool()}, "certificate", "with --tls-ca, or use --fingerprint"},
		{without, "tls://", JoinOptions{Fingerprint: wrong}, "the coordinator has no TLS", "start it with --tls-self-signed"},
	} {
		_, host, _ := strings.Cut(tt.at.Connection.URL(), "://")
		o := tt.o
		o.URL, o.Version = tt.scheme+host, "1"
		_, err := Join(t.Context(), o)
		assert.ErrorContains(t, err, tt.why)
		assert.Contains(t, fault.HintOf(err), tt.help, "%v", err)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

// --wait is named only to those who have it.
func TestWhoFindsNobodyIsToldToWaitIfThatCanBeSaid(t *testing.T) {
	t.Parallel()
	o := JoinOptions{URL: "nats://127.0.0.1:1"}
	_, err := Join(t.Context(), o)
	assert.Contains(t, fault.HintOf(err), "--wait")
	_, err = Watch(t.Context(), o)
	assert.Equal(t, "start perfbench run … --workers N there first", fault.HintOf(err))
}
