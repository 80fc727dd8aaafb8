// Package report writes finished runs as documents. Each format is a value with its
// documentation and a pure function of a run's folder. The documents of single profiles
// are defined beside the profiles and are passed in by the command.
//
// Those for people are a Page, which can be rendered as text, Markdown and HTML; RunPage
// lays out a run as one, with a file for each part of the page.
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

// All returns the formats of every profile, in display order, followed by the given
// formats of single profiles.
func All(own ...rundir.Format) []rundir.Format {
	return append([]rundir.Format{
		jsonFormat, csvFormat, storeFormat, hlogFormat, hgrmFormat,
		textFormat, markdownFormat, htmlFormat, junitFormat, baselineFormat, planFormat, ycsbFormat, memtierFormat,
	}, own...)
}

// Write writes the documents of a run and its notices into dir, which is created if
// missing. dir "" is the run's own folder, whose run.json, series.csv, store.csv and
// latency.hlog are left as they are. It returns the names of the formats' files,
// whether written or already there. A format that fails does not affect the others; the
// errors are joined.
func Write(f *rundir.Folder, formats []rundir.Format, dir string) ([]string, error) {
	if dir == "" {
		if err := f.Writable(); err != nil {
			return nil, err
		}
		dir = f.Dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.Input(fmt.Errorf("write documents to %s: %w", dir, err), "name another folder")
	}
	var errs []error
	errs = append(errs, rundir.WriteNotice(dir, f))
	if dir != f.Dir && f.Given != nil {
		errs = append(errs, rundir.KeepFacts(dir, f.Given)) // the source of a document goes with it
	}
	var names []string
	for _, format := range formats {
		files, err := encode(f, format)
		if err == nil {
			err = rundir.WriteFiles(dir, slices.DeleteFunc(slices.Clone(files), func(file rundir.File) bool {
				return dir == f.Dir && source(file.Name)
			}))
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, file := range files {
			names = append(names, file.Name)
		}
	}
	return names, errors.Join(errs...)
}

// source reports whether a file is one of those that all documents are made from.
func source(name string) bool {
	return slices.Contains([]string{rundir.RunFile, rundir.SeriesFile, rundir.SamplesFile, rundir.HlogFile, rundir.FactsFile}, name)
}

// Print writes one document of a run to w. If a format has several files, they follow
// each other, each after a line with its name.
func Print(w io.Writer, f *rundir.Folder, format rundir.Format) error {
	files, err := encode(f, format)
	if err != nil {
		return err
	}
	for i, file := range files {
		if len(files) > 1 {
			sep := "==> " + file.Name + " <==\n"
			if i > 0 {
				sep = "\n" + sep
			}
			if _, err := io.WriteString(w, sep); err != nil {
				return err
			}
		}
		if _, err := w.Write(file.Data); err != nil {
			return err
		}
	}
	return nil
}

func encode(f *rundir.Folder, format rundir.Format) ([]rundir.File, error) {
	if format.Profile != "" && format.Profile != f.Run.Profile {
		return nil, fault.Input(fmt.Errorf("format %s is a document of profile %s, and run %s is of %s", format.ID, format.Profile, f.Run.ID, f.Run.Profile), "")
	}
	files, err := format.Documents(f)
	if err != nil {
		err = fmt.Errorf("format %s of run %s: %w", format.ID, f.Run.ID, err)
		if errors.Is(err, rundir.ErrDamaged) {
			err = fault.Input(err, "run.json is damaged; restore it from a copy")
		}
		return nil, err
	}
	return files, nil
}
