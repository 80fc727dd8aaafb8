package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
)

// What users of the originals type is answered with the line that does it here.
func TestHabits(t *testing.T) {
	for typed, want := range map[string]string{
		"test_ingestion -run":                              "perfbench run ingestion",
		"./test_ingestion -run -prop etc/i.properties":     "perfbench run ingestion --file etc/i.properties",
		"run ingestion -run -prop i.properties":            "perfbench run ingestion --file i.properties",
		"run ingestion -prop i.properties":                 "perfbench run ingestion --file i.properties --dry-run",
		"run tx -run -failover -t redis://h":               "perfbench run tx -t redis://h",
		"test_group -list":                                 "perfbench data list --profile group --target redis://localhost:6379",
		"test_group -list -prop g.properties -t redis://h": "perfbench data list --profile group --file g.properties -t redis://h",
		"run group -run -delete -prop g.properties":        "perfbench data delete --profile group --file g.properties --target redis://localhost:6379",
		"run group -db -run -prop g.properties":            "perfbench run group --file g.properties --target mysql://root@localhost:3306/perfbench",
		"run test_group -list":                             "perfbench data list --profile group --target redis://localhost:6379",
		"run-authz -s scripts -n 12 -c 4":                  "perfbench run authz --file scripts --set runs=12 --set concurrent=4",
		"run-authz.js --scripts-dir scripts":               "perfbench run authz --file scripts",
		"run authz -s scripts -c 4":                        "perfbench run authz --file scripts --set concurrent=4",
		"run-profiles.js -s scripts":                       "perfbench run authz --file scripts --set mode=user-profile",
	} {
		err := cli.Habit(strings.Fields(typed))
		require.Error(t, err, typed)
		assert.Equal(t, "here it is  "+want, fault.HintOf(err), typed)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	err := cli.Habit([]string{"run", "group", "-run", "-prop", "my groups.properties"})
	require.EqualError(t, err, "run: -run is an option of the original's test_group")
	assert.Equal(t, "here it is  perfbench run group --file 'my groups.properties'", fault.HintOf(err))
	require.EqualError(t, cli.Habit([]string{"test_tx"}), "run: test_tx is a command of the original")
	for _, ours := range []string{"", "run", "run ingestion", "run tx -d 5s -r 100", "run authz --set concurrent=4", "data list", "run plan.yaml"} {
		require.NoError(t, cli.Habit(strings.Fields(ours)), ours)
	}
}
