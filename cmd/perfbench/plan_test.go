package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/internal/request"
)

// planWords are those of a plan by the schema, with those that stand below each.
type planWords struct{ Properties map[string]planWords }

// A flag that a plan cannot say would make a plan less than a command line.
func TestEveryFlagIsAWordOfAPlan(t *testing.T) {
	text, err := request.Schema(nil, nil, nil)
	require.NoError(t, err)
	var schema struct {
		Defs struct{ Run planWords } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	run := schema.Defs.Run.Properties
	notOfARun := []string{
		"dry-run", "quiet", "plain", "ascii", "theme", "help", "json", "aa", // of the terminal, and of a script in its place
		"allow-exec",                                                                                                                                                                                                   // a plan of others could say it
		"metrics-addr", "otlp", "workers", "listen", "token-file", "watch-token-file", "coordinator-key", "tls-self-signed", "tls-cert", "tls-key", "nats", "nats-creds", "nats-nkey", "tls-ca", "patience", "on-loss", // of where perfbench runs: all runs of a suite share them
	}
	for _, c := range []struct {
		command *cobra.Command
		// below are the words of the part of a plan that is the command.
		below map[string]planWords
		// without are words of a run that are no flags of the command.
		without []string
	}{
		{headless.Command(&cli.Call{}, headless.Makes{}), nil, []string{"name", "find", "sweep"}},
		{findCommand(&cli.Call{}), run["find"].Properties, []string{"name", "find", "sweep"}},
		{sweepCommand(&cli.Call{}), run["sweep"].Properties, []string{"name", "find", "sweep", "against", "against-set", "tolerance", "unsure"}},
	} {
		t.Run(c.command.Name(), func(t *testing.T) {
			flags := c.command.Flags()
			flags.VisitAll(func(f *pflag.Flag) {
				_, ofPart := c.below[f.Name]
				if _, ofRun := run[f.Name]; !ofPart && !slices.Contains(notOfARun, f.Name) {
					assert.True(t, ofRun, "--%s is no word of a plan", f.Name)
				}
			})
			for word := range c.below {
				assert.NotNil(t, flags.Lookup(word), "%s is no flag", word)
			}
			for word := range run {
				assert.Equal(t, !slices.Contains(c.without, word), flags.Lookup(word) != nil, "whether %s is a flag", word)
			}
		})
	}
}
