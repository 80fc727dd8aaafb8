package report

import (
	_ "embed" // for the documentation
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

//go:embed junit.md
var junitDoc string

var junitFormat = rundir.Format{
	ID: "junit", Title: "JUnit XML of end, verdict and verification, for CI", Doc: junitDoc, Names: []string{"junit.xml"},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		data, err := xml.MarshalIndent(junit(&f.Run), "", "  ")
		return one("junit.xml", append([]byte(xml.Header), append(data, '\n')...)), err
	},
}

type testSuites struct {
	XMLName  xml.Name    `xml:"testsuites"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Suites   []testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testCase `xml:"testcase"`
	Out        string     `xml:"system-out,omitempty"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    string   `xml:"time,attr"`
	Failure *outcome `xml:"failure"`
	Skipped *outcome `xml:"skipped"`
	Out     string   `xml:"system-out,omitempty"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func junit(r *rundir.Run) testSuites {
	var calls, failed int64
	for _, o := range r.Operations {
		calls, failed = calls+o.Calls, failed+o.Errors
	}
	s := testSuite{
		Name: "perfbench." + r.Profile, Time: fmt.Sprintf("%.3f", r.MeasuredS),
		Timestamp: r.Started.UTC().Format(time.RFC3339),
		Properties: []property{
			{"id", r.ID}, {"target", Plain(r.Target)}, {"store", StoreName(r.Store)}, {"ended_by", Plain(r.EndedBy)}, {"verdict", r.Verdict.State},
			{"calls", fmt.Sprint(calls)}, {"errors", fmt.Sprint(failed)},
		},
	}
	out := r.Remarks()
	for i := range r.Faults {
		out = append(out, "fault "+FaultText(&r.Faults[i], r))
	}
	s.Out = strings.Join(out, "\n")
	s.add("end", s.Time, ended(r))
	s.add("verdict", noTime, judged(r))
	for _, t := range r.Verdict.Thresholds {
		c := s.add("threshold: "+t.Expr, noTime, missed(t))
		c.Out = "it was " + t.Got
	}
	s.add("verification", noTime, verified(r))
	for _, c := range r.Verification.Checks {
		var o *outcome
		if !c.OK {
			o = &outcome{c.Words(), strings.Join(c.Examples, "\n")}
		}
		s.add("verification: "+c.Name, noTime, o)
	}
	return testSuites{Tests: s.Tests, Failures: s.Failures, Suites: []testSuite{s}}
}

// skipped marks an outcome that is not a failure.
const skipped = "skipped"

// noTime is the duration of a case that has no time of its own.
const noTime = "0.000"

func (s *testSuite) add(name, time string, o *outcome) *testCase {
	c := testCase{Class: s.Name, Name: name, Time: time}
	s.Tests++
	switch {
	case o == nil:
	case o.Text == skipped:
		s.Skipped++
		c.Skipped = &outcome{Message: o.Message}
	default:
		s.Failures++
		c.Failure = o
	}
	s.Cases = append(s.Cases, c)
	return &s.Cases[len(s.Cases)-1]
}

func missed(t rundir.Threshold) *outcome {
	if t.OK {
		return nil
	}
	return &outcome{"it was " + t.Got, ""}
}

func ended(r *rundir.Run) *outcome {
	if r.EndedBy == rundir.CutShort || r.EndedBy == "interrupt" || strings.HasPrefix(r.EndedBy, "fault") {
		return &outcome{"the run was " + r.Ending("the user"), strings.Join(r.Remarks(), "\n")}
	}
	return nil
}

// judged fails for a run that is not valid although that was required, or that is
// worthless. Lesser doubts make the case a skipped one, which CI servers show.
func judged(r *rundir.Run) *outcome {
	reasons := strings.Join(r.Verdict.Why(), "\n")
	switch {
	case r.Verdict.Valid():
		return nil
	case r.Verdict.State == verdict.Invalid || r.Parameters["require-valid"] == "on":
		return &outcome{"the run is " + r.Verdict.State, reasons}
	}
	return &outcome{r.Verdict.State + ": " + reasons, skipped}
}

func verified(r *rundir.Run) *outcome {
	switch v := r.Verification; v.State {
	case workload.Passed:
		return nil
	case workload.Failed:
		return &outcome{v.Summary, ""}
	default:
		return &outcome{v.State + Ends(v.Summary), skipped}
	}
}
