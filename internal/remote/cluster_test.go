package remote

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// cluster starts a NATS of three servers.
func cluster(t *testing.T) (all []*server.Server) {
	t.Helper()
	routes := []*url.URL{{Scheme: "nats", Host: "127.0.0.1:1"}} // nobody: the first has to have one, too
	for i := range 3 {
		s := theirs(t, 0, t.TempDir(), func(o *server.Options) {
			o.ServerName, o.Cluster = "node"+strconv.Itoa(i), server.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: server.RANDOM_PORT}
			o.Routes = routes
		})
		routes = append(routes, &url.URL{Scheme: "nats", Host: s.ClusterAddr().String()})
		all = append(all, s)
	}
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(all, func(s *server.Server) bool { return s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == 3 })
	}, 5*time.Minute, 20*time.Millisecond, "they have found each other")
	return all
}

// sends has a worker tell of so many seconds from one on.
func sends(w *Worker, from, n int) {
	for i := range n {
		w.Outbox.Report(Report{Part: &measure.Increment{T: from + i}})
	}
}

// all checks that the reports of the first worker arrived once and in order.
func (k *taken) all(t *testing.T, n int) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	require.Len(t, k.from[0], n)
	for i, got := range k.from[0] {
		assert.EqualValues(t, i+1, got)
	}
}

// arrived waits until all that a worker reported is there.
func arrived(t *testing.T, c *Coordinator, w *Worker) {
	t.Helper()
	select {
	case <-c.Progress.Over(0):
	case <-time.After(5 * time.Minute):
		stream, err := c.Connection.js.Stream(t.Context(), c.Connection.on.stream)
		require.NoError(t, err, w.Cut())
		require.Fail(t, w.Cut(), "%+v", stream.CachedInfo())
	}
}

// A worker whose NATS answers but keeps nothing of what it sends says so, while it goes on
// trying and when it gives up.
func TestAStreamThatTakesNothingIsNamed(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	srv := theirs(t, 0, t.TempDir(), func(*server.Options) {})
	s := &Server{URL: srv.ClientURL()}
	c := on(t, s, "run", Options{})
	w, err := Join(t.Context(), JoinOptions{URL: s.URL, Version: "1"})
	require.NoError(t, err)
	assert.Empty(t, w.Cut())
	require.NoError(t, c.Connection.js.DeleteStream(t.Context(), c.Connection.on.stream))
	sends(w, 0, 1)
	require.Eventually(t, func() bool { return w.Cut() != "" }, time.Minute, 10*time.Millisecond)
	assert.Equal(t, "NATS at "+s.URL+" does not take what is measured: nats: no response from stream", w.Cut())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.EqualError(t, w.Leave(ctx), "not all of what was measured could be sent: nats: no response from stream")
}

// In a cluster each server has what workers send, so that none of it is lost with one of
// them, and the run goes on with the others.
func TestAClusterOfTheUserMayLoseAServer(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	nodes := cluster(t)
	k := &taken{}
	s := &Server{URL: nodes[0].ClientURL()}
	c := on(t, s, "run", Options{Received: k.take})
	w, err := Join(t.Context(), JoinOptions{URL: nodes[1].ClientURL(), Version: "1"})
	require.NoError(t, err)
	const many = 200
	sends(w, 0, many)
	leads := func(s *server.Server) bool {
		return s.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, c.Connection.on.stream)
	}
	require.Eventually(t, func() bool { return slices.ContainsFunc(nodes, leads) }, 5*time.Minute, 20*time.Millisecond)
	for _, n := range nodes {
		if leads(n) {
			n.Shutdown()
			n.WaitForShutdown()
			break
		}
	}
	sends(w, many, many)
	w.Outbox.Report(Report{Over: true})
	arrived(t, c, w)
	require.NoError(t, w.Leave(t.Context()))
	k.all(t, 2*many+1)
}

