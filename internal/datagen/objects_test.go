package datagen_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

// read reads a definition as a file has it.
func read(t testing.TB, text string) (*datagen.Model, *values.Reader) {
	t.Helper()
	list, err := yaml.Values("s.yaml", []byte(text), nil)
	require.NoError(t, err)
	vs := workload.Values{}
	for _, v := range list {
		vs.Set(v)
	}
	r := values.New(vs)
	return datagen.Read(r), r
}

const every = `objects:
  boat:
    key: b-####
    fields:
      name: {type: text, length: 3..9}
      log: {type: text, payload: on}
      crew: {type: integer, range: 1..6}
      draught: {type: float, range: 0.5..2.5}
      price: {type: decimal, range: -10..99.5, decimals: 1}
      sold: {type: boolean, share: 0.25}
      built: {type: date, range: 2001-02-03..2003-04-05}
      seen: {type: time, range: 2025-01-01..2025-06-30}
      made: now
      token: uuid
      place: {generator: sequence, start: 100, step: -2}
      berth: "B-##"
      hull: {values: [wood, steel, 'glass "fibre"'], weights: [1, 2, 7]}
      masts: {values: [1, 2], type: integer}
      ref: "{berth}/{crew}/{mate}"
      mate: {template: "{first} {last}"}
      first: first
      last: last
      full: name
      yard: company
      post: title
      at: address
      town: city
      st: state
      land: country
      code: zip
      call: phone
      words: {generator: words, length: 2}
      sister: {parent: boat, spread: uniform, among: 50}
`

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestEveryGenerator(t *testing.T) {
	m, r := read(t, every)
	require.NoError(t, r.Problems.Err())
	o := m.Find("boat")
	require.NotNil(t, o)
	assert.Equal(t, "id,name,log,crew,draught,price,sold,built,seen,made,token,place,berth,hull,masts,ref,mate,first,last,full,yard,post,at,town,st,land,code,call,words,sister",
		strings.Join(o.Columns(), ","), "the key made of a pattern, then the order of the file")
	mk := o.NewMaker(7, now)
	hulls, tokens := map[string]int{}, map[string]bool{}
	for n := range int64(2000) {
		n++
		mk.Make(n, datagen.None, "", 40)
		var b struct {
			ID, Name, Log, Token, Berth, Hull, Ref, Mate, First, Last, Sister string
			Crew, Place, Masts                                                int64
			Draught, Price                                                    float64
			Sold                                                              bool
			Built                                                             string
			Seen, Made                                                        time.Time
		}
		text := mk.AppendJSON(nil)
		require.NoError(t, json.Unmarshal(text, &b), "%s", text)
		assert.Equal(t, fmt.Sprintf("b-%04d", n), b.ID)
		assert.Equal(t, b.ID, string(o.AppendKey(nil, 7, n)))
		assert.Len(t, b.Log, 40)
		assert.True(t, len(b.Name) >= 3 && len(b.Name) <= 9)
		assert.True(t, b.Crew >= 1 && b.Crew <= 6)
		assert.True(t, b.Draught >= 0.5 && b.Draught < 2.5)
		assert.True(t, b.Price >= -10 && b.Price <= 99.5)
		assert.True(t, b.Built >= "2001-02-03" && b.Built <= "2003-04-05")
		assert.True(t, b.Seen.Year() == 2025 && b.Seen.Month() <= 6)
		assert.Equal(t, now, b.Made)
		assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, b.Token)
		assert.Equal(t, 100-2*(n-1), b.Place)
		assert.Equal(t, fmt.Sprintf("B-%02d", n), b.Berth)
		assert.Contains(t, []int64{1, 2}, b.Masts)
		assert.Equal(t, b.First+" "+b.Last, b.Mate)
		assert.Equal(t, fmt.Sprintf("%s/%d/%s", b.Berth, b.Crew, b.Mate), b.Ref)
		assert.Regexp(t, `^b-00[0-5]\d$`, b.Sister)
		hulls[b.Hull]++
		tokens[b.Token] = true
	}
	assert.Len(t, tokens, 2000, "no uuid comes twice")
	assert.InDelta(t, 1400, hulls[`glass "fibre"`], 120)
	assert.InDelta(t, 400, hulls["steel"], 100)
}

