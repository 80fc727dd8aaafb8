package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

func TestTheExampleIsRead(t *testing.T) {
	f, err := parseGiven("facts.yaml", []byte(exampleGiven), components)
	require.NoError(t, err)
	assert.Equal(t, host{Name: "performance lab", Count: 1, CPU: "2 x Xeon Gold 5218", RAM: "768 GB", Disk: "5 SSDs of 3.5 TB, RAID 5"}, f.Cluster)
	require.Len(t, f.Machines, 2)
	assert.Equal(t, "db", f.Topology["cassandra"])
	assert.Equal(t, "db", f.Machines[1].Name)
	assert.Equal(t, "shared with nobody", f.Machines[1].Remark)
	assert.Equal(t, program{Image: "docker.io/bitnami/rabbitmq:3.11.2"}, f.Software["rabbitmq"])
	assert.Equal(t, []string{"-Xms4G", "-Xmx4G"}, f.Arguments["cassandra"])
	assert.Equal(t, []string{"The network between the machines has 10 Gbit/s."}, f.Remarks)
}

func TestEachFaultIsOneSentenceWithItsLine(t *testing.T) {
	for want, text := range map[string]string{
		"f.yaml: the file of --facts is empty":                          "# nothing\n",
		"f.yaml:1: not YAML: did not find expected node content":        "machines: [\n",
		"f.yaml:1:1: expected lines of the form name: value":            "7\n",
		`f.yaml:1:1: the file has no key "machine"`:                     "machine: []\n",
		"f.yaml:1:11: machines is not a list":                           "machines: {}\n",
		"f.yaml:1:12: a machine has no name":                            "machines: [{cpu: 4}]\n",
		`f.yaml:1:22: a machine has no key "memory"`:                    "machines: [{name: a, memory: 4 GB}]\n",
		`f.yaml:1:29: count of a machine: "none" is not a whole number`: "machines: [{name: a, count: none}]\n",
		`f.yaml:1:23: machines: "a" is listed twice`:                    "machines: [{name: a}, {name: a}]\n",
		`f.yaml:2:23: topology: "db2" is not one of the machines`:       "machines: [{name: db}]\ntopology: {cassandra: db2}\n",
		`f.yaml:1:12: topology has no key "kassandra"`:                  "topology: {kassandra: db}\n",
		`f.yaml:2:2: cassandra is already on line 1`:                    "topology: {cassandra: db,\n cassandra: db}\nmachines: [{name: db}]\n",
		"f.yaml:1:24: arguments.cassandra is not a list":                "arguments: {cassandra: -Xmx4G}\n",
		"f.yaml:1:22: software.rabbitmq is not a mapping":               "software: {rabbitmq: 3.11}\n",
		"f.yaml:1:11: a remark has no text":                             "remarks: ['']\n",
		"f.yaml:1:16: cpu of cluster has no text":                       "cluster: {cpu: }\n",
		`f.yaml:1:23: software.rabbitmq has no key "tag"`:               "software: {rabbitmq: {tag: x}}\n",
	} {
		_, err := parseGiven("f.yaml", []byte(text), components)
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), want)
	}
	_, err := parseGiven("f.yaml", []byte("machine: []\n"), components)
	assert.Contains(t, fault.HintOf(err), "did you mean machines")
}
