package group

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/report"
)

func TestBadFilesAreRefusedWithTheirLine(t *testing.T) {
	const head = "groupNames=g1\ng1.operations=a\n"
	customer, order := "a.factory.class=org.redis.demo.nw.impl.CustomerFactoryImpl\n", "b.factory.class=org.redis.demo.nw.impl.OrderFactoryImpl\n"
	for name, c := range map[string]struct{ file, want, hint string }{
		"no groups":           {"g1.operations=a\n", "f.properties: groupNames is missing", "groupNames=g1"},
		"missing group":       {"groupNames=g1,g2\ng1.operations=a\na.map=m\na.testCase=put\n", `f.properties:1: groupNames: there is no group "g2"`, "g1"},
		"no operations":       {"groupNames=g1\ng1.operations=\n", "f.properties:2: g1.operations: names no operation", ""},
		"unknown structure":   {head + "a.quue=x\na.testCase=offer\n", "f.properties:3: a.quue: there is no such structure", "did you mean a.queue?"},
		"structure elsewhere": {head + "a.rmap=x\na.testCase=put\n", "f.properties:3: a.rmap: there is no such structure", "mcache"},
		"unknown test case":   {head + "a.map=x\na.testCase=puut\n", `f.properties:4: a.testCase: "puut" is not a test case of a map`, "did you mean put"},
		"test case of others": {head + "a.queue=x\na.testCase=put\n", `f.properties:4: a.testCase: "put" is not a test case of a queue`, "offer"},
		"missing reference":   {head + "a.ref=zz\na.map=x\na.testCase=put\n", `f.properties:3: a.ref: there is no operation "zz"`, ""},
		"circle of references": {
			head + "a.ref=b\nb.ref=c\nc.ref=a\nc.map=m\nb.testCase=put\n",
			"f.properties:5: c.ref: the references form a circle: a → b → c → a", "take one of these references out",
		},
		"reference to itself": {head + "a.ref=a\na.testCase=put\n", "f.properties:3: a.ref: the references form a circle: a → a", ""},
		"circle of children": {
			head + "a.map=x\na.testCase=put\n" + customer + "a.factory.er.operation=b\nb.map=y\nb.testCase=put\n" + order + "b.factory.er.operation=a\n",
			"f.properties:10: b.factory.er.operation: the children form a circle: a → b → a", "no children",
		},
		"missing child":   {head + "a.map=x\na.testCase=put\n" + customer + "a.factory.er.operation=zz\n", `f.properties:6: a.factory.er.operation: there is no operation "zz"`, ""},
		"missing factory": {head + "a.map=x\na.testCase=put\na.factory.class=com.acme.Foo\n", `f.properties:5: a.factory.class: there is no data object factory "com.acme.Foo"`, "OrderFactoryImpl"},
		"no number":       {head + "a.map=x\na.testCase=put\na.payloadSize=much\n", `f.properties:5: a.payloadSize: "much" is not a whole number`, "1024"},
		"too small":       {head + "g1.threadCount=0\na.map=x\na.testCase=put\n", "f.properties:3: g1.threadCount: 0 is not in 1..", ""},
		"two types":       {"groupNames=g1\ng1.operations=a,b\na.list=x\na.testCase=add\nb.zset=x\nb.testCase=add\n", "f.properties:6: operation b: x is a zset here and a list for operation a (f.properties:4)", "another name"},
		"cache and map":   {"groupNames=g1\ng1.operations=a,b\na.mcache=x\na.testCase=put\nb.map=x\nb.testCase=put\n", "x is a map here and a mcache for operation a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fromFile(t, c.file)
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.Contains(t, fault.HintOf(err), c.hint)
			assert.NotContains(t, fault.HintOf(err), "key,", "names of parameters are no operations")
		})
	}
}

// In a file of ours a name that nothing defines is a mistake; in one of PadoGrid's it
// is an operation with all defaults.
func TestAMissingOperationIsRefusedInYAML(t *testing.T) {
	_, err := designed(t, "redis", "groupNames: g1\ng1: {operations: 'get1,gett1'}\nget1: {map: m, testCase: get}\n")
	require.ErrorContains(t, err, `there is no operation "gett1"`)
	assert.Contains(t, fault.HintOf(err), "did you mean get1")
}

