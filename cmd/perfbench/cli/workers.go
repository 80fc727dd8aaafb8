package cli

import (
	"cmp"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
)

// Workers is what was asked of other processes that do the work.
type Workers struct {
	n                 int
	listen, tokenFile string
	watchTokenFile    string
	selfSigned        bool
	tlsCert, tlsKey   string
	tlsCA             string
	nats, creds, nkey string
	keyFile           string
	patience          time.Duration
	onLoss            string

	mu   sync.Mutex
	key  *remote.Key      // the same for all runs of this process, too
	made *remote.Identity // of --tls-self-signed, the same for all runs of this process
}

// Register adds the flags to a command.
func (w *Workers) Register(c *cobra.Command) {
	fs := c.Flags()
	fs.IntVar(&w.n, "workers", 0, "`N`: have N processes do the work, which join with perfbench join")
	fs.StringVar(&w.listen, "listen", "", "`ADDR` where workers join (default "+remote.DefaultListen+"); beyond this machine it takes the next two, too")
	fs.StringVar(&w.tokenFile, "token-file", "", "`FILE` whose first line is a token that workers must bring")
	fs.StringVar(&w.watchTokenFile, "watch-token-file", "", "`FILE` whose first line is a token that lets others watch the run, and nothing else")
	fs.BoolVar(&w.selfSigned, "tls-self-signed", false, "let workers in by TLS only; prints the fingerprint that they are given")
	fs.StringVar(&w.tlsCert, "tls-cert", "", "`FILE` with a certificate to let workers in by, and who signed it, as PEM")
	fs.StringVar(&w.tlsKey, "tls-key", "", "`FILE` with the key of --tls-cert, as PEM")
	fs.StringVar(&w.nats, "nats", "", "`URL` of a NATS with JetStream of yours, which workers join instead of --listen")
	fs.StringVar(&w.creds, "nats-creds", "", "`FILE` with credentials for --nats")
	fs.StringVar(&w.nkey, "nats-nkey", "", "`FILE` with the seed of an NKey for --nats")
	fs.StringVar(&w.keyFile, "coordinator-key", "", "`FILE` with the key by which workers know this coordinator at --nats, made if there is none (default: another key each time)")
	fs.StringVar(&w.tlsCA, "tls-ca", "", "`FILE` with those who may have signed the certificate of --nats, as PEM")
	fs.DurationVar(&w.patience, "patience", 0, "`D`: how long a silent worker is waited for (default "+units.Duration(remote.DefaultPatience)+")")
	fs.StringVar(&w.onLoss, "on-loss", "", "`WHAT` comes of a run that loses a worker: degrade (default), where the others go on; redeal, where they take on what it had to do; or end")
	Group(fs, Together, "workers", "listen", "token-file", "watch-token-file", "tls-self-signed", "tls-cert", "tls-key", "nats", "nats-creds", "nats-nkey", "coordinator-key", "tls-ca", "patience", "on-loss")
}

// Asked says whether there are to be workers. Those of nil are not.
func (w *Workers) Asked() bool { return w.N() != 0 }

// N is how many there are to be.
func (w *Workers) N() int {
	if w == nil {
		return 0
	}
	return w.n
}

// Check refuses flags that say nothing without workers.
func (w *Workers) Check() error {
	signed := w.tlsCert != "" || w.tlsKey != ""
	own := w.nats != "" || w.keyFile != "" || w.creds != "" || w.nkey != "" || w.tlsCA != ""
	switch {
	case !w.Asked() && (own || w.listen != "" || w.tokenFile != "" || w.watchTokenFile != "" || w.selfSigned || signed || w.patience != 0 || w.onLoss != ""):
		return fault.Field("workers", fault.Input(errors.New("workers: --listen, --nats, --token-file, --patience, --on-loss and --tls-… are for workers, and this run has none"), "say how many with --workers N"))
	case own && w.nats == "":
		return fault.Field("nats", fault.Input(errors.New("nats: --nats-creds, --nats-nkey, --coordinator-key and --tls-ca are for your own NATS server, and none was named"), "give its URL with --nats"))
	case w.watchTokenFile != "" && (own || w.tokenFile == ""):
		return fault.Field("watch-token-file", fault.Input(errors.New("watch-token-file: it is for those who may not work, and without --token-file anybody may, or your own NATS says who"), "add --token-file, or leave it out"))
	case own && (w.listen != "" || w.selfSigned || signed):
		return fault.Field("nats", fault.Input(errors.New("nats: workers join there, and --listen, --tls-self-signed, --tls-cert and --tls-key are about joining here"), "leave one of them out"))
	case w.selfSigned && signed:
		return fault.Field("tls-cert", fault.Input(errors.New("TLS certificate: there is one, and --tls-self-signed asks for another"), "leave one of them out"))
	case signed && (w.tlsCert == "" || w.tlsKey == ""):
		return fault.Field("tls-cert", fault.Input(errors.New("TLS certificate: it takes a certificate and its key"), "give both --tls-cert and --tls-key"))
	}
	return nil
}

// Of returns p, which is a run by itself, with workers where there are to be any. Errors are
// of input.
func (w *Workers) Of(p *session.Prepared) (*session.Prepared, error) { return w.in(nil, p) }

// in is Of for a run of a line.
func (w *Workers) in(line *crew.Relay, p *session.Prepared) (*session.Prepared, error) {
	if !w.Asked() || p == nil {
		return p, nil
	}
	a := crew.Ask{Workers: w.n, Listen: cmp.Or(w.listen, remote.DefaultListen), Patience: w.patience, OnLoss: w.onLoss, Line: line}
	a.Files = crew.Files{Token: absolute(w.tokenFile), WatchToken: absolute(w.watchTokenFile), Certificate: absolute(w.tlsCert), Key: absolute(w.tlsKey), Authorities: absolute(w.tlsCA)}
	var err error
	switch {
	case w.selfSigned:
		a.Identity, err = w.identity()
	case w.tlsCert != "":
		a.Identity, err = remote.ReadIdentity(w.tlsCert, w.tlsKey)
	}
	if err != nil {
		return nil, err
	}
	if a.Key, err = w.signs(); err != nil {
		return nil, err
	}
	if w.tokenFile != "" {
		if a.Token, err = remote.ReadToken(w.tokenFile); err != nil {
			return nil, err
		}
	}
	if w.watchTokenFile != "" {
		if a.WatchToken, err = remote.ReadToken(w.watchTokenFile); err != nil {
			return nil, err
		}
	}
	if w.nats != "" {
		a.NATS = &remote.Server{URL: w.nats, Token: a.Token, Creds: absolute(w.creds), NKey: absolute(w.nkey)}
		if w.tlsCA != "" {
			if a.NATS.Authorities, err = remote.ReadAuthorities(w.tlsCA); err != nil {
				return nil, err
			}
		}
	}
	return p.WithWorkers(a)
}

// identity makes the certificate of --tls-self-signed, once.
func (w *Workers) identity() (*remote.Identity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	if w.made == nil {
		w.made, err = remote.NewIdentity()
	}
	return w.made, err
}

// signs makes or reads the key that signs what workers are told, once.
func (w *Workers) signs() (*remote.Key, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	switch {
	case w.key != nil:
	case w.keyFile != "":
		w.key, err = remote.KeyIn(w.keyFile)
	default:
		w.key, err = remote.NewKey()
	}
	return w.key, err
}

// absolute is a path that holds in another folder, too; empty stays so.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		return abs
	}
	return path
}
