//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Files have the URLs that browsers take, on Windows as well.
func TestTheURLOfAFile(t *testing.T) {
	for path, want := range map[string]string{
		"/home/me/a page/100%.html": "file:///home/me/a%20page/100%25.html",
		"/Users/me/répört.html":     "file:///Users/me/r%C3%A9p%C3%B6rt.html",
		"C:/Users/me/a#b.html":      "file:///C:/Users/me/a%23b.html",
		"//server/share/a.html":     "file://server/share/a.html",
	} {
		assert.Equal(t, want, fileURL(path), path)
	}
}

// A report is opened by what the system opens files with.
func TestTheCommandThatOpensAReport(t *testing.T) {
	opener := map[string]string{"darwin": "open"}[runtime.GOOS]
	if opener == "" {
		opener = "xdg-open"
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, opener), []byte("#!/bin/sh\necho \"$0 $1\"\n"), 0o755))
	t.Setenv("PATH", dir)
	var out bytes.Buffer
	require.NoError(t, File("/tmp/a page.html", &out))
	assert.Contains(t, out.String(), opener+" file:///tmp/a%20page.html")
}
