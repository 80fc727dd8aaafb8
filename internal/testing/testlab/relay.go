package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// relay tells a person what .ci/servers installs; the rest, which is apt's, goes to the
// file with the whole output.
func (l *lab) relay(from io.Reader, whole io.Writer) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if line := lines.Text(); strings.HasPrefix(line, "installing ") || strings.HasPrefix(line, "could not install ") {
			l.say("%s", line)
		} else {
			fmt.Fprintln(whole, line)
		}
	}
}
