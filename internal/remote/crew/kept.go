package crew

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
)

// What a coordinator keeps beside what workers send, so that another can go on in its place.
const (
	keptFile     = "order.json"
	notesFile    = "notes.jsonl"
	identityFile = "identity.pem"
	keyFile      = "key.pem"
)

// Files say where secrets are, which are not kept themselves: absolute paths, or empty.
type Files struct {
	Token       string `json:"token,omitempty"`
	WatchToken  string `json:"watch_token,omitempty"`
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key,omitempty"`
	Authorities string `json:"authorities,omitempty"`
}

// Kept is what a coordinator needs that goes on in the place of one that died.
type Kept struct {
	// Version is that of perfbench.
	Version string          `json:"version"`
	Run     string          `json:"run"`
	Order   remote.Order    `json:"order"`
	Past    remote.Restored `json:"past"`
	// Workers, Listen, NATS, Patience and OnLoss are those of the Ask.
	Workers  int            `json:"workers"`
	Listen   string         `json:"listen,omitempty"`
	NATS     *remote.Server `json:"nats,omitempty"`
	Patience time.Duration  `json:"patience_ns,omitempty"`
	OnLoss   string         `json:"on_loss,omitempty"`
	// SelfSigned says that the certificate was made for the run; it is beside this file.
	SelfSigned bool  `json:"self_signed,omitempty"`
	Files      Files `json:"files"`
	// Job is what the run itself needs, in its own words.
	Job json.RawMessage `json:"job"`

	key string // the file of what the coordinator signs with
}

// Keep writes down what another coordinator would need, and job with it. The run has begun.
func (c *Crew) Keep(job any) error {
	data, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("keep the order: %w", err)
	}
	a := c.ask
	k := Kept{
		Version: a.Version, Run: c.run, Order: c.order, Past: c.Coordinator.Roster.Past(), Workers: c.n, Patience: a.Patience, OnLoss: a.OnLoss, Files: a.Files, Job: data,
	}
	if err := c.folder.make(); err != nil {
		return fmt.Errorf("keep the order: %w", err)
	}
	switch {
	case a.NATS != nil:
		k.NATS = &remote.Server{URL: a.NATS.URL, Creds: a.NATS.Creds, NKey: a.NATS.NKey}
	default:
		k.Listen = c.Coordinator.Connection.Addr()
		k.SelfSigned = a.Identity != nil && !a.Identity.Signed
	}
	if k.SelfSigned {
		pem, err := a.Identity.PEM()
		if err == nil {
			err = c.folder.write(identityFile, pem)
		}
		if err != nil {
			return fmt.Errorf("keep the certificate: %w", err)
		}
	}
	if data, err = c.Coordinator.Key().PEM(); err == nil {
		err = c.folder.write(keyFile, data)
	}
	if err != nil {
		return fmt.Errorf("keep the key: %w", err)
	}
	if data, err = json.MarshalIndent(k, "", "  "); err == nil {
		err = c.folder.write(keptFile, data)
	}
	if err != nil {
		return fmt.Errorf("keep the order: %w", err)
	}
	return nil
}

// ReadKept reads what the coordinator of a run, whose folder it is given, kept for another,
// and what it noted.
func ReadKept(dir string) (*Kept, []json.RawMessage, error) {
	dir = filepath.Join(dir, "stream")
	data, err := os.ReadFile(filepath.Join(dir, keptFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fault.Input(errors.New("no workers were at work on it: only a run of workers goes on while its coordinator is dead"), "perfbench report shows what it had come to; run it again")
	}
	var k Kept
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		return nil, nil, fault.Input(fmt.Errorf("what its coordinator kept cannot be read: %w", err), "")
	}
	var notes []json.RawMessage
	data, err = os.ReadFile(filepath.Join(dir, notesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fault.Input(fmt.Errorf("what its coordinator noted cannot be read: %w", err), "")
	}
	for line := range bytes.Lines(data) {
		if n := (dealt{}); json.Unmarshal(line, &n) == nil && n.Dealt > 0 {
			return nil, nil, fault.Input(fmt.Errorf("what worker %d had left to do was dealt to another, and what came of that died with its coordinator", n.Dealt), "perfbench report shows what it had come to; run it again")
		}
		if json.Valid(line) {
			notes = append(notes, json.RawMessage(line))
		}
	}
	if k.SelfSigned {
		k.Files.Certificate = filepath.Join(dir, identityFile)
		k.Files.Key = k.Files.Certificate
	}
	k.key = filepath.Join(dir, keyFile)
	return &k, notes, nil
}

// Ask is what was asked for, with the secrets as their files have them.
func (k *Kept) Ask() (Ask, error) {
	a := Ask{Workers: k.Workers, Listen: k.Listen, NATS: k.NATS, Patience: k.Patience, OnLoss: k.OnLoss, Files: k.Files, past: &k.Past}
	var err error
	if a.Key, err = remote.ReadKey(k.key); err != nil {
		return a, err
	}
	if k.Files.Certificate != "" {
		if a.Identity, err = remote.ReadIdentity(k.Files.Certificate, k.Files.Key); err != nil {
			return a, err
		}
		a.Identity.Signed = !k.SelfSigned
	}
	if k.Files.Token != "" {
		if a.Token, err = remote.ReadToken(k.Files.Token); err != nil {
			return a, err
		}
	}
	if k.Files.WatchToken != "" {
		if a.WatchToken, err = remote.ReadToken(k.Files.WatchToken); err != nil {
			return a, err
		}
	}
	if a.NATS != nil {
		a.NATS.Token = a.Token
		if k.Files.Authorities != "" {
			a.NATS.Authorities, err = remote.ReadAuthorities(k.Files.Authorities)
		}
	}
	return a, err
}

// Leave ends the crew and leaves what it kept, for another to go on with.
func (c *Crew) Leave() {
	if c == nil {
		return
	}
	c.end(func() { c.Coordinator.Leave() })
}
