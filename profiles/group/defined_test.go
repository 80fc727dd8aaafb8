package group

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/profiletest/steps"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// fleet are definitions with every type; its operations are for each test to add.
const fleet = `objects:
  ship:
    key: s-####
    table: ships
    fields:
      name: {generator: words, length: 2}
      crew: {type: integer, range: 1..6}
      price: {type: decimal, range: -10..99.5}
      draught: {type: float, range: 0.5..2.5}
      sold: {type: boolean}
      built: {type: date, range: 2001-02-03..2003-04-05}
      seen: {type: time, range: 2025-01-01..2025-06-30}
      made: now
      hull: {values: [wood, steel, 'glass "fibre"'], index: on}
      log: {type: text, payload: on}
      berth: "{hull}/{crew}"
  trip:
    key: token
    table: trips
    fields:
      token: uuid
      ship: {parent: ship, foreignKey: on, index: on, spread: zipf, among: 20, children: 0..3}
      port: city
`

const fleetOps = `groupNames: g1,g2,g3
g1: {operations: ship1, threadCount: 2, totalInvocationCount: 20}
g2: {operations: 'ship2,ship3', threadCount: 2, totalInvocationCount: 40}
g3: {operations: trip2, threadCount: 2, totalInvocationCount: 40}
ship1: {map: ships, testCase: put, object: ship, totalEntryCount: 20, payloadSize: 100, factory.er.operation: trip1}
ship2: {ref: ship1, testCase: get}
ship3: {ref: ship1, testCase: getall, batchSize: 5}
trip1: {map: trips, testCase: put, object: trip}
trip2: {map: trips, testCase: putall, batchSize: 5, object: trip, key.startNum: 1001, totalEntryCount: 40}
`

// intact asserts that every operation did what it should, and that what was written
// was read back and compared.
func intact(t *testing.T, f report.Facts) {
	t.Helper()
	for _, g := range f.Groups {
		assert.Zero(t, g.Failed, g.Group)
		for _, op := range g.Ops {
			assert.Positive(t, op.Calls, op.Op)
			assert.Zero(t, op.Misses, op.Op)
			assert.Equal(t, strings.TrimRight(op.Op, "123"), op.Object)
		}
	}
}

func TestDefinedObjectsInDatabases(t *testing.T) {
	path := write(t, "fleet.yaml", fleetOps+fleet)
	for name, target := range databases(t) {
		for _, mapper := range []string{"gorm", "raw"} {
			t.Run(name+" "+mapper, func(t *testing.T) {
				if name != "sqlite" {
					tier.Full(t, "sqlite, and TestEntitiesInDatabases on "+name)
				}
				ns := "d" + mapper
				o, f := runs(t, target, []string{path}, "mapper", mapper, "namespace", ns)
				errorless(t, o)
				intact(t, f)
				db := dbOf(t, target)
				var ships, trips, orphans int
				require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM "+ns+"_ships").Scan(&ships))
				assert.Equal(t, 20, ships)
				require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM "+ns+"_trips").Scan(&trips))
				assert.Greater(t, trips, 40, "the 40 by themselves and those after a ship")
				require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM "+ns+"_trips t LEFT JOIN "+ns+"_ships s ON s.id = t.ship WHERE s.id IS NULL").Scan(&orphans))
				assert.Zero(t, orphans)
				_, err := db.Exec("DELETE FROM " + ns + "_ships WHERE id = 's-0001'")
				require.Error(t, err, "the foreign key holds it")
			})
		}
		t.Run(name+" cleaned up", func(t *testing.T) {
			driven(t, target, []string{path}, "namespace", "dclean")
		})
	}
}

// spoilt writes the ships of the fleet, has somebody change what is stored, and
// verifies.
func spoilt(t *testing.T, target, mapper string, by func()) workload.Verification {
	t.Helper()
	vs := given("groupNames", "g1", "mapper", mapper)
	from, _, err := design.Read([]workload.File{{Path: "fleet.yaml", Data: []byte(fleetOps + fleet)}})
	require.NoError(t, err)
	for _, v := range from {
		vs.Set(v)
	}
	in := workload.Inputs{Values: vs, Seed: 1, Namespace: "spoilt" + mapper, Driver: strings.SplitN(target, ":", 2)[0], AllowExisting: true}
	p, err := plan(in)
	require.NoError(t, err)
	c := open(t, target)
	p = profiletest.Bind(t, Name, p, c, in, "")
	require.NoError(t, p.Setup(t.Context(), nil))
	p.Phases = p.Phases[:1]
	profiletest.Work(t, p)
	by()
	return p.Verify(t.Context())
}

