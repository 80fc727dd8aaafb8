package padogrid

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Text is a result text with its file name.
type Text struct {
	Name string
	Data []byte
}

// column is one column of a create_csv table: its heading and the label of the lines
// that hold its values. Values are extracted as in the original.
type column struct {
	head, label string
	// whole removes only the label, as for times and prefixes, which may contain
	// colons; otherwise everything up to the last colon is removed. first takes only
	// the first word.
	whole, first bool
}

// tables are the columns of each program's results, after the first two, which are the
// app and the file.
var tables = map[string][]column{
	"ingestion": {
		{head: "Product"},
		{head: "Test Case"},
		{head: "Map"},
		{head: "PutAll Batch Size"},
		{head: "Test Run Count"},
		{head: "Test Run Interval (msec)"},
		{head: "Total Entry Count Per Run"},
		{head: "Thread Count"},
		{head: "Payload Size (bytes)", first: true},
		{head: "Prefix", whole: true},
		{head: "Entry Count per Thread"},
		{head: "Start Time", whole: true},
		{head: "Stop Time", whole: true},
		{head: "Actual Total Entry (Put) Count"},
		{head: "Max Time (msec)"},
		{head: "Throughput (msg/sec)"},
		{head: "Throughput (KiB/sec)", label: "*Throughput (KiB/sec)"},
		{head: "Throughput (MiB/sec)", label: "*Throughput (MiB/sec)"},
		{head: "Latency per put (msec)"},
		{head: "Total Volume (KiB)", label: "**Total Volume (KiB)"},
		{head: "Total Volume (MiB)", label: "**Total Volume (MiB)"},
		{head: "Total Volume (GiB) ", label: "**Total Volume (GiB)"}, // with the original's trailing blank
	},
	"tx": {
		{head: "Product"},
		{head: "Test Case"},
		{head: "Map"},
		{head: "Test Run Count"},
		{head: "Test Run Interval (msec)"},
		{head: "Total Entry Count Per Run"},
		{head: "Thread Count"},
		{head: "Prefix", whole: true},
		{head: "Entry Count per Thread"},
		{head: "Start Time", whole: true},
		{head: "Stop Time", whole: true},
		{head: "Actual Total Number of Transactions"},
		{head: "Total Number of Transactions on Missing Data"},
		{head: "Max Time (msec)"},
		{head: "Throughput (tx/sec)"},
		{head: "Latency per transaction (msec)"},
	},
	"group": {
		{head: "Product"},
		{head: "Group"},
		{head: "Concurrent Groups", label: "Concurrent Group(s)"},
		{head: "Operations"},
		{head: "Comment"},
		{head: "Test Run Count"},
		{head: "Test Run Interval (msec)"},
		{head: "Total Invocation Count Per Run", label: "Total Invocation Count per Run"},
		{head: "Thread Count"},
		{head: "Invocation Count per Thread"},
		{head: "Start Time", whole: true},
		{head: "Stop Time", whole: true},
		{head: "Actual Total Number of Invocations"},
		{head: "Max Time (msec)"},
		{head: "Elapsed Time (msec)"},
		{head: "Total Invocation Count"},
		{head: "M Throughput invocations/sec)", label: "M Throughput (invocations/sec)"}, // the parenthesis is the original's
		{head: "M Latency (msec)", label: "M Latency per invocation (msec)"},
		{head: "E Throughput (invocations/sec)"},
		{head: "E Latency (msec)", label: "E Latency per invocation (msec)"},
	},
}

// App is the first column of a table of results: the name of the program's folder.
const App = "perf_test"

// CSV makes the table of create_csv from the result texts of one program ("ingestion",
// "tx" or "group"), in the order given. Fields are separated by a comma and a blank,
// without quoting: as in the original, a comma within a value makes an additional
// field.
func CSV(program string, texts []Text) []byte {
	columns := tables[program]
	var b strings.Builder
	b.WriteString(App + ", File")
	for _, c := range columns {
		b.WriteString(", " + c.head)
	}
	b.WriteByte('\n')
	for _, t := range texts {
		b.WriteString(App + ", " + rundir.Cells(strings.Join(strings.Fields(t.Name), " ")))
		fields := fieldsOf(string(t.Data))
		for _, c := range columns {
			b.WriteString(", " + rundir.Cells(c.value(fields)))
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// field is a line of a text: a label and what follows its first colon.
type field struct{ label, rest string }

func fieldsOf(text string) []field {
	var out []field
	after := ""
	for l := range strings.Lines(text) {
		if label, rest, ok := strings.Cut(l, ": "); ok {
			after = newer(strings.TrimSpace(label), after)
			out = append(out, field{after, rest})
		}
	}
	return out
}

// value returns what follows a column's label, with blanks collapsed.
func (c column) value(fields []field) string {
	label := c.label
	if label == "" {
		label = c.head
	}
	i := slices.IndexFunc(fields, func(f field) bool { return f.label == label })
	if i < 0 {
		return ""
	}
	v := fields[i].rest
	if at := strings.LastIndexByte(v, ':'); at >= 0 && !c.whole {
		v = v[at+1:]
	}
	words := strings.Fields(v)
	if c.first && len(words) > 0 {
		words = words[:1]
	}
	return strings.Join(words, " ")
}

// CSVName returns the file name of a program's table.
func CSVName(program string) string { return "results-" + program + ".csv" }