// Whoever loaded objects with one release reads them with the next.
func TestTheBytesStay(t *testing.T) {
	m, r := read(t, every)
	require.NoError(t, r.Problems.Err())
	mk := m.Objects[0].NewMaker(1, now)
	mk.Make(42, datagen.None, "", 16)
	assert.Equal(t, `{"id":"b-0042","name":"XcFF","log":"sewZlCpuGa nYh Y","crew":6,"draught":2.1742435022085225,"price":62.6,"sold":false,"built":"2001-08-08","seen":"2025-06-26T08:37:29.500Z","made":"2026-03-04T05:06:07.000Z","token":"68fff353-763d-4f67-8dad-4f5188501b5c","place":18,"berth":"B-42","hull":"glass \"fibre\"","masts":1,"ref":"B-42/6/Zeno Keeling","mate":"Zeno Keeling","first":"Zeno","last":"Keeling","full":"Noah Daniel","yard":"Norris, Irwin and Kirk","post":"National Legal Analyst","at":"Apt. 935 54399 Eaton Square, Port Tinaberg, TN 43094","town":"New Daniel","st":"AZ","land":"Portugal","code":"46529","call":"671-767-2442","words":"chocolate sweet","sister":"b-0027"}`, string(mk.AppendJSON(nil)))
}

func TestAStructAndArgumentsAreTheSame(t *testing.T) {
	m, r := read(t, every)
	require.NoError(t, r.Problems.Err())
	o := m.Objects[0]
	mk := o.NewMaker(1, now)
	mk.Make(5, datagen.None, "", 16)
	row, args := mk.Struct(), mk.Args(nil)
	require.Len(t, args, len(o.Fields))
	for i := range args {
		assert.Equal(t, args[i], reflect.ValueOf(row).Elem().Field(i).Interface(), o.Fields[i].Name)
	}
	assert.Empty(t, mk.Differs(row))
	mk.Make(6, datagen.None, "", 16)
	assert.Equal(t, "id", mk.Differs(row))
	mk.Make(5, datagen.None, "", 17)
	assert.Equal(t, "log", mk.Differs(row))
}

func TestMakingAllocatesNothing(t *testing.T) {
	m, r := read(t, every+"      skipper: {parent: boat, spread: zipf, among: 1000}\n")
	require.NoError(t, r.Problems.Err())
	mk := m.Objects[0].NewMaker(1, now)
	var buf []byte
	n := int64(0)
	make1 := func() {
		n++
		mk.Make(n, datagen.None, "", 100)
		buf = mk.AppendJSON(buf[:0])
	}
	for range 200 {
		make1()
	}
	assert.Zero(t, testing.AllocsPerRun(200, make1))
}

func TestParentsAreSpread(t *testing.T) {
	m, r := read(t, `objects:
  land: {key: "l-###", fields: {name: country}}
  port:
    key: "p-###"
    fields:
      a: {parent: land}
      b: {parent: land, each: 3, among: 4, first: 10}
      c: {parent: land, spread: uniform, among: 10}
      d: {parent: land, spread: zipf, among: 10, skew: 1}
`)
	require.NoError(t, r.Problems.Err())
	o := m.Find("port")
	assert.Equal(t, 1, o.Link(m.Find("land")))
	mk := o.NewMaker(1, now)
	seen := map[string]map[string]int{"c": {}, "d": {}}
	for n := range int64(3000) {
		mk.Make(n+1, datagen.None, "", 0)
		var got map[string]string
		require.NoError(t, json.Unmarshal(mk.AppendJSON(nil), &got))
		assert.Equal(t, fmt.Sprintf("l-%03d", n+1), got["a"])
		assert.Equal(t, fmt.Sprintf("l-%03d", 10+n/3%4), got["b"])
		seen["c"][got["c"]]++
		seen["d"][got["d"]]++
	}
	assert.Len(t, seen["c"], 10)
	assert.InDelta(t, 300, seen["c"]["l-001"], 80)
	assert.InEpsilon(t, 10, float64(seen["d"]["l-001"])/float64(seen["d"]["l-010"]), 0.35, "as 1 to a tenth")
	mk.Make(1, 1, "l-777", 0)
	assert.Contains(t, string(mk.AppendJSON(nil)), `"a":"l-777"`, "a child has the parent after which it is written")
}