// What verification compares is every field, and a change of any of them is found.
func TestAChangedObjectIsFound(t *testing.T) {
	examples := func(v workload.Verification) string {
		assert.Equal(t, workload.Failed, v.State)
		return fmt.Sprint(v.Checks)
	}
	target := "sqlite:" + t.TempDir() + "/x.db"
	for _, mapper := range []string{"gorm", "raw"} {
		v := spoilt(t, target, mapper, func() {
			db := dbOf(t, target)
			_, err := db.Exec("UPDATE spoilt" + mapper + "_ships SET crew = crew + 1 WHERE id = 's-0002'")
			require.NoError(t, err)
			_, err = db.Exec("UPDATE spoilt" + mapper + "_trips SET ship = 's-0020' WHERE ship = 's-0003'")
			require.NoError(t, err)
		})
		assert.Contains(t, examples(v), "s-0002: its column crew is not what was written")
		assert.Contains(t, examples(v), "its column ship is not what was written")
	}
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer c.Close()
	v := spoilt(t, srv.URL(), "gorm", func() {
		require.NoError(t, c.HSet(t.Context(), "spoiltgorm:ships", "s-0004", "{}").Err())
	})
	assert.Contains(t, examples(v), "s-0004: its value is not what was written")
}

func TestDefinedObjectsOnRedis(t *testing.T) {
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer c.Close()
	const more = `g4: {operations: 'b1,h1,m1,q1,l1,x1', threadCount: 2, totalInvocationCount: 20}
g5: {operations: 'b2,h2,m2,q2', threadCount: 2, totalInvocationCount: 20}
b1: {bucket: b, testCase: put, object: ship, totalEntryCount: 20}
h1: {ref: b1, hash: h}
m1: {ref: b1, mcache: c}
q1: {ref: b1, queue: q, testCase: offer}
l1: {ref: b1, list: l, testCase: add}
x1: {ref: b1, topic: x, testCase: publish}
b2: {ref: b1, bucket: b, testCase: get}
h2: {ref: b2, hash: h}
m2: {ref: b2, mcache: c}
q2: {ref: b1, queue: q, testCase: poll}
`
	text := strings.Replace(fleetOps, "g1,g2,g3", "g1,g2,g3,g4,g5", 1) + more + fleet
	o, f := runs(t, srv.URL(), []string{write(t, "fleet.yaml", text)})
	errorless(t, o)
	assert.Len(t, f.Groups, 5)
	var log struct{ ID, Log, Berth string }
	for n := range 20 {
		id := fmt.Sprintf("s-%04d", n+1)
		body, err := c.HGet(t.Context(), "perfbench:ships", id).Result()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(body), &log), body)
		assert.Equal(t, id, log.ID)
		assert.Len(t, log.Log, 100)
		kept, err := c.LIndex(t.Context(), "perfbench:l", int64(n)).Result()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(kept), &log))
		assert.NotEmpty(t, log.Berth)
	}
}

// A text that takes the payload is as long as the knob says now, children included,
// and verification knows every length that it had.
func TestALivePayloadIsInObjects(t *testing.T) {
	text := fleetOps + strings.Replace(fleet, "port: city", "port: {type: text, payload: on}", 1)
	p, err := designed(t, "memory", text, "groupNames", "g1")
	require.NoError(t, err)
	c := open(t, "memory:")
	p = profiletest.Bind(t, Name, p, c, workload.Inputs{Namespace: "perfbench"}, "")
	require.NoError(t, p.Setup(t.Context(), nil))
	tr := p.Tracks()[0]
	w := steps.Of(t, tr, 0)
	length := func(space, key, field string) int {
		v, ok, err := storetest.As[store.Getter](t, c).Get(t.Context(), specOf(t, p).Ops[space].Space, []byte(key), nil)
		require.NoError(t, err)
		require.True(t, ok, key)
		var got map[string]any
		require.NoError(t, json.Unmarshal(v, &got))
		return len(got[field].(string))
	}
	trip := specOf(t, p).Ops["trip1"]
	for n, size := range []int{100, 300, 7} {
		set := tr.Start
		set.Payload = size
		w.Settings = &set
		require.NoError(t, w.Do(t.Context()))
		assert.Equal(t, size, length("ship1", fmt.Sprintf("s-%04d", n+1), "log"))
		for i := range trip.Parent.Children.Count(1, "ship1", int64(n+1)) {
			child := size
			if size == tr.Start.Payload {
				child = trip.Payload
			}
			assert.Equal(t, child, length("trip1", trip.Factory.ID(int64(n+1)*3+1+i), "port"))
		}
	}
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
}

