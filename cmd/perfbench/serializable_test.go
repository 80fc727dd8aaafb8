package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Where every transaction is serializable unless it says otherwise, as on CockroachDB, each
// profile ends well: what the server takes back is done again and nothing is done twice.
func TestProfilesWhereSerializableIsTheDefault(t *testing.T) {
	t.Parallel()
	tier.Full(t, "sagas and pbm on a PostgreSQL that is asked for serializable transactions, below")
	target := grounds["postgres"](t).target()
	admin := openSQL(t, "pgx", target)
	name := target[strings.LastIndex(target, "/")+1:]
	_, err := admin.ExecContext(t.Context(), "ALTER DATABASE "+name+" SET default_transaction_isolation = 'serializable'")
	require.NoError(t, err)
	for name, line := range map[string]string{
		"ingestion":   "ingestion --set totalEntryCount=200 --set payloadSize=16 --set batchSize=5 --threads 8",
		"group":       "group --preset shop",
		"pbm":         "tx --set mapNames=eligibility,profile --set eligibility.totalEntryCount=20 --set profile.totalEntryCount=20 --threads 8",
		"saga":        "tx --preset saga --set transactions=200 --set accountCount=3 --threads 8",
		"authz":       "authz --set users=20 --set groups=5 --set tests=valid --threads 8",
		"event-store": "event-store --set events=1000 --batch 5 --threads 8 --payload 64 --set queries=20",
		"mix":         "mix --preset ycsb/f --set records=20 --count 2000 --threads 8",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var out, errs bytes.Buffer
			args := append([]string{"run"}, strings.Fields(line)...)
			code := run(t.Context(), cli.Env{Args: append(args, "--target", target, "--namespace", "s"+strings.ReplaceAll(name, "-", ""), "--out", dir, "--quiet"),
				Environ: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
			assert.Zero(t, code, "%s\n%s", out.String(), errs.String())
		})
	}
}
