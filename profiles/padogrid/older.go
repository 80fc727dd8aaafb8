package padogrid

import (
	"regexp"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// OlderFormatID is the id of the texts in the layout of version 0.9.17 and earlier.
const OlderFormatID = "padogrid-old"

// renamed are the labels renamed in 0.9.18, with the older wording second.
var renamed = [][2]string{
	{"Max Time (msec)", "Max time (msec)"},
	{"**Total Volume (KiB)", "**Total Volume (MiB)"}, // the older wording is wrong: the value is in KiB
}

// onlyTx was renamed only in the texts of tx.
var onlyTx = [2]string{"Total Entry Count Per Run", "Total Entry Count per Run"}

var stamp = regexp.MustCompile(`-\d{6}-\d{6}`)

// Older returns a result text as releases up to 0.9.17 wrote it, which is the form of
// the samples in the original's documentation: without the product in the name and in
// the header, and with some labels worded differently.
func Older(t Text, program, product string) Text {
	name := t.Name
	if at := stamp.FindAllStringIndex(name, -1); at != nil {
		from := at[0][0]
		name = strings.TrimSuffix(name[:from], "-"+product) + name[from:]
	}
	names := renamed
	if program == "tx" {
		names = append(names[:len(names):len(names)], onlyTx)
	}
	var b strings.Builder
	seen := false
	for l := range strings.Lines(string(t.Data)) {
		label, rest, _ := strings.Cut(l, ": ")
		bare := strings.TrimSpace(label)
		if bare == "Product" && !seen {
			seen = true
			continue
		}
		for _, n := range names {
			if bare == n[0] {
				l = strings.TrimSuffix(label, n[0]) + n[1] + ": " + rest
			}
		}
		b.WriteString(l)
	}
	return Text{name, []byte(b.String())}
}

// newer returns the current label of a line, given the label before it: of two
// successive volumes in MiB, the first is the one in KiB.
func newer(label, after string) string {
	switch {
	case label == "Max time (msec)":
		return "Max Time (msec)"
	case label == "**Total Volume (MiB)" && after != "**Total Volume (KiB)":
		return "**Total Volume (KiB)"
	case label == onlyTx[1]:
		return onlyTx[0]
	}
	return label
}

// OlderFormat returns the format of a program's texts in the older layout, given the
// current format.
func OlderFormat(program string, texts rundir.Format) rundir.Format {
	return rundir.Format{
		ID: OlderFormatID, Title: "the " + program + " texts as PadoGrid 0.9.17 and older", Profile: texts.Profile, Doc: olderDoc, Names: texts.Names,
		Encode: func(f *rundir.Folder) ([]rundir.File, error) {
			files, err := texts.Encode(f)
			for i, x := range files {
				old := Older(Text{Name: x.Name, Data: x.Data}, program, f.Run.Store.Name)
				files[i].Name, files[i].Data = old.Name, old.Data
			}
			return files, err
		},
	}
}

const olderDoc = `# padogrid-old: PadoGrid's texts in the layout of 0.9.17 and older

The texts of ` + "`padogrid`" + ` in the layout of the samples on the original's pages, so that
you can keep new texts in one folder with old ones. These are the differences:

| | 0.9.17 and older | 0.9.18 and later |
| --- | --- | --- |
| file name | ` + "`ingestion-profile-190630-151618_x.txt`" + ` | ` + "`ingestion-profile-redis-190630-151618_x.txt`" + ` |
| header | without ` + "`Product`" + ` | with it |
| longest time | ` + "`Max time (msec)`" + ` | ` + "`Max Time (msec)`" + ` |
| first volume, in KiB in both | ` + "`**Total Volume (MiB)`" + ` | ` + "`**Total Volume (KiB)`" + ` |
| header of tx | ` + "`Total Entry Count per Run`" + ` | ` + "`Total Entry Count Per Run`" + ` |
`
