package group

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/profiles/group/report"
)

const loadFile = "groupNames: g1,g2\ng1: {operations: o, threadCount: 4, totalInvocationCount: 100}\ng2: {operations: c, threadCount: 2, totalInvocationCount: 40}\n" +
	"o: {map: nw/orders, testCase: putall, batchSize: 20, totalEntryCount: 2000, factory.class: order}\n" +
	"c: {map: nw/customers, testCase: put, factory.class: customer, factory.key.isRandom: false, factory.key.length: 11, factory.er.operation: d, factory.er.maxKeys: 3}\n" +
	"d: {map: nw/order_details, testCase: put, key.prefix: d, factory.class: orderdetail, factory.key.isRandom: false, factory.key.length: 11}\n"

func TestResume(t *testing.T) {
	t.Parallel()
	for name, target := range databases(t) {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" {
				tier.Full(t, "the cases mariadb and sqlite")
			}
			path := write(t, "g.yaml", loadFile)
			own := labtest.Fresh("resume")
			ns := []string{"namespace", own}
			_, f := runs(t, target, []string{path}, append(ns, "count", "60")...)
			require.Equal(t, int64(30), f.Groups[0].Acknowledged)
			o, f := runs(t, target, []string{path}, append(ns, "resume", "on")...)
			errorless(t, o)
			for i, total := range []int64{100, 40} {
				g := f.Groups[i]
				assert.Positive(t, g.Resumed, g.Group)
				assert.Equal(t, total, g.Resumed+g.Acknowledged, g.Group)
				assert.Equal(t, g.Acknowledged, g.Ops[0].Calls, "what is there is not sent again")
			}
			var rows int
			require.NoError(t, dbOf(t, target).QueryRow("SELECT COUNT(*) FROM "+own+"_orders").Scan(&rows))
			assert.Equal(t, 2000, rows)
			o, err := try(t, target, []string{path}, append(ns, "resume", "on")...)
			require.NoError(t, err)
			require.ErrorContains(t, o.Err, "not one operation was measured", "as all is there")
			f = profiletest.Facts[report.Facts](t, o)
			assert.Equal(t, int64(100), f.Groups[0].Resumed)
			assert.Zero(t, f.Groups[0].Acknowledged)
			// A child that is missing has its family written again.
			_, err = dbOf(t, target).Exec(deleteOne(name, own))
			require.NoError(t, err)
			_, f = runs(t, target, []string{path}, append(ns, "resume", "on")...)
			assert.Equal(t, int64(1), f.Groups[1].Acknowledged)
			_, err = try(t, target, []string{path}, append(ns, "resume", "on", "seed", "7")...)
			require.ErrorContains(t, err, "was filled with seed 1, this run has 7")
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

func deleteOne(database, namespace string) string {
	column := `"productId"`
	if database == "mariadb" {
		column = "productId"
	}
	table := namespace + "_order_details"
	return "DELETE FROM " + table + " WHERE " + column + " = (SELECT m FROM (SELECT MIN(" + column + ") AS m FROM " + table + ") x)"
}

func TestResumeIsRefusedWhereItCannotBe(t *testing.T) {
	path := write(t, "g.yaml", loadFile)
	for _, c := range []struct {
		target string
		values []string
		want   string
	}{
		{"embedded:", nil, "no group only writes rows of tables"},
		{"sqlite:" + t.TempDir() + "/x.db", []string{"duration", "1s"}, "only --duration ends"},
		{"sqlite:" + t.TempDir() + "/x.db", []string{"compat", "on"}, "compat=on"},
	} {
		_, err := try(t, c.target, []string{path}, append(c.values, "resume", "on")...)
		require.ErrorContains(t, err, c.want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

func TestALoadThatWasCutShortIsCompleted(t *testing.T) {
	file := "groupNames: g1\ng1: {operations: 'o,l', threadCount: 2, totalInvocationCount: 20}\n" +
		"o: {map: nw/orders, testCase: get, totalEntryCount: 1500, factory.class: order}\nl: {map: plain, testCase: get, totalEntryCount: 1200, payloadSize: 10}\n"
	target := "sqlite:" + t.TempDir() + "/x.db"
	path := write(t, "g.yaml", file)
	_, f := runs(t, target, []string{path})
	require.Equal(t, int64(2700), f.Loaded)
	_, f = runs(t, target, []string{path})
	assert.Zero(t, f.Loaded, "all of it is there")
	db := dbOf(t, target)
	_, err := db.Exec("DELETE FROM perfbench_orders WHERE orderId < '5'")
	require.NoError(t, err)
	keep, err := store.As[store.Keeper](open(t, target))
	require.NoError(t, err)
	made, err := keep.Made(t.Context(), "perfbench")
	require.NoError(t, err)
	require.Len(t, made, 2)
	for _, m := range made { // as a run leaves it that was killed while it loaded
		assert.NotContains(t, m.Params, "loading")
		m.Params["loading"] = "on"
		require.NoError(t, keep.Record(t.Context(), m))
	}
	o, f := runs(t, target, []string{path})
	assert.Positive(t, f.Loaded)
	for _, op := range f.Groups[0].Ops {
		assert.Zero(t, op.Misses, op.Op)
	}
	require.NoError(t, o.Err)
}
