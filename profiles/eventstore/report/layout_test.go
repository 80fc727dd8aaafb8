package report_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/eventstoretest"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// originalHeadings are those of th2's own report of this test, in its order, and
// originalColumns the heads of its tables. %s stands for what differs by the run.
var (
	originalHeadings = []string{
		"# Store events via %s",
		"## Hardware configuration", "### Cluster", "### Virtual machines are deployed on the cluster:",
		"## Software configuration", "### RabbitMQ", "### Cassandra",
		"## Cluster schema",
		"## th2 components configuration", "### woodpecker", "### estore",
		"## performance test parameters", "### cradle parameters", "### events parameters", "### steps parameters for woodpeckers x2",
		"## metrics during performance tests execution", "### events received by estore (avg)", "### cradle (avg)",
		"### computation resources by estore (max)", "### JVM metrics of estore (max)",
		"## Computation resources RabbitMQ (max)", "## Computation resources Cassandra (max)",
	}
	originalColumns = []string{
		"| step | maxBatchSize | duration |",
		"| step | events in batch | batch size<br/>(serialized protobuf) | event size<br/>(serialized protobuf) | event rate |",
		"| step | raw rate | compressed rate | compression |",
		"| step | CPU | CPU throttling | RAM |",
		"| step | HEAP | old gen | yang gen | GC count<br/>old gen | GC count<br/>yang gen |",
		"| step | CPU | RAM |",
		"| step | CPU | RAM | Network |",
	}
)

const appendixHeading = "## Appendix: what perfbench adds"

// The document has the headings and tables of the original, in its order, whatever was
// run, and what we add behind them.
func TestTheDocumentFollowsTheOriginal(t *testing.T) {
	t.Parallel()
	here := eventstoretest.Facts()
	here.Store, here.Transport = "redis", report.ViaDirect
	for name, f := range map[string]*report.Facts{"as documented": eventstoretest.Facts(), "another store, no broker": here} {
		page := encoded(t, eventstoretest.Folder(t, f))[report.ReportFile]
		original, appendix, ok := strings.Cut(page, appendixHeading+"\n")
		require.True(t, ok, name)
		var headings, columns []string
		fenced := false
		for line := range strings.Lines(original) {
			line = strings.TrimSuffix(line, "\n")
			fenced = fenced != strings.HasPrefix(line, "```")
			switch {
			case fenced:
			case strings.HasPrefix(line, "# "):
				headings = append(headings, "# Store events via %s")
				assert.Regexp(t, `^# Store events via \S+ \(.+\)$`, line)
			case strings.HasPrefix(line, "#"):
				headings = append(headings, line)
			case strings.HasPrefix(line, "| step "):
				columns = append(columns, line)
			}
		}
		assert.Equal(t, originalHeadings, headings, name)
		assert.Equal(t, originalColumns, columns, name)
		assert.NotRegexp(t, `(?m)^##? `, appendix, "%s: the appendix has sections of its own only", name)
		for _, want := range []string{"### Latency", "### Backlog", "### Integrity", "### Errors and retries", "### Read-back", "### Verdict"} {
			assert.Contains(t, appendix, "\n"+want+"\n", name)
		}
	}
}

// Each value of the original's tables stands in its unit and form.
func TestValuesHaveTheUnitsOfTheOriginal(t *testing.T) {
	t.Parallel()
	page := encoded(t, eventstoretest.Folder(t, eventstoretest.Facts()))[report.ReportFile]
	for _, row := range []string{
		`\| 2 \| 400 \| \d+ KiB \| 1\.\d\d KiB \| 80\.6K item/s \|`,
		`\| 1 \| \d+ MiB/s \| 2\d\.\d MiB/s \| 5\.\d\d times \|`,
		`\| 1 \| \d\.\d\d \| 13\.0 % \| 200 MiB \|`,
		`\| 1 \| 90\.0 MiB \| n/a \| n/a \| \d+ times/min \| n/a \|`,
		`\| 1 \| n/a \| n/a \|`,
		`\| 1 \| 1\.35 \| 6\.\d+ GiB \| 280\.00 Mbps \|`,
	} {
		assert.Regexp(t, `(?m)^`+row+`$`, page)
	}
	old := eventstoretest.Facts()
	old.Steps[0].Failed, old.Steps[0].DeadBatches = nil, nil // of an earlier version
	old.Steps[1].Failed, old.Steps[1].DeadBatches, old.Steps[1].DeadLettered = new(int64(1000)), new(int64(2)), 700
	page = encoded(t, eventstoretest.Folder(t, old))[report.ReportFile]
	assert.Contains(t, page, "\n| 1 | 0 | n/a | 0 | n/a |\n| 2 | 1 | 2 | 700 | 1000 |\n")
}

// A file of facts fills in what nobody could measure, and what was measured stays.
func TestFactsFillInWhatAClientCannotKnow(t *testing.T) {
	t.Parallel()
	f := eventstoretest.Facts()
	folder := eventstoretest.Folder(t, f)
	for i := range f.Processes { // on other machines
		if f.Processes[i].Role == "cassandra" {
			f.Processes[i].PID = 0
		}
	}
	folder.Run.Facts = eventstoretest.Folder(t, f).Run.Facts
	before := encoded(t, folder)[report.ReportFile]
	assert.Contains(t, before, "+ **Disk**: n/a\n")
	assert.Contains(t, before, "+ **machine of cassandra**\n  + **CPU**: n/a\n  + **RAM**: n/a\n")
	assert.Contains(t, before, "+ **Special java args**: n/a\n")

	folder.Given = []byte(report.ExampleGiven)
	files := encoded(t, folder)
	page := files[report.ReportFile]
	for _, want := range []string{
		" (performance lab)\n", "### Cluster\n\n+ **CPU**: 2 x Xeon Gold 5218\n+ **RAM**: 768 GB\n+ **Disk**: 5 SSDs of 3.5 TB, RAID 5\n",
		"+ **node-1**\n  + **CPU**: 11 core\n  + **RAM**: 30 GB\n+ **db**\n  + **CPU**: 4 core\n  + **RAM**: 8 GB\n  + **Disk**: 200 GB SSD\n  + **Remark**: shared with nobody\n\n",
		"### RabbitMQ\n\n+ **VM**: node-1\n+ **Docker image**: docker.io/bitnami/rabbitmq:3.11.2 (RabbitMQ 3.10.8)\n",
		"### Cassandra\n\n+ **VM**: db\n+ **Version**: 5.0.9\n+ **Special java args**:\n  + -Xms4G\n  + -Xmx4G\n",
		"* The network between the machines has 10 Gbit/s.\n",
	} {
		assert.Contains(t, page, want)
	}
	for _, want := range []string{">node-1<", ">db<", ">woodpecker x2<", ">RabbitMQ<", ">estore<", ">Apache Cassandra 5.0.9<", ">4 core, 8 GB<"} {
		assert.Contains(t, files[report.SchemaFile], want)
	}
	folder.Given = []byte("machines: 7\n")
	_, err := report.Encode(folder)
	require.ErrorContains(t, err, "facts.yaml:1:11: machines is not a list")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

// The page shows a file of facts; it is the one that the format reads.
func TestTheDocumentedFactsAreRead(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/event-store.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	require.Len(t, blocks, 1)
	require.NoError(t, report.CheckFacts("page", []byte(blocks[0][1])))
	assert.Equal(t, report.ExampleGiven, blocks[0][1])
	assert.ErrorContains(t, report.CheckFacts("f.yaml", []byte("topology: {kassandra: x}")), `f.yaml:1:12: topology has no key "kassandra"`)
}
