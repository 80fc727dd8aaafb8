package documents

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cli/browser"

	"github.com/perfbench/perfbench/cmd/perfbench/console"
	"github.com/perfbench/perfbench/cmd/perfbench/summary"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report/runpage"
	"github.com/perfbench/perfbench/internal/rundir"
)

// forPeople settles what --open and --against ask for: the format to open, and the run to
// compare with.
func (a command) forPeople(refs []string, runs string, o reportOptions) (reportOptions, error) {
	if o.open {
		switch {
		case len(refs) > 1:
			return o, fault.Input(fmt.Errorf("--open takes one run, not %d", len(refs)), "open them one after the other")
		case o.out == "-":
			return o, fault.Input(errors.New("--open shows a file, and --out - writes none"), "leave one of the two out")
		case !slices.Contains(o.formats, "html"):
			o.formats = append(o.formats, "html")
		}
	}
	if o.against == "" {
		return o, nil
	}
	if len(o.formats) == 0 && (!a.StdoutTerminal || o.out != "") {
		return o, fault.Input(errors.New("--against shows only in text, markdown and html, and none of these was asked for"), "add --format with text, markdown or html, or --open")
	}
	var err error
	o.earlier, err = a.loadRun(runs, o.against)
	return o, err
}

// show writes the summary of a run for who looks at a terminal, and how it compares to an
// earlier one.
func (a command) show(f *rundir.Folder) {
	fmt.Fprint(a.Stdout, console.Plain(summary.Text(&f.Run, ""), a.PoorLetters()))
	summary.Draw(a.Call, f, false)
	if text := runpage.Against(f); text != "" {
		fmt.Fprint(a.Stdout, "\n"+console.Plain(text, a.PoorLetters()))
	}
	fmt.Fprintf(a.Stdout, "\nkept in %s; --open shows it in the browser, --format writes documents\n", f.Dir)
}

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

// browse shows a file in the browser of this machine.
func (a command) browse(path string) error {
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	browser.Stdout, browser.Stderr = a.Stderr, a.Stderr
	if err := browser.OpenURL(fileURL(filepath.ToSlash(whole))); err != nil {
		return fault.Hint(fmt.Errorf("open %s: %w", path, err), "no browser could be started here: open the file yourself")
	}
	return nil
}
