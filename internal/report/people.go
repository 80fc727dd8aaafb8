package report

import (
	_ "embed" // for the documentation

	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed text.md
var textDoc string

var textFormat = rundir.Format{
	ID: "text", Title: "a page for people, with charts", Doc: textDoc, Names: []string{"report.txt"},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		return one("report.txt", []byte(RunPage(f).Text())), nil
	},
}

//go:embed markdown.md
var markdownDoc string

var markdownFormat = rundir.Format{
	ID: "markdown", Title: "the same page as Markdown", Doc: markdownDoc, Names: []string{"report.md"},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		return one("report.md", []byte(RunPage(f).Markdown())), nil
	},
}

//go:embed html.md
var htmlDoc string

// PageFile is the name of the HTML page.
const PageFile = "report.html"

var htmlFormat = rundir.Format{
	ID: "html", Title: "the same page in one HTML file, with drawn charts", Doc: htmlDoc, Names: []string{PageFile},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		return one(PageFile, []byte(RunPage(f).HTML())), nil
	},
}
