package main

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/cli/browser"

	"github.com/perfbench/perfbench/internal/fault"
)

// fileURL is the URL of a file by its whole path with slashes.
func fileURL(path string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	u := url.URL{Scheme: "file", Path: path}
	if host, rest, ok := strings.Cut(strings.TrimPrefix(path, "//"), "/"); ok && strings.HasPrefix(path, "//") {
		u.Host, u.Path = host, "/"+rest // a share of Windows
	}
	return u.String()
}

// File shows a file. What the browser has to say while it starts goes to out.
func File(path string, out io.Writer) error {
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	browser.Stdout, browser.Stderr = out, out
	if err := browser.OpenURL(fileURL(filepath.ToSlash(whole))); err != nil {
		return fault.Hint(fmt.Errorf("open %s: %w", path, err), "no browser could be started here: open the file yourself")
	}
	return nil
}
