package workbench

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
)

// schema is the published one. These tests are not beside the one that compares it with that
// of the program: the validator takes 5 ms to start, and that test program starts by the hundred.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("../../../docs/plan.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("plan.json", doc))
	s, err := c.Compile("plan.json")
	require.NoError(t, err)
	return s
}

func check(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var doc any
	require.NoError(t, yaml.Unmarshal([]byte(text), &doc), text)
	return s.Validate(doc)
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// What the documentation shows is a plan, by the schema and by all that can be told before
// a run.
func TestTheExamplesOfTheDocumentationArePlans(t *testing.T) {
	page, err := os.ReadFile("../../../docs/plan.md")
	require.NoError(t, err)
	blocks := yamlBlock.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	s := schema(t)
	env := session.Env{Profiles: cli.Profiles(), Formats: cli.Formats(), Drivers: drivers.All()}
	for _, b := range blocks {
		require.NoError(t, check(t, s, b[1]), b[1])
		f, err := request.Read("plan.yaml", []byte(b[1]), []string{"REDIS_HOST=127.0.0.1", "REDIS_PASSWORD=x", "RESULTS=results"})
		require.NoError(t, err)
		for _, r := range f.Runs {
			_, err := session.Prepare(t.Context(), env, r.Request)
			require.NoError(t, err, r.Name)
		}
		require.NoError(t, check(t, s, string(request.Write("", f))))
	}
}

func TestTheSchemaFindsMistakes(t *testing.T) {
	s := schema(t)
	for _, text := range []string{
		"profil: tx", "profile: txx", "threads: [1]", "runs: []", "runs: [{runs: [{}]}]", "format: [jsn]", "at: [[1]]",
		"set: 5", "stop-on-failure: [1]", "file: {a: b}",
	} {
		assert.Error(t, check(t, s, text), text)
	}
	for _, text := range []string{"profile: ${P}", "threads: 5", "threads: ${N}", "format: 'json,csv'", "at: {1s: {threads: 2}}", "count:"} {
		assert.NoError(t, check(t, s, text), text)
	}
}

// Every plan that a dry run writes for a profile as it is keeps to the schema.
func TestWhatIsWrittenKeepsToTheSchema(t *testing.T) {
	s := schema(t)
	env := session.Env{Profiles: cli.Profiles(), Formats: cli.Formats(), Drivers: drivers.All()}
	for _, p := range env.Profiles {
		if p.Design == nil {
			continue
		}
		prepared, err := session.Prepare(t.Context(), env, request.Request{Profile: p.Name})
		require.NoError(t, err)
		written := request.Write("", &request.File{Runs: []request.Run{{Request: prepared.Asked()}}})
		require.NoError(t, check(t, s, string(written)), string(written))
	}
}
