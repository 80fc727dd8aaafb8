package padogrid

import (
	"fmt"

	"github.com/perfbench/perfbench/internal/rundir"
)

// CSVFormatID is the id of the tables of create_csv.
const CSVFormatID = "padogrid-csv"

// CSVFormat returns the format of the table that create_csv makes of a program's
// texts, given the format that writes those.
func CSVFormat(program string, texts rundir.Format) rundir.Format {
	return rundir.Format{
		ID: CSVFormatID, Title: "PadoGrid's create_csv of the " + program + " texts", Profile: texts.Profile,
		Doc:    fmt.Sprintf(csvDoc, program, CSVName(program), string(CSV(program, nil))),
		Encode: func(f *rundir.Folder) ([]rundir.File, error) { return tableOf(program, texts, []*rundir.Folder{f}) },
		Join:   func(fs []*rundir.Folder) ([]rundir.File, error) { return tableOf(program, texts, fs) },
	}
}

// tableOf makes one table of the texts of all runs; none where none has a text.
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

const csvDoc = "# padogrid-csv (%s): the table of PadoGrid's create_csv\n\n`%s`: one row a text, made of the run's texts as PadoGrid's own script makes it, in\n" +
	"the order of their writing. Several runs given to report make one table, as the\nscript makes of a folder; so do runs and folders of PadoGrid's own texts, of either layout. Fields have a comma and a blank between and no quotes, so\nthat a comma in a comment or a list of operations makes columns more; of a\n" +
	"comment with a colon only the end is left. The header, with the oddities of the\noriginal:\n\n```\n%s```\n"
