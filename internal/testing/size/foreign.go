package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ours begins the import paths of the packages that are ours.
const ours = "github.com/perfbench/perfbench/"

// foreign returns how many functions each package of ours compiles that come from a library:
// generic ones that are compiled again, and wrappers of their methods. Packages whose object
// file has fewer than least bytes are left out.
func foreign(least int64) (map[string]int, error) {
	// Not with output: what the tests have compiled need not be compiled again.
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ours+"cmd/perfbench").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	nm, err := exec.Command("go", "tool", "-n", "nm").Output() // once, not for each file
	if err != nil {
		return nil, fmt.Errorf("go tool nm: %w", err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		info, err := os.Stat(file)
		if !strings.HasPrefix(name, ours) || err != nil || info.Size() < least {
			continue
		}
		symbols, err := exec.Command(strings.TrimSpace(string(nm)), "-sort", "none", file).Output()
		if err != nil {
			return nil, fmt.Errorf("go tool nm %s: %w", file, err)
		}
		counts[name] = ofLibraries(symbols)
	}
	return counts, nil
}

// ofLibraries counts the functions in the output of go tool nm that are not ours, in whichever
// of our packages. Those that compare or hash a type are not of anybody.
func ofLibraries(symbols []byte) int {
	n := 0
	for in := bufio.NewScanner(bytes.NewReader(symbols)); in.Scan(); {
		f := strings.SplitN(strings.TrimSpace(in.Text()), " ", 3)
		if len(f) < 3 || !strings.EqualFold(f[1], "T") {
			continue
		}
		if !slices.ContainsFunc([]string{ours, "main.", "type:."}, func(p string) bool { return strings.HasPrefix(f[2], p) }) {
			n++
		}
	}
	return n
}