func TestDefinedObjectsInMaps(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) string{
		"cluster": func(t *testing.T) string { return clusterOfTests(t).URL() },
		"memory":  func(*testing.T) string { return "memory:" },
	} {
		t.Run(name, func(t *testing.T) { fleetInMaps(t, start(t)) })
	}
}

// fleetInMaps is called for Cassandra and Coherence where their server is up.
func fleetInMaps(t *testing.T, target string) {
	t.Helper()
	o, f := runs(t, target, []string{write(t, "fleet.yaml", fleetOps+fleet)}, "namespace", "fleet", "cleanup", "on")
	errorless(t, o)
	intact(t, f)
}

// One definition in a file of its own, beside operations in the original's format.
func TestObjectsBesideProperties(t *testing.T) {
	props := write(t, "group.properties", "groupNames=g1\ng1.operations=s\ng1.threadCount=1\ng1.totalInvocationCount=5\ns.map=ships\ns.testCase=put\ns.object=ship\n")
	o, f := runs(t, "memory:", []string{props, write(t, "fleet.yaml", fleet)})
	errorless(t, o)
	assert.Equal(t, "ship", f.Groups[0].Ops[0].Object)
}

func TestBadUsesOfObjects(t *testing.T) {
	const head = "groupNames: g1\ng1: {operations: o}\n"
	for text, want := range map[string]string{
		head + "o: {map: m, testCase: put, object: shipp}\n" + fleet:                                                            `g.yaml:3: o.object: there is no object "shipp"`,
		head + "o: {map: m, testCase: put, factory.class: ship}\n" + fleet:                                                      `there is no data object factory "ship"`,
		head + "o: {map: m, testCase: put, object: ship, factory.class: order}\n" + fleet:                                       "o.factory.class does not go with object: ship",
		head + "o: {map: m, testCase: put, object: ship, key.prefix: x}\n" + fleet:                                              "o.key.prefix does not go with object: ship",
		head + "o: {map: m, testCase: put, object: ship, factory.er.operation: c}\nc: {map: n, object: ship}\n" + fleet:         "the object ship of c has no field that refers to the object ship of o",
		head + "o: {map: m, testCase: put, factory.class: order, factory.er.operation: c}\nc: {map: n, object: ship}\n" + fleet: "the object ship of c has no field that refers to the object order of o",
		head + "o: {map: m, testCase: put, object: ship}\n" + strings.Replace(fleet, "{type: boolean}", "{type: bool}", 1):      `g.yaml:13: object ship: field sold: there is no type "bool"`,
	} {
		_, err := designed(t, "redis", text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	_, err := designed(t, "sqlite", "groupNames: g1\ng1: {operations: 'o,c'}\no: {map: m, testCase: put, object: customer}\nc: {map: n, testCase: put, factory.class: customer}\n"+
		"objects: {customer: {key: c-##, table: customers, fields: {x: city}}}\n")
	require.ErrorContains(t, err, "the table customers of customer is that of customer for operation o too")
	p, err := designed(t, "redis", head+"o: {map: m, testCase: put, object: ship}\n"+fleet)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(p.Warnings, "\n"), "object trip is defined, but no operation works with it")
	assert.Contains(t, strings.Join(p.Writes, "\n"), "put of ship on map m")
}

func TestChildrenOfDefinedObjects(t *testing.T) {
	p, err := designed(t, "redis", fleetOps+fleet)
	require.NoError(t, err)
	r := specOf(t, p).Ops["ship1"].Children
	assert.Equal(t, []any{int64(0), int64(3), model.ChildrenUniform}, []any{r.Least, r.Most, r.Spread})
	seen := map[int64]bool{}
	for n := range int64(200) {
		seen[r.Count(1, "ship1", n)] = true
	}
	assert.Len(t, seen, 4, "none to three")
	assert.Equal(t, datagen.None, specOf(t, p).Ops["trip2"].Factory.Link)
	p, err = designed(t, "redis", strings.Replace(fleetOps, "factory.er.operation: trip1", "factory.er.operation: trip1, factory.er.maxKeys: 7", 1)+fleet)
	require.NoError(t, err)
	assert.Equal(t, int64(7), specOf(t, p).Ops["ship1"].Children.Most, "what the operation says counts")
}

// A table keeps the key that it was made with; other fields come and go.
func TestATableOfAnotherDefinition(t *testing.T) {
	const text = "groupNames: g1\ng1: {operations: o, threadCount: 1, totalInvocationCount: 4}\no: {map: m, testCase: put, object: tag}\n" +
		"objects: {tag: {key: KEY, fields: {code: uuid, FIELDS}}}\n"
	file := func(key, fields string) []string {
		return []string{write(t, "g.yaml", strings.NewReplacer("KEY", key, "FIELDS", fields).Replace(text))}
	}
	for name, target := range databases(t) {
		t.Run(name, func(t *testing.T) {
			o, _ := runs(t, target, file("code", "word: city"), "namespace", "defs")
			errorless(t, o)
			o, _ = runs(t, target, file("code", "n: integer"), "namespace", "defs")
			errorless(t, o)
			_, err := try(t, target, file("t-##", "n: integer"), "namespace", "defs")
			require.ErrorContains(t, err, "the table defs_tag was made from another definition than that of object tag: its primary key is not (id), see column")
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

// Tables that refer to others are deleted before them, wherever a file names them.
func TestListingDeletesWhatRefersFirst(t *testing.T) {
	target := "sqlite:" + t.TempDir() + "/x.db"
	text := strings.Replace(fleetOps, "g1,g2,g3", "g1", 1) + fleet
	runs(t, target, []string{write(t, "fleet.yaml", text)})
	p, err := designed(t, "sqlite", text)
	require.NoError(t, err)
	c := open(t, target)
	want, err := p.Binder.(binder).Listing(t.Context(), c, nil)
	require.NoError(t, err)
	claim, err := ownership.Hold(t.Context(), c, "perfbench", "a test")
	require.NoError(t, err)
	got, err := p.Binder.(binder).Listing(t.Context(), c, claim)
	require.NoError(t, err)
	require.NoError(t, claim.Release(t.Context()))
	assert.Contains(t, want, "size: 20\n    deleted: false")
	assert.Equal(t, strings.ReplaceAll(want, "deleted: false", "deleted: true"), got, "the sizes of before")
}

func TestAFieldIsLookedFor(t *testing.T) {
	const text = "groupNames: g1,g2\ng1: {operations: o, threadCount: 2, totalInvocationCount: 60}\ng2: {operations: q, threadCount: 2, totalInvocationCount: 30}\n" +
		"o: {map: m, testCase: put, object: OBJECT, totalEntryCount: 60}\nq: {ref: o, testCase: query, batchSize: 40}\n" +
		"objects:\n  tag: {key: t-##, fields: {hue: {values: [red, green]}, on: {type: boolean, index: on}}}\n  bare: {key: b-##, fields: {hue: city}}\n"
	target := "sqlite:" + t.TempDir() + "/x.db"
	for _, mapper := range []string{"gorm", "raw"} {
		o, f := runs(t, target, []string{write(t, "g.yaml", strings.Replace(text, "OBJECT", "tag", 1))}, "mapper", mapper)
		errorless(t, o)
		assert.Greater(t, f.Groups[1].Ops[0].Entries, int64(10*30), "half of the 60 are on, half are not")
		assert.Zero(t, f.Groups[1].Ops[0].Misses)
	}
	_, err := try(t, target, []string{write(t, "g.yaml", strings.Replace(text, "OBJECT", "bare", 1))})
	require.ErrorContains(t, err, "query: the table bare has no column to search by")
	assert.Contains(t, fault.HintOf(err), "write  index: on  in a field of bare")
}
