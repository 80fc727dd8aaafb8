package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Owed is a command of the user's that is to put right what another has broken, and was not run: its
// perfbench was killed, or the command failed.
type Owed struct {
	Broke []string  `json:"broke"` // the command that was run, as an argument list
	Heal  []string  `json:"heal"`  // the one that puts it right
	Dir   string    `json:"dir"`   // the folder that perfbench was started in
	Began time.Time `json:"began"` // when the first was run

	By   Process `json:"by"` // the perfbench that is to run it
	path string
}

// owedEnd is what the names of their files end with, in the folder owedDir of the lab.
const (
	owedDir = "commands"
	owedEnd = ".json"
)

// Owe notes, before a command of a fault is run, by which other what it breaks is put right. The
// command's environment is not written down. settled takes the note away once that has been done.
func Owe(dir string, broke, heal []string) (settled func(), err error) {
	folder := filepath.Join(dir, owedDir)
	at, err := os.Getwd()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return nil, err
	}
	me := os.Getpid()
	b, err := json.MarshalIndent(&Owed{
		Broke: broke, Heal: heal, Dir: at, Began: time.Now(), By: Process{Name: "perfbench", PID: me, Birth: Birth(me)},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, fmt.Sprintf("%d-*.new", me))
	if err != nil {
		return nil, err
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(f.Name(), ".new") + owedEnd
	if err := os.Rename(f.Name(), path); err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(path) }, nil // a note that stays asks for one heal too many
}

// AllOwed returns the commands below the lab's folder that are still to be run and that no living
// perfbench will run, the latest first, as what was broken last is to be put right first.
func AllOwed(dir string) ([]Owed, error) {
	paths, _ := filepath.Glob(filepath.Join(dir, owedDir, "*"+owedEnd)) // the pattern is right
	var all []Owed
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just been run
		}
		one := Owed{path: path}
		if err == nil {
			err = json.Unmarshal(b, &one)
		}
		if err == nil && len(one.Heal) == 0 {
			err = errors.New("it names no command")
		}
		if err != nil {
			return nil, fmt.Errorf("lab: %s: %w", path, err)
		}
		if !IsAlive(one.By) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Owed) int { return b.Began.Compare(a.Began) })
	return all, nil
}

// Settle notes that the command was run.
func (o *Owed) Settle() error { return os.Remove(o.path) }
