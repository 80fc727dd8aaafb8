package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// folderHint describes the folder of a model loader.
const folderHint = "name the folder that a model loader wrote, with users/0.txt and worlds/0.txt or groups/0.txt in it"

// Folder is the output of a model loader of either generation: the files of the batches
// in order.
type Folder struct {
	dir           string
	users, groups []string
}

// Open finds the files of a folder, of all batches or of those listed. If a batch in
// between is missing, the copy is incomplete, which is an error.
func Open(dir, batches string, withGroups bool) (*Folder, error) {
	if info, err := os.Stat(filepath.Join(dir, "scripts")); err == nil && info.IsDir() {
		dir = filepath.Join(dir, "scripts")
	}
	f := &Folder{dir: dir}
	var err error
	if f.users, err = batchFiles(dir, "users", batches); err != nil || !withGroups {
		return f, err
	}
	kind := "groups"
	if _, err := os.Stat(filepath.Join(dir, "worlds")); err == nil {
		kind = "worlds"
	}
	if f.groups, err = batchFiles(dir, kind, batches); err != nil {
		return f, err
	}
	if len(f.users) != len(f.groups) {
		return f, fault.Input(fmt.Errorf("%s: %d batches of users and %d of %s: the folder is incomplete", dir, len(f.users), len(f.groups), kind),
			"copy it again, or choose batches that are there, --set batches=0")
	}
	return f, nil
}

// batchFiles lists the files of one kind.
func batchFiles(dir, kind, batches string) ([]string, error) {
	numbers, err := BatchNumbers(batches)
	if err != nil {
		return nil, err
	}
	if numbers == nil {
		if numbers, err = numbersIn(filepath.Join(dir, kind)); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, n := range numbers {
		path := filepath.Join(dir, kind, strconv.Itoa(n)+".txt")
		if _, err := os.Stat(path); err != nil {
			return nil, fault.Input(fmt.Errorf("authz: %w", err), folderHint)
		}
		out = append(out, path)
	}
	return out, nil
}

// numbersIn returns the batches of a folder, from 0 to the last one.
func numbersIn(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Input(fmt.Errorf("authz: %w", err), folderHint)
	}
	most := 0
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".txt")
		if n, err := strconv.Atoi(name); ok && err == nil && n >= 0 && strconv.Itoa(n) == name {
			most = max(most, n)
		}
	}
	var out []int
	for n := range min(most, maxBatches) + 1 {
		out = append(out, n)
	}
	return out, nil
}

const maxBatches = 10_000

// BatchNumbers parses "all", which gives nil, or "0,2".
func BatchNumbers(text string) ([]int, error) {
	if text = strings.TrimSpace(text); text == "" || text == "all" {
		return nil, nil
	}
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 || n > maxBatches || slices.Contains(out, n) {
			return nil, fault.Field("batches", fault.Input(fmt.Errorf("batches: %q is neither all nor a list of different batch numbers", text), "for example 0 or 0,2"))
		}
		out = append(out, n)
	}
	return out, nil
}

// State returns a value that changes if the files change.
func (f *Folder) State() (string, error) {
	var b strings.Builder
	for _, path := range slices.Concat(f.users, f.groups) {
		info, err := os.Stat(path)
		if err != nil {
			return "", fault.Input(fmt.Errorf("authz: %w", err), folderHint)
		}
		fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	return b.String(), nil
}

// lines calls f for each non-empty line of a file, with its number.
func lines(path string, f func(raw []byte, line int) error) error {
	file, err := infile.Open(infile.Batch, path)
	if err != nil {
		return fault.Input(fmt.Errorf("authz: %w", err), folderHint)
	}
	defer func() { _ = file.Close() }() // it was only read
	r := bufio.NewReaderSize(file, 1<<20)
	for n := 1; ; n++ {
		raw, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fault.Input(fmt.Errorf("%s:%d: %w", path, n, err), "nothing was loaded")
		}
		last := err != nil
		if n == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
		}
		if raw = bytes.TrimSpace(raw); len(raw) > 0 {
			if err := f(raw, n); err != nil {
				return fault.Input(fmt.Errorf("%s:%d: %w", path, n, err), "the file is damaged or cut short; nothing was loaded")
			}
		}
		if last {
			return nil
		}
	}
}