func TestBadDefinitions(t *testing.T) {
	const ok = "objects:\n  a:\n    key: id\n    fields:\n      id: {generator: uuid}\n"
	for text, want := range map[string]string{
		ok + "      x: {generator: sequense}":                                                            "s.yaml:6: object a: field x: there is no generator \"sequense\"",
		ok + "      x: {type: number}":                                                                   "s.yaml:6: object a: field x: there is no type \"number\"",
		ok + "      x: {type: text, generator: integer}":                                                 "s.yaml:6: object a: field x: type text does not go with the generator integer",
		ok + "      x: {type: integer, lenght: 5}":                                                       "s.yaml:6: object a: field x: the generator integer has no \"lenght\"",
		ok + "      x: {type: integer, range: 9..1}":                                                     "s.yaml:6: object a: field x: range: \"9..1\" ends before it begins",
		ok + "      x: {type: integer, range: few}":                                                      "range: \"few\" is neither a whole number nor two",
		ok + "      x: {type: float, range: a..b}":                                                       "range: \"a..b\" is not two numbers",
		ok + "      x: {type: date, range: 2020-13-01..2021-01-01}":                                      "is not two dates in order",
		ok + "      x: {type: decimal, decimals: 9}":                                                     "decimals: \"9\" is not within 0..6",
		ok + "      x: {type: boolean, share: 2}":                                                        "share: \"2\" is not a number within 0..1",
		ok + "      x: {generator: pick}":                                                                "the generator pick has no values",
		ok + "      x: {values: [a, b], weights: [1]}":                                                   "weights: there are 1 for 2 values",
		ok + "      x: {values: [a, b], weights: [1, 0]}":                                                "weights: \"0\" is not a whole number above 0",
		ok + "      x: {values: [1, b], type: integer}":                                                  "values: \"b\" is not of type integer",
		ok + "      x: '{y}'":                                                                            "template: there is no field \"y\"",
		ok + "      x: '{y}'\n      y: '{x}'":                                                            "field x: template: uses y, which uses it in turn",
		ok + "      x: 'a#b#'":                                                                           "pattern: \"a#b#\" does not have exactly one stretch",
		ok + "      x: {parent: b}":                                                                      "s.yaml:6: object a: field x: parent: there is no object \"b\"",
		ok + "      x: {parent: a, spread: zipf}":                                                        "spread zipf needs  among",
		ok + "      x: {parent: a, spread: pareto}":                                                      "spread: \"pareto\" is not one of sequential, uniform, zipf",
		ok + "      x: {parent: a, skew: 1}":                                                             "skew is of spread: zipf, not sequential",
		ok + "      x: {parent: a, foreignKey: on}":                                                      "refers to its own table",
		ok + "      x: {parent: a, children: 5..2}":                                                      "children: \"5..2\" ends before it begins",
		ok + "      x: {parent: a, childrenSpread: zipf}":                                                "children is not set",
		ok + "      x: {type: text, payload: on, index: on}":                                             "cannot be indexed everywhere",
		ok + "      x: {type: text, index: perhaps}":                                                     "index: \"perhaps\" is neither on nor off",
		ok + "      x: {}\n      y: {length: 3}":                                                         "field y: has no generator",
		ok + "      Id: uuid":                                                                            "differs from id in the case of letters only",
		ok + "      x-y: uuid":                                                                           "\"x-y\" cannot be the name of a field",
		ok:                                                                                               "object a: has no field besides its key",
		"objects:\n  a:\n    fields:\n      x: city":                                                     "s.yaml:4: object a: has no key",
		"objects:\n  a:\n    key: name\n    fields:\n      x: city":                                      "s.yaml:3: object a: key: \"name\" is neither one of its fields nor a pattern",
		"objects:\n  a:\n    key: x\n    fields:\n      x: city\n      y: city":                          "object a: field x: is the key, and with the generator city two objects may have the same one",
		"objects:\n  a:\n    key: a-#\n    fields:\n      id: city":                                      "is a pattern, which makes a field id, and there is one",
		"objects:\n  a:\n    keys: id":                                                                   "s.yaml:3: object a: there is no \"keys\"",
		"objects:\n  a:\n    key: a-#\n    order: id\n    fields:\n      x: city":                        "order: the field x is missing",
		"objects:\n  a:\n    key: a-#\n    order: id,y\n    fields:\n      x: city":                      "order: there is no field \"y\"",
		"objects:\n  a:\n    key: a-#\n    table: 'x y'\n    fields:\n      x: city":                     "table: \"x y\" cannot be the name of a table",
		"objects:\n  a: {key: a-#, fields: {x: city}}\n  b: {key: b-#, table: A, fields: {x: city}}":     "object b: table A is that of the object a too",
		"objects:\n  a: {key: a-#, fields: {x: {parent: b}}}\n  b: {key: b-#, fields: {x: {parent: a}}}": "objects: the parents form a circle: a → b → a",
	} {
		_, r := read(t, text+"\n")
		err := r.Problems.Err()
		if assert.Error(t, err, text) {
			assert.Contains(t, err.Error(), want)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		}
	}
}

// A flag that takes the place of a field's only value leaves the field where it was.
func TestAFlagKeepsTheOrder(t *testing.T) {
	list, err := yaml.Values("s.yaml", []byte("objects:\n  a:\n    key: a-#\n    fields:\n      z: city\n      b: city\n"), nil)
	require.NoError(t, err)
	vs := workload.Values{}
	for _, v := range list {
		vs.Set(v)
	}
	vs.Set(workload.Value{Name: "objects.a.fields.z", Text: "state", Origin: workload.OriginFlag})
	m := datagen.Read(values.New(vs))
	assert.Equal(t, []string{"id", "z", "b"}, m.Objects[0].Columns())
	vs.Set(workload.Value{Name: "objects.a.order", Text: "b,id,z", Origin: workload.OriginFlag})
	m = datagen.Read(values.New(vs))
	assert.Equal(t, []string{"b", "id", "z"}, m.Objects[0].Columns())
	assert.Equal(t, "id", m.Objects[0].Key().Name)
}
