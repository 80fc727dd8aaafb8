package labtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/lab"
)

// TLSServer is a server that speaks TLS and nothing else, with the PEM files that
// clients need.
type TLSServer struct {
	*Server
	CA   string // signed both sides
	Cert string // a client certificate that the server accepts
	Key  string // and its key
}

// TLSOptions says how a TLS server is started.
type TLSOptions struct {
	// ClientAuth makes the server refuse clients without a certificate; otherwise
	// certificates are optional.
	ClientAuth bool
	// Args are further arguments of redis-server's command line.
	Args []string
}

// RedisTLS starts a private redis-server that speaks TLS only, under a
// certificate for 127.0.0.1 and localhost that a new authority has signed. Its
// URL has ca=, and cert= and key= with ClientAuth.
func RedisTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "redis", o)
}

func startTLS(t testing.TB, service string, o TLSOptions) *TLSServer {
	t.Helper()
	files := Certificates(t)
	files.ClientAuth = o.ClientAuth
	return &TLSServer{
		Server: start(t, service, lab.Options{Args: o.Args, TLS: &files}),
		CA:     files.CA, Cert: files.ClientCert, Key: files.ClientKey,
	}
}

// MariaDBTLS starts a private MariaDB server that accepts TLS connections only.
func MariaDBTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "mariadb", o)
}

// PostgresTLS starts a private PostgreSQL server that accepts TLS connections only, and
// with ClientAuth only those with a certificate.
func PostgresTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "postgres", o)
}

// Certificates makes an authority and a server and a client certificate signed by it,
// valid for an hour, in a folder deleted with the test.
func Certificates(t testing.TB) lab.TLSFiles {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ca := issue(t, dir, "ca", nil)
	issue(t, dir, "server", ca)
	issue(t, dir, "client", ca)
	return lab.TLSFiles{
		CA:   at("ca.crt"),
		Cert: at("server.crt"), Key: at("server.key"),
		ClientCert: at("client.crt"), ClientKey: at("client.key"),
	}
}

// authority is a certificate that can sign others.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue writes NAME.crt and NAME.key, signed by the given authority or, if nil,
// as one of its own.
func issue(t testing.TB, dir, name string, by *authority) *authority {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("labtest: certificate %s: %v", name, err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	must(err)
	cert := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "perfbench test " + name},
		NotBefore:             time.Now().Add(-time.Minute),
		NotAfter:              time.Now().Add(time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:              []string{"localhost"},
		BasicConstraintsValid: true,
	}
	if by == nil {
		cert.IsCA, cert.KeyUsage, cert.ExtKeyUsage = true, x509.KeyUsageCertSign, nil
		cert.IPAddresses, cert.DNSNames = nil, nil
		by = &authority{cert, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, by.cert, &key.PublicKey, by.key)
	must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	path := filepath.Join(dir, name)
	must(os.WriteFile(path+".crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(os.WriteFile(path+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return &authority{cert, key}
}
