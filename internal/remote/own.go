package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// Server is a NATS with JetStream that the user has.
type Server struct {
	// URL has no secret in it.
	URL string `json:"url"`
	// Token, Creds and NKey are what it knows us by: a token, and files of credentials and
	// of the seed of an NKey; empty: none.
	Token string `json:"-"`
	Creds string `json:"creds,omitempty"`
	NKey  string `json:"nkey,omitempty"`
	// Authorities are those who may have signed its certificate; nil: it has none.
	Authorities *x509.CertPool `json:"-"`
}

// Check says what is wrong with the server as it was given; the error is of input.
func (s Server) Check() error {
	u, err := url.Parse(s.URL)
	bad := func(why, fix string) error {
		return fault.Field("nats", fault.Input(errors.New("nats: "+why), fix))
	}
	switch {
	case err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls":
		return bad(fmt.Sprintf("%q is not the URL of a NATS server", s.URL), "write it like nats://127.0.0.1:4222")
	case u.User != nil:
		return bad("a secret in the URL can be seen by others on this machine", "use --token-file, --nats-creds or --nats-nkey")
	case !Loopback(u.Hostname()) && s.Authorities == nil:
		return bad(u.Hostname()+" is another machine, and without TLS anybody on the way could send a plan", "add --tls-ca FILE with those who signed its certificate")
	}
	_, err = s.known()
	return err
}

// known are the options that say who we are.
func (s Server) known() ([]nats.Option, error) {
	switch {
	case s.Creds != "" && s.NKey != "":
		return nil, fault.Field("nats-nkey", fault.Input(errors.New("nats-nkey: there are credentials, too"), "leave --nats-creds or --nats-nkey out"))
	case s.Creds != "":
		if _, err := os.Stat(s.Creds); err != nil {
			return nil, fault.Field("nats-creds", fault.Input(fmt.Errorf("nats-creds: %w", err), ""))
		}
		return []nats.Option{nats.UserCredentials(s.Creds)}, nil
	case s.NKey != "":
		if _, err := os.Stat(s.NKey); err != nil {
			return nil, fault.Field("nats-nkey", fault.Input(fmt.Errorf("nats-nkey: %w", err), ""))
		}
		o, err := nats.NkeyOptionFromSeed(s.NKey)
		if err != nil {
			return nil, fault.Field("nats-nkey", fault.Input(fmt.Errorf("nats-nkey: %w", err), "give a file with the seed of an NKey"))
		}
		return []nats.Option{o}, nil
	}
	return nil, nil
}

// leastPayload is the least that a message may hold, in bytes: NATS's own default.
const leastPayload = 1 << 20

// use connects, and refuses a server that cannot carry a run whose order has that many
// bytes.
func (s Server) use(order int) (*nats.Conn, jetstream.JetStream, error) {
	known, err := s.known()
	if err != nil {
		return nil, nil, err
	}
	var secure *tls.Config
	if s.Authorities != nil {
		secure = &tls.Config{RootCAs: s.Authorities, MinVersion: tls.VersionTLS12}
	}
	nc, err := nats.Connect(s.URL, slices.Concat(options(s.Token, secure), known, []nats.Option{nats.Name("coordinator")})...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, nil, fault.Field("nats", fault.Input(fmt.Errorf("nats: %s does not let us in", s.URL), "give what it knows us by: --token-file, --nats-creds or --nats-nkey"))
	case err != nil:
		return nil, nil, fault.Store(fmt.Errorf("nats: connect to %s: %w", s.URL, err), "")
	}
	js, err := jetstream.New(nc)
	if err == nil {
		err = s.able(nc, js, order)
	}
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return nc, js, nil
}

// able says why a server cannot carry a run; nil: it can.
func (s Server) able(nc *nats.Conn, js jetstream.JetStream, order int) error {
	refuse := func(why, fix string) error {
		return fault.Code(fault.Field("nats", fault.Hint(fmt.Errorf("nats: %s %s", s.URL, why), fix)), fault.CodeStore)
	}
	if v := nc.ConnectedServerVersion(); tooOld(v) {
		return refuse("is version "+v+", which is too old", "use 2.10 or later, or leave --nats out: perfbench has a NATS in itself")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := js.AccountInfo(ctx); errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return refuse("has no JetStream", "start it with --jetstream, or allow this account to use it")
	} else if err != nil {
		return refuse("does not tell of its JetStream: "+err.Error(), "")
	}
	if needs := int64(max(leastPayload, 2*order)); nc.MaxPayload() < needs {
		return refuse(fmt.Sprintf("takes messages of %s at most, and this run needs %s", units.Size(nc.MaxPayload()), units.Size(needs)), "raise its max_payload")
	}
	return nil
}

// tooOld says that a version of NATS lacks what we use.
func tooOld(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor)
	return n == 2 && (major < 2 || major == 2 && minor < 10)
}
