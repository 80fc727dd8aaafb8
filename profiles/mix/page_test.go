package mix

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Each workload of the page runs as it stands, and the shop, which is the last of those
// that lead to it, on four stores.
func TestTheWorkloadsOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/mix.md")
	require.NoError(t, err)
	all := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	require.GreaterOrEqual(t, len(all), 5)
	shop := ""
	for _, m := range all {
		text := string(m[1])
		if strings.Contains(text, "order:") {
			shop = text
		}
		o := profiletest.Drive(t, caseOf(t, "embedded:", text, "count=500", "threads=2", "records=300"))
		assert.Equal(t, workload.Passed, o.Run.Verification.State, text)
	}
	require.NotEmpty(t, shop)
	for _, name := range []string{"redis", "postgres", "mariadb", "sqlite"} {
		c := caseOf(t, profiletest.Target(t, name), shop, "namespace=mixpage")
		c.Set = []string{"namespace=mixpage", "records=200", "count=1000"}
		assert.Equal(t, workload.Passed, profiletest.Drive(t, c).Run.Verification.State, name)
	}
}
