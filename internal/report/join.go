package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Document is a document to be made: of one run, or of several if the format joins them.
type Document struct {
	Format rundir.Format
	Runs   []*rundir.Folder
}

// Plan returns the documents that runs have in the formats with these ids: one for all
// runs of a profile if the format can join them, otherwise one per run. Runs are
// ordered by when they began.
func Plan(formats []rundir.Format, ids []string, runs []*rundir.Folder) ([]Document, error) {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *rundir.Folder) int { return a.Run.Started.Compare(b.Run.Started) })
	var parts []Document
	for _, id := range ids {
		for _, f := range runs {
			picked, err := rundir.Pick(formats, []string{id}, f.Run.Profile)
			if err != nil {
				return nil, err
			}
			at := slices.IndexFunc(parts, func(p Document) bool {
				return p.Format.ID == picked[0].ID && p.Format.Join != nil && picked[0].Join != nil && p.Runs[0].Run.Profile == f.Run.Profile
			})
			if at < 0 {
				parts = append(parts, Document{picked[0], []*rundir.Folder{f}})
				continue
			}
			parts[at].Runs = append(parts[at].Runs, f)
		}
	}
	return parts, nil
}

// Joined reports whether the document is one for all runs.
func (p Document) Joined() bool { return p.Format.Join != nil }

// files makes the document.
func (p Document) files() ([]rundir.File, error) {
	if !p.Joined() {
		return encode(p.Runs[0], p.Format)
	}
	files, err := p.Format.Join(p.Runs)
	if err != nil {
		return nil, fmt.Errorf("format %s of %d runs: %w", p.Format.ID, len(p.Runs), err)
	}
	return files, nil
}

// WriteJoined writes a document of several runs into dir, which is created if missing,
// and returns the names of its files.
func WriteJoined(p Document, dir string) ([]string, error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.Input(fmt.Errorf("write documents to %s: %w", dir, err), "name another folder")
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name
	}
	return names, rundir.WriteFiles(dir, files)
}

// PrintAll writes documents to w one after the other. If there are several files, each
// follows a line with its name and, for a document of a single run, that run. Plans of several runs
// are one plan of all.
func PrintAll(w io.Writer, parts []Document) error {
	type named struct {
		name string
		data []byte
	}
	var all []named
	var errs []error
	if len(parts) > 1 && !slices.ContainsFunc(parts, func(p Document) bool { return p.Format.ID != planFormat.ID }) {
		var runs []*rundir.Folder
		for _, p := range parts {
			runs = append(runs, p.Runs...)
		}
		_, err := w.Write(PlanOf(runs))
		return err
	}
	for _, p := range parts {
		files, err := p.files()
		errs = append(errs, err)
		for _, f := range files {
			name := f.Name
			if !p.Joined() && len(parts) > 1 {
				name = p.Runs[0].Run.ID + "/" + name
			}
			all = append(all, named{name, f.Data})
		}
	}
	for i, f := range all {
		sep := ""
		if len(all) > 1 {
			sep = "==> " + f.name + " <==\n"
		}
		if i > 0 {
			sep = "\n" + sep
		}
		if _, err := io.WriteString(w, sep+string(f.data)); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}
