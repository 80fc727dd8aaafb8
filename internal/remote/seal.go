package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/workload"
)

// How a worker knows that it is the coordinator who tells it something: at a NATS of the user's,
// others may publish what they like. What tells a worker to do anything is signed, for a run, a
// worker and one time. What a worker says is not: it says it in its own name.

// Key signs what a coordinator tells workers.
type Key struct{ private ed25519.PrivateKey }

// NewKey makes a key, as for one run.
func NewKey() (*Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return &Key{private}, nil
}

// KeyIn reads a key like ReadKey. Where there is no such file it makes one, which only its
// owner may read.
func KeyIn(path string) (*Key, error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return ReadKey(path)
	}
	k, err := NewKey()
	var data []byte
	if err == nil {
		data, err = k.PEM()
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		return nil, fault.Field("coordinator-key", fault.Input(fmt.Errorf("coordinator-key: %w", err), ""))
	}
	return k, nil
}

// ReadKey reads a key from a file, as PEM. Errors are of input.
func ReadKey(path string) (*Key, error) {
	data, err := infile.Read(infile.Secret, path)
	if err != nil {
		return nil, fault.Field("coordinator-key", fault.Input(fmt.Errorf("coordinator-key: %w", err), ""))
	}
	block, _ := pem.Decode(data)
	if block != nil {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if private, ok := key.(ed25519.PrivateKey); ok {
				return &Key{private}, nil
			}
		}
	}
	return nil, fault.Field("coordinator-key", fault.Input(fmt.Errorf("coordinator-key: %s has no Ed25519 key", path), "name a file that is not there yet, and one is made"))
}

// PEM is the key as a file has it.
func (k *Key) PEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// Public is what workers know the key by: it lets nobody sign.
func (k *Key) Public() string {
	return base64.RawURLEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// CheckKey says what is wrong with what workers are to know a coordinator by.
func CheckKey(text string) error {
	if raw, err := base64.RawURLEncoding.DecodeString(text); err != nil || len(raw) != ed25519.PublicKeySize {
		return fault.Field("coordinator", fault.Input(fmt.Errorf("coordinator: %q is not the key of one", workload.PlainText(text, mostName)), "copy what follows # in the URL that the coordinator printed"))
	}
	return nil
}

// Headers of what is signed: the signature, and the number that tells it from other messages.
const (
	headerSignature = "Perfbench-Signature"
	headerNumber    = "Perfbench-Number"
)

// sealed is what is signed: for whom and what it is, with what it says.
func sealed(run, to, what, number string, data []byte) []byte {
	return append([]byte(fmt.Sprintf("perfbench %d\n%q\n%q\n%q\n%q\n", Protocol, run, to, what, number)), data...)
}

// seal signs a message to somebody.
func (k *Key) seal(run, to, what, number string, data []byte) nats.Header {
	return nats.Header{
		headerNumber:    {number},
		headerSignature: {base64.RawURLEncoding.EncodeToString(ed25519.Sign(k.private, sealed(run, to, what, number, data)))},
	}
}

// genuine says whether the owner of a key has signed a message to somebody.
func genuine(public, run, to, what string, m *nats.Msg) bool {
	key, err := base64.RawURLEncoding.DecodeString(public)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(m.Header.Get(headerSignature))
	return err == nil && ed25519.Verify(key, sealed(run, to, what, m.Header.Get(headerNumber), m.Data), signature)
}

// signer signs what the coordinator of a run says, and owns the numbers of what it signs.
type signer struct {
	key *Key
	run string
	n   atomic.Int64 // begins with the time, which is later for each coordinator
}

func newSigner(key *Key, run string) *signer {
	s := &signer{key: key, run: run}
	s.n.Store(time.Now().UnixNano())
	return s
}

// number is one that no message of this run had before.
func (s *signer) number() string { return strconv.FormatInt(s.n.Add(1), 36) }

// header signs a message to somebody.
func (s *signer) header(to, what, number string, data []byte) nats.Header {
	return s.key.seal(s.run, to, what, number, data)
}

// respond answers a message like answer, and signs what it says.
func (s *signer) respond(m *nats.Msg, to, what string, data []byte) {
	if isInbox(m.Reply) {
		_ = m.RespondMsg(&nats.Msg{Header: s.header(to, what, s.number(), data), Data: data})
	}
}

// me is the worker in what is signed for it.
func (w *Worker) me() string { return w.id + "." + strconv.Itoa(w.Place.Index) }

// bids says whether a message is of the coordinator that the worker has joined, and to it.
func (w *Worker) bids(what string, m *nats.Msg) bool {
	return genuine(w.key, w.Place.Run, w.me(), what, m)
}

// Trusted says whether the worker knows who commands it: by a key that it was given, or since
// nobody but the coordinator may command at the place where it is.
func (w *Worker) Trusted() bool {
	return w.told || strings.HasPrefix(w.nc.ConnectedServerName(), ownServer)
}