// A server ends the connection of who is too slow for it. Who it was comes back, and nothing
// is lost or counted twice.
func TestWhoIsThrownOutByNATSComesBack(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	srv := theirs(t, 0, t.TempDir(), func(*server.Options) {})
	k, slow := &taken{}, make(chan struct{})
	c := on(t, &Server{URL: srv.ClientURL()}, "run", Options{Received: func(worker int, r *Report) error {
		<-slow
		return k.take(worker, r)
	}})
	w, err := Join(t.Context(), JoinOptions{URL: srv.ClientURL(), Version: "1"})
	require.NoError(t, err)
	const many = 200
	sends(w, 0, many)
	for _, nc := range []interface{ GetClientID() (uint64, error) }{c.Connection.nc, w.nc} {
		id, err := nc.GetClientID()
		require.NoError(t, err)
		require.NoError(t, srv.DisconnectClientByID(id))
	}
	close(slow)
	sends(w, many, many)
	w.Outbox.Report(Report{Over: true})
	arrived(t, c, w)
	require.NoError(t, w.Leave(t.Context()))
	k.all(t, 2*many+1)
}

// certified is a certificate for this machine, and who vouches for it.
func certified(t *testing.T) (pair tls.Certificate, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	tmpl := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &tmpl, &tmpl, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool = x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// credentials are an operator's rights for an account with JetStream and one user: what the
// server is told, and the user's file.
func credentials(t *testing.T) (change func(o *server.Options), file string) {
	t.Helper()
	operator, err := nkeys.CreateOperator()
	require.NoError(t, err)
	account, err := nkeys.CreateAccount()
	require.NoError(t, err)
	user, err := nkeys.CreateUser()
	require.NoError(t, err)
	public := func(k nkeys.KeyPair) string {
		p, err := k.PublicKey()
		require.NoError(t, err)
		return p
	}
	system, err := nkeys.CreateAccount()
	require.NoError(t, err)
	itself, err := jwt.NewAccountClaims(public(system)).Encode(operator)
	require.NoError(t, err)
	rights := jwt.NewAccountClaims(public(account))
	rights.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	ours, err := rights.Encode(operator)
	require.NoError(t, err)
	us, err := jwt.NewUserClaims(public(user)).Encode(account)
	require.NoError(t, err)
	seed, err := user.Seed()
	require.NoError(t, err)
	text, err := jwt.FormatUserConfig(us, seed)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "user.creds")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return func(o *server.Options) {
		accounts := &server.MemAccResolver{}
		_ = accounts.Store(public(account), ours) // to memory
		_ = accounts.Store(public(system), itself)
		o.TrustedKeys, o.AccountResolver, o.SystemAccount = []string{public(operator)}, accounts, public(system)
	}, file
}

// A NATS of the user's may know us by credentials and want TLS.
func TestTheUsersOwnNATSKnowsUsByCredentialsOverTLS(t *testing.T) {
	t.Parallel()
	pair, pool := certified(t)
	operated, creds := credentials(t)
	srv := theirs(t, 0, t.TempDir(), func(o *server.Options) {
		operated(o)
		o.TLS, o.TLSConfig, o.TLSTimeout = true, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, 60
	})
	at := "tls://" + srv.Addr().String()
	_, err := Open(t.Context(), Options{NATS: &Server{URL: at, Authorities: pool}})
	assert.ErrorContains(t, err, "does not let us in")
	_, other := certified(t)
	_, err = Open(t.Context(), Options{NATS: &Server{URL: at, Creds: creds, Authorities: other}})
	assert.ErrorContains(t, err, "certificate")

	k := &taken{}
	c := on(t, &Server{URL: at, Creds: creds, Authorities: pool}, "run", Options{Received: k.take})
	join := JoinOptions{URL: at, Version: "1", Authorities: pool}
	_, err = Join(t.Context(), join)
	assert.Error(t, err)
	join.Creds = creds
	w, err := Join(t.Context(), join)
	require.NoError(t, err)
	sends(w, 0, 3)
	w.Outbox.Report(Report{Over: true})
	arrived(t, c, w)
	require.NoError(t, w.Leave(t.Context()))
	k.all(t, 4)
}
