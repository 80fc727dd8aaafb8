package main

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/cmd/perfbench/catalogue"
	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/planfile"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
)

var update = flag.Bool("update", false, "write docs/plan.schema.json anew")

const published = "../../docs/plan.schema.json"

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(doing(t, nil, "list", "plan-schema")))
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

// The schema in docs is the one that the program has.
func TestThePublishedSchemaIsTrue(t *testing.T) {
	want := doing(t, nil, "list", "plan-schema")
	if *update {
		require.NoError(t, os.WriteFile(published, []byte(want), 0o644))
	}
	got, err := os.ReadFile(published)
	require.NoError(t, err)
	assert.True(t, want == string(got), "docs/plan.schema.json is not that of the code; go test ./cmd/perfbench -run TestThePublishedSchema -update writes it")
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// What the documentation shows is a plan, by the schema and by all that can be told before
// a run.
func TestTheExamplesOfTheDocumentationArePlans(t *testing.T) {
	page, err := os.ReadFile("../../docs/plan.md")
	require.NoError(t, err)
	blocks := yamlBlock.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	s := schema(t)
	env := session.Env{Profiles: catalogue.Profiles(), Formats: catalogue.Formats(), Drivers: drivers.All()}
	for _, b := range blocks {
		require.NoError(t, check(t, s, b[1]), b[1])
		f, err := planfile.Read("plan.yaml", []byte(b[1]), []string{"REDIS_HOST=127.0.0.1", "REDIS_PASSWORD=x", "RESULTS=results"})
		require.NoError(t, err)
		for _, r := range f.Runs {
			_, err := session.Prepare(t.Context(), env, r.Request)
			require.NoError(t, err, r.Name)
		}
		require.NoError(t, check(t, s, string(planfile.Write("", f))))
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
	env := session.Env{Profiles: catalogue.Profiles(), Formats: catalogue.Formats(), Drivers: drivers.All()}
	for _, p := range env.Profiles {
		if p.Design == nil {
			continue
		}
		prepared, err := session.Prepare(t.Context(), env, job.Request{Profile: p.Name})
		require.NoError(t, err)
		written := planfile.Write("", &planfile.File{Runs: []planfile.Run{{Request: prepared.Asked()}}})
		require.NoError(t, check(t, s, string(written)), string(written))
	}
}
