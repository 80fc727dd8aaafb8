package own_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/foreign"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"
)

const shop = `
data:
  product: {records: 100_000, size: 1KiB}
  stock:   {records: 100_000, type: counter}
  user:    {records: 10, fields: [name, mail], size: 30, ttl: 7d, key: {prefix: u, hashed: true}}
  item:    {records: 10, fields: {a: 10, b: {1KiB: 90, 2..3KiB: 10}}, compressible: 40%}
operations:
  browse: {get: product, keys: zipf 0.99, hit: 97%}
  order:  [{get: product}, {think: 200ms..1s}, {add: stock, by: -1}, {insert: order, size: normal 400..2KiB}]
  pay:    {steps: [{get: user}, {update: user, keys: same, fields: [mail]}], atomic: true}
  some:   {get: item, fields: 1, keys: hot 5% 90% drift 100, records: 2..9}
  own:    {statement: "HGET ? a", args: [{key: user}, {number: 1..5}, x], expect: "1"}
mix: {browse: 95, order: 5}
session: {operations: 5..20, pause: 1s}
`

func TestWhatAFileSays(t *testing.T) {
	w, err := own.Read("shop.yaml", shop)
	require.NoError(t, err)
	require.Len(t, w.Data, 5, "order is only named by a step")
	assert.Equal(t, model.Data{Name: "product", Type: model.Value, Records: 100_000, Size: model.One(1024), Key: model.KeyForm{Length: 10}}, w.Data[0])
	assert.Equal(t, model.Number{Kind: model.Weighted, Table: []model.Choice{{Weight: 90, Min: 1024, Max: 1024}, {Weight: 10, Min: 2, Max: 3072}}}, w.Data[3].Fields[1].Size)
	order := w.Operations[1]
	assert.InDelta(t, 5, order.Weight, 0)
	require.Len(t, order.Steps, 4)
	assert.Equal(t, model.Between(200e6, 1e9), order.Steps[1].Pause)
	assert.Equal(t, model.One(-1), order.Steps[2].By)
	assert.Equal(t, model.Number{Kind: model.Normal, Min: 400, Max: 2048}, order.Steps[3].Size)
	assert.Equal(t, "shop.yaml:9", order.Steps[0].Where)
	some := w.Operations[3].Steps[0].Keys
	assert.Equal(t, model.Keys{Kind: model.HotSet, Hot: 0.05, HotCalls: 0.9, Drift: 100, From: 2, To: 10}, some)
	assert.Zero(t, w.Operations[2].Weight, "it is not in the mix")
	assert.InDelta(t, 0.97, *w.Operations[0].Steps[0].Hit, 1e-9)
}

// A workload that is written is read as the same, whatever file it came from.
func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	w, err := own.Read("shop.yaml", shop)
	require.NoError(t, err)
	all := map[string]*model.Workload{"shop.yaml": w}
	files, err := filepath.Glob("../foreign/testdata/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		w, notes, err := foreign.Read(workload.File{Path: path, Data: data})
		require.NoError(t, err, path)
		if foreign.Refusal(notes) != nil || w == nil {
			continue
		}
		require.NoError(t, w.Complete(), path)
		all[path] = w
	}
	for path, w := range all {
		text := own.Write(w)
		back, err := own.Read("again", text)
		require.NoError(t, err, "%s\n%s", path, text)
		w.Run = model.Run{} // which travels beside it
		for _, one := range []*model.Workload{w, back} {
			for i := range one.Operations {
				for j := range one.Operations[i].Steps {
					one.Operations[i].Steps[j].Where = ""
				}
			}
		}
		assert.Equal(t, w, back, "%s\n%s", path, text)
	}
}

func TestMistakesNameTheirPlaceAndWhatWasMeant(t *testing.T) {
	const before = "data:\n  product: {records: 10}\n"
	for text, want := range map[string][2]string{
		before + "operations: {look: {gett: product}}":                                 {`x.yaml:3:21: a step of look has no key "gett"`, "did you mean get?"},
		before + "operations: {look: {get: prodct}}":                                   {`x.yaml:3: operation look: there is no data set "prodct"`, "did you mean product?"},
		before + "operations: {look: {get: product, keys: zip 1}}":                     {`x.yaml:3:41: look: keys: "zip" is not a distribution of keys`, "did you mean zipf?"},
		before + "operations: {look: {get: product, keys: zipf -1}}":                   {`x.yaml:3:41: look: keys: the exponent -1 is not above 0`, "zipf 0.99"},
		before + "operations: {look: {add: product}}":                                  {`operation look: there is no add on a value, which product is`, "on a value there are delete, get, insert, modify, put, scan"},
		before + "operations: {look: {get: product}}\nmix: {lok: 3}":                   {`x.yaml:4:7: mix: there is no operation "lok"`, "did you mean look?"},
		before + "operations: {look: {get: product}}\nmix: {look: 0}":                  {"no operation has a weight above 0", "mix: {look: 100}"},
		before + "operations: {look: {get: product, size: 5XB}}":                       {`look: size: "5XB" is not a size`, "1KiB"},
		before + "operations: {look: {get: product, put: product}}":                    {"a step of look does get already", "make it a list of steps"},
		before + "operations: {look: [{think: 1s}, {get: product, fill: perhaps}]}":    {`look: fill: "perhaps" is not on or off`, ""},
		"data: {product: {records: -1}}\noperations: {look: {get: product}}":           {`product.records: "-1" is not a whole number`, ""},
		"data: {product: {type: hsh}}":                                                 {`"hsh" is not a type of data`, "did you mean hash?"},
		"data: {9x: {}}":                                                               {`"9x" is not a name in data`, "beginning with a letter"},
		"operations: {look: {get: product}}":                                           {`there is no data set "product"`, "say under data how many records it has"},
		"data: {product: {}}\noperations: {look: {get: product}}":                      {"product has no records", "--records"},
		"data: {a-b: {records: 1}, A_b: {records: 1}}\noperations: {look: {get: a-b}}": {"data sets a-b and A_b would be the same table", "another name"},
		"mix: {}": {"there are no operations", "operations: {read: {get: product}}"},
	} {
		_, err := own.Read("x.yaml", text)
		require.ErrorContains(t, err, want[0], text)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), text)
		assert.Contains(t, fault.HintOf(err), want[1], text)
	}
}
