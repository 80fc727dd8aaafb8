package remote

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// Identity is the certificate by which workers know a coordinator.
type Identity struct {
	// Fingerprint is the SHA-256 of the certificate, in hexadecimal.
	Fingerprint string
	// Signed says that somebody signed it whom workers trust; otherwise they go by its
	// fingerprint.
	Signed bool

	pair tls.Certificate
}

// ReadIdentity reads a certificate and its key from PEM files. Errors are of input.
func ReadIdentity(certFile, keyFile string) (*Identity, error) {
	cert, err := infile.Read(infile.Certificate, certFile)
	var key []byte
	if err == nil {
		key, err = infile.Read(infile.Certificate, keyFile)
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.X509KeyPair(cert, key)
	}
	if err != nil {
		return nil, fault.Field("tls-cert", fault.Input(fmt.Errorf("TLS certificate: %w", err), "give PEM files with --tls-cert and --tls-key"))
	}
	return &Identity{pair: pair, Fingerprint: fingerprint(pair.Certificate[0]), Signed: true}, nil
}

// ReadAuthorities reads those who may have signed the coordinator's certificate from a
// PEM file. Errors are of input.
func ReadAuthorities(path string) (*x509.CertPool, error) {
	data, err := infile.Read(infile.Certificate, path)
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(data) {
		err = fmt.Errorf("%s has no certificate", path)
	}
	if err != nil {
		return nil, fault.Field("tls-ca", fault.Input(fmt.Errorf("TLS authorities: %w", err), "give a PEM file with --tls-ca"))
	}
	return pool, nil
}

// NewIdentity makes a certificate for one run, which nobody has signed.
func NewIdentity() (*Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	tmpl := x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "perfbench"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 1, 0), DNSNames: []string{"perfbench"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, &tmpl, &tmpl, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &Identity{pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, Fingerprint: fingerprint(der)}, nil
}

// PEM is the certificate with its key, as a file has them.
func (id *Identity) PEM() ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(id.pair.PrivateKey)
	if err != nil {
		return nil, err
	}
	out := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: id.pair.Certificate[0]})
	return append(out, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...), nil
}

// fingerprint is the SHA-256 of a certificate, in hexadecimal.
func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// CheckFingerprint says what is wrong with a fingerprint.
func CheckFingerprint(text string) error {
	if raw, err := hex.DecodeString(plain(text)); err != nil || len(raw) != sha256.Size {
		return fault.Field("fingerprint", fault.Input(fmt.Errorf("fingerprint: %q is not the 64 hexadecimal digits of a SHA-256", text), "copy what the coordinator printed"))
	}
	return nil
}

func plain(text string) string { return strings.ToLower(strings.ReplaceAll(text, ":", "")) }

// errOther says that a coordinator is not the one that was meant.
var errOther = errors.New("the coordinator's certificate has another fingerprint than --fingerprint says")

// only trusts the certificate with that fingerprint and no other: it is known by that,
// not by a name or by who signed it.
func only(want string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, //nolint:gosec // the fingerprint is compared instead
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || subtle.ConstantTimeCompare([]byte(fingerprint(s.PeerCertificates[0].Raw)), []byte(plain(want))) != 1 {
				return errOther
			}
			return nil
		},
	}
}

// ReadToken reads the file of a token: its first line. Errors are of input.
func ReadToken(path string) (string, error) {
	data, err := infile.Read(infile.Secret, path)
	if err != nil {
		return "", fault.Field("token-file", fault.Input(fmt.Errorf("token file: %w", err), ""))
	}
	line, _, _ := strings.Cut(string(data), "\n")
	if line = strings.TrimSpace(line); len(line) < shortest {
		return "", fault.Field("token-file", fault.Input(fmt.Errorf("token file %s: its first line has %d characters, and a token %d at least", path, len(line), shortest), "make one with  openssl rand -hex 16"))
	}
	return line, nil
}

// shortest is how long a token must be not to be guessed.
const shortest = 16
