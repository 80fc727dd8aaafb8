package padogrid

import (
	"fmt"

	"github.com/perfbench/perfbench/internal/rundir"
)

// CSVFormatID is the id of the tables of create_csv.
const CSVFormatID = "padogrid-csv"

// CSVFormat returns the format of the table that create_csv makes from a program's
// texts, given the format of those texts.
func CSVFormat(program string, texts rundir.Format) rundir.Format {
	return rundir.Format{
		ID: CSVFormatID, Title: "PadoGrid's create_csv of the " + program + " texts", Profile: texts.Profile, Names: []string{CSVName(program)},
		Doc:    fmt.Sprintf(csvDoc, program, CSVName(program), string(CSV(program, nil))),
		Encode: func(f *rundir.Folder) ([]rundir.File, error) { return tableOf(program, texts, []*rundir.Folder{f}) },
		Join:   func(fs []*rundir.Folder) ([]rundir.File, error) { return tableOf(program, texts, fs) },
	}
}

// tableOf makes one table from the texts of all runs, or none if there are no texts.
func tableOf(program string, texts rundir.Format, runs []*rundir.Folder) ([]rundir.File, error) {
	var list []Text
	for _, f := range runs {
		files := f.Found
		if files == nil {
			var err error
			if files, err = texts.Encode(f); err != nil {
				return nil, err
			}
		}
		for _, x := range files {
			list = append(list, Text{Name: x.Name, Data: x.Data})
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return []rundir.File{{Name: CSVName(program), Data: CSV(program, list)}}, nil
}

const csvDoc = "# padogrid-csv (%s): the table of PadoGrid's create_csv\n\n" +
	"`%s`: one row per text. The table is what PadoGrid's own script would make\n" +
	"of the run's texts, in the order in which they were written. If you give several runs\n" +
	"to report, they make one table, as the texts in a folder do for the script; so do runs\n" +
	"and folders of PadoGrid's own texts, in either layout. Fields are separated by a comma\n" +
	"and a blank, without quotes: a comma in a comment or in a list of operations makes extra\n" +
	"columns, and of a comment with a colon only the end is left. The header has the oddities\n" +
	"of the original:\n\n```\n%s```\n"