func TestKeysThatDoNotFitTheirColumnAreRefused(t *testing.T) {
	file := "groupNames: g1\ng1: {operations: o}\no: {map: nw/orders, testCase: put, key.prefix: a-very-long-prefix-, factory.class: order, factory.key.isRandom: false, factory.key.length: 30}\n"
	_, err := designed(t, "sqlite", file)
	require.ErrorContains(t, err, "has room for 20")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	_, err = designed(t, "redis", file)
	assert.NoError(t, err, "in a map there is room")
}

func TestADuplicateKeyIsNamed(t *testing.T) {
	target := labtest.Shared(t, "postgres").URL()
	path := write(t, "g.yaml", "groupNames: g1\ng1: {operations: o, threadCount: 2, totalInvocationCount: 40}\no: {map: nw/orders, testCase: put, factory.class: order}\n")
	_, err := dbOf(t, target).Exec("DROP TABLE IF EXISTS twice_orders") // of the same test before
	require.NoError(t, err)
	o, _ := runs(t, target, []string{path}, "namespace", "twice", "count", "2")
	require.Empty(t, o.Run.Errors)
	_, err = dbOf(t, target).Exec(`CREATE UNIQUE INDEX one_ship ON twice_orders ("shipVia")`)
	if err != nil { // both rows came with the same one
		_, err = dbOf(t, target).Exec(`DELETE FROM twice_orders; CREATE UNIQUE INDEX one_ship ON twice_orders ("shipVia")`)
	}
	require.NoError(t, err)
	for _, mapper := range []string{"gorm", "raw"} {
		o, err := try(t, target, []string{path}, "namespace", "twice", "mapper", mapper)
		require.NoError(t, err)
		require.ErrorContains(t, o.Err, "calls failed", "most of them")
		f := profiletest.Facts[report.Facts](t, o)
		require.NotEmpty(t, o.Run.Errors)
		assert.Equal(t, "conflict", o.Run.Errors[0].Class)
		assert.Contains(t, messages(o), "one_ship")
		assert.Positive(t, f.Groups[0].Failed, "what was not written is counted")
		assert.LessOrEqual(t, f.Groups[0].Acknowledged, int64(7))
	}
}

func TestAFullDiskIsNamed(t *testing.T) {
	for _, mapper := range []string{"gorm", "raw"} {
		target := "sqlite:" + filepath.Join(t.TempDir(), "x.db") + "?_pragma=max_page_count(60)"
		o, f := runs(t, target, nil, "preset", "factory", "mapper", mapper, "load", "never")
		require.NotEmpty(t, o.Run.Errors)
		assert.Contains(t, messages(o), "full")
		assert.Positive(t, f.Groups[0].Failed)
		assert.Equal(t, workload.Passed, o.Run.Verification.State, "what was acknowledged is there: %+v", o.Run.Verification)
		_, err := try(t, target, nil, "preset", "factory", "mapper", mapper)
		require.ErrorContains(t, err, "the disk is full")
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	}
}

// messages are all that a run's errors say.
func messages(o *session.Concluded) string {
	var out []string
	for _, e := range o.Run.Errors {
		out = append(out, e.Messages...)
	}
	return strings.Join(out, "\n")
}

func TestAFolderIsNoFile(t *testing.T) {
	_, err := try(t, "memory:", []string{t.TempDir()})
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	_, err = try(t, "memory:", []string{filepath.Join(t.TempDir(), "no.properties")})
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestCompatOrdersOfCoherenceAreFoundByVerification(t *testing.T) {
	file := "groupNames=g1\ng1.operations=a,b,a\ng1.totalInvocationCount=20\ng1.threadCount=2\na.map=/nw/orders\na.testCase=put\n" +
		"a.factory.class=org.oracle.coherence.addon.demo.nw.impl.OrderFactoryImpl\na.factory.customerId.max=5\nb.ref=a\nb.testCase=get\n"
	for _, compat := range []string{"on", "off"} {
		o, f := runs(t, "memory:", []string{write(t, "g.properties", file)}, "compat", compat)
		errorless(t, o)
		assert.Equal(t, "coherence", f.Flavour)
		assert.Len(t, f.Groups[0].Ops, 2)
	}
}
