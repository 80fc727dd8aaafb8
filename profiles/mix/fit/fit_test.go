package fit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"
)

// What mix chooses by is found again in the calls.
func TestExponentsAreFoundAgain(t *testing.T) {
	for _, want := range []float64{0.6, 0.9, 0.99, 1.2, 2} {
		for _, records := range []int64{1000, 100_000} {
			c := datagen.NewChooser(datagen.Keys{Kind: datagen.ZipfKeys, Exponent: want}, 7, records)
			counts := make([]int64, records)
			for i := range uint64(400_000) {
				counts[c.Choose(i, records)]++
			}
			keys, note := distribution("x", counts)
			require.Equal(t, model.Zipf, keys.Kind, note)
			assert.InDelta(t, want, keys.Exponent, 0.03, "of %d records; %v", records, note)
		}
	}
	counts := make([]int64, 1000)
	for i := range uint64(400_000) {
		counts[i*0x9e3779b97f4a7c15>>40%1000]++
	}
	keys, _ := distribution("x", counts)
	assert.Equal(t, model.Uniform, keys.Kind)
	keys, note := distribution("x", []int64{3, 1})
	assert.Equal(t, model.Uniform, keys.Kind)
	assert.Contains(t, note, "too few keys")
}

// Each operation gets the distribution that its calls were drawn from, whatever that of the others
// is, and those that follow the newest records are told from those that do not.
func TestDistributionsOfCapturesAreFoundAgain(t *testing.T) {
	tier.Slow(t, tier.Computes)
	zipf := func(s float64) datagen.Keys { return datagen.Keys{Kind: datagen.ZipfKeys, Exponent: s} }
	latest := func(s float64) datagen.Keys { return datagen.Keys{Kind: datagen.LatestKeys, Exponent: s} }
	uniform := datagen.Keys{Kind: datagen.UniformKeys}
	for name, tt := range map[string]struct {
		get, put datagen.Keys
		inserts  int // one of so many calls; 0: none
	}{
		"one for all":       {get: zipf(0.99), put: zipf(0.99)},
		"one each":          {get: zipf(1.2), put: zipf(0.7)},
		"one evenly":        {get: zipf(0.99), put: uniform},
		"the newest":        {get: latest(0.99), put: latest(0.99), inserts: 20},
		"the newest, flat":  {get: latest(0.6), put: uniform, inserts: 20},
		"reads, the newest": {get: latest(1.2), put: zipf(0.99), inserts: 50},
		"growing, old ones": {get: zipf(0.99), put: zipf(0.99), inserts: 20},
	} {
		t.Run(name, func(t *testing.T) {
			const records = 300
			there := int64(records)
			get, put := datagen.NewChooser(tt.get, 7, there), datagen.NewChooser(tt.put, 8, there)
			var calls []capture.Call
			for i := range 60_000 {
				record, args := int64(0), []capture.Arg{capture.TextArg("GET")}
				switch {
				case tt.inserts > 0 && i%tt.inserts == 0:
					record, there = there, there+1
					args[0].Text = "SET"
				case i%4 == 1:
					record = put.Choose(uint64(i), there)
					args[0].Text = "SET"
				default:
					record = get.Choose(uint64(i), there)
				}
				args = append(args, capture.TextArg(fmt.Sprintf("user:%d", record)))
				if args[0].Text == "SET" {
					args = append(args, capture.Arg{Kind: capture.Size, Size: 100})
				}
				calls = append(calls, capture.Call{At: time.Duration(i) * time.Microsecond, Args: args, Keys: []int{1}})
			}
			got, err := Of("x", bytes.NewReader(write(t, "redis", calls...)))
			require.NoError(t, err)
			w, err := own.Read("x.yaml", got.Text)
			require.NoError(t, err)
			follows := false
			for _, o := range w.Operations {
				want, keys := tt.get, o.Steps[0].Keys
				switch o.Steps[0].Do {
				case model.Insert:
					follows = true
					continue
				case model.Put:
					want = tt.put
				}
				assert.EqualValues(t, want.Kind, keys.Kind, got.Text)
				assert.InDelta(t, want.Exponent, keys.Exponent, 0.06, got.Text)
			}
			assert.Equal(t, tt.get.Kind == datagen.LatestKeys, follows, "what follows new records adds some")
			assert.Contains(t, got.Text, "the largest gap to ")
		})
	}
}

func write(t *testing.T, store string, calls ...capture.Call) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.capture")
	w, err := capture.Create(path, capture.Header{Store: store, Source: "x", How: "x", Started: time.Unix(1, 0), Timing: capture.Exact}, 0)
	require.NoError(t, err)
	for i := range calls {
		calls[i].Conn = 1
		require.NoError(t, w.Add(&calls[i]))
	}
	require.NoError(t, w.Close("end"))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// Each kind of keys becomes a data set with the operations, weights, sizes and times to live that
// were recorded, and what it cannot say is listed. The text is a workload.
func TestACaptureBecomesAWorkload(t *testing.T) {
	var calls []capture.Call
	add := func(keys []int, args ...any) {
		c := capture.Call{At: time.Duration(len(calls)) * time.Millisecond, Keys: keys}
		for _, a := range args {
			switch a := a.(type) {
			case int:
				c.Args = append(c.Args, capture.Arg{Kind: capture.Size, Size: a})
			case string:
				c.Args = append(c.Args, capture.TextArg(a))
			}
		}
		calls = append(calls, c)
	}
	one := []int{1}
	for i := range 1000 {
		user := fmt.Sprintf("user:%d:profile", i%100)
		switch {
		case i%10 < 6:
			add(one, "GET", user)
		case i%10 == 6:
			add(one, "SET", user, 100+i, "EX", "60")
		case i%10 == 7:
			add([]int{1, 2}, "MGET", "user:1:profile", "user:2:profile")
		case i%20 == 8:
			add(one, "HSET", fmt.Sprintf("basket{%d}", i%50), "total", 20, "items", 20)
		case i%20 == 18:
			add(one, "HGET", fmt.Sprintf("basket{%d}", i%50), "total")
		case i%20 == 9:
			add(one, map[bool]string{true: "DECRBY", false: "INCRBY"}[i%40 == 9], "visits:2026-11-27", map[bool]string{true: "3", false: "2"}[i%40 == 9])
		default:
			add(nil, "PING")
		}
	}
	add(one, "EVAL", "k")
	got, err := Of("shop.capture", bytes.NewReader(write(t, "redis", calls...)))
	require.NoError(t, err)
	assert.EqualValues(t, 950, got.Calls)
	assert.Equal(t, map[string]int64{"PING": 50, "EVAL": 1}, got.Left)
	assert.Contains(t, got.Text, "# Made of shop.capture: 950 of 1001 calls.\n")
	assert.Contains(t, got.Text, "# Left out: 50 calls of PING.\n")
	assert.Contains(t, got.Text, "--rate 950")

	w, err := own.Read("shop.yaml", got.Text)
	require.NoError(t, err)
	weights := map[string]float64{}
	for _, o := range w.Operations {
		weights[o.Name] = o.Weight
	}
	assert.Equal(t, map[string]float64{
		"user-profile-get": 63.16, "user-profile-put": 10.53, "user-profile-get-many": 10.53, "basket-update": 5.263, "basket-get": 5.263, "visits-add": 5.263,
	}, weights)
	user := w.Data[w.Index("user-profile")]
	assert.EqualValues(t, 70, user.Records)
	assert.EqualValues(t, time.Minute, user.TTL.Min)
	assert.Equal(t, model.Weighted, user.Size.Kind)
	assert.EqualValues(t, 106, user.Size.Table[0].Min)
	assert.EqualValues(t, 1096, user.Size.Most())
	basket := w.Data[w.Index("basket")]
	assert.Equal(t, model.Hash, basket.Type)
	assert.Len(t, basket.Fields, 2)
	assert.Equal(t, []model.Choice{{Weight: 50, Min: 20, Max: 20}}, []model.Choice{{Weight: 50, Min: basket.Size.Min, Max: basket.Size.Max}}, "sizes that are all the same")
	assert.Equal(t, model.Counter, w.Data[w.Index("visits")].Type)
	for _, o := range w.Operations {
		if o.Name == "visits-add" {
			assert.Equal(t, model.Between(-3, 2), o.Steps[0].By)
		}
	}
}

func TestCapturesThatBecomeNoWorkload(t *testing.T) {
	for says, data := range map[string][]byte{
		"there is no statement in it that a workload": write(t, "postgres", capture.Call{Args: []capture.Arg{capture.TextArg("SELECT"), capture.TextArg("SELECT ?")}}),
		"line 2: calls is \"many\", and should be":    []byte("query,calls\nSELECT 1,many\n"),
		"line 3: this is no line of a CSV file":       []byte("calls,query\n1,SELECT 1\n1,2,3\n"),
		"line 2: rows is \"-1\"":                      []byte("calls,query,rows\n1,\"SELECT\n 1\",-1\n"),
		"there is no call in it that a workload":      write(t, "redis", capture.Call{Args: []capture.Arg{capture.TextArg("PING")}}),
		"x is no capture":                             []byte("what is this"),
		"line 1: the file ends before its header do":  write(t, "redis")[:20],
	} {
		_, err := Of("x", bytes.NewReader(data))
		require.ErrorContains(t, err, says)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

func TestKeysOfAKind(t *testing.T) {
	for key, want := range map[string]string{
		"user:17": "user", "user:17:name": "user-name", "{user:17}:Cart": "user-cart", "session:a3f9c1": "session", "visits:2026-11-27": "visits", "42": "", "item42": "item",
		"app:cache:v2:page:9": "app-cache-v", "a b": "a-b",
	} {
		assert.Equal(t, want, patternOf(key), key)
	}
}

// Statements about the records of one table become operations on a data set, and others are listed.
func TestStatisticsBecomeAWorkload(t *testing.T) {
	got, err := Of("stats.csv", strings.NewReader(`userid,query,calls,total_exec_time,rows
10,"SELECT * FROM orders WHERE id = $1",600,1.5,590
10,"SELECT * FROM public.orders WHERE customer = $1 ORDER BY id DESC LIMIT $2",100,1.5,2000
10,"INSERT INTO orders (id, state, total)
VALUES ($1, $2, $3)",100,1.5,100
10,"UPDATE orders SET state = $1 WHERE id = $2",100,1.5,100
10,"SELECT * FROM ""Item"" WHERE id = ANY($1)",100,1.5,500
10,"INSERT INTO audit VALUES ($1), ($2)",0,1.5,0
10,"SELECT count(*) FROM orders
 WHERE state = $1",30,1.5,30
10,BEGIN,20,0,0
`))
	require.NoError(t, err)
	assert.EqualValues(t, 1000, got.Calls)
	assert.Contains(t, got.Text, "# Made of stats.csv: 1000 of 1050 statements.\n")
	assert.Contains(t, got.Text, "# Left out: 30 calls of SELECT count(*) FROM orders WHERE state = $1\n# Left out: 20 calls of BEGIN\n")
	w, err := own.Read("shop.yaml", got.Text)
	require.NoError(t, err)
	does := map[string]float64{}
	for _, o := range w.Operations {
		does[o.Name] = o.Weight
		switch o.Name {
		case "orders-scan":
			assert.Equal(t, model.One(20), o.Steps[0].Count)
		case "item-get-many":
			assert.Equal(t, model.One(5), o.Steps[0].Batch)
		case "orders-update":
			assert.Equal(t, 1, o.Steps[0].Fields)
		}
	}
	assert.Equal(t, map[string]float64{"orders-get": 60, "orders-scan": 10, "orders-insert": 10, "orders-update": 10, "item-get-many": 10}, does)
	orders := w.Data[w.Index("orders")]
	assert.Equal(t, []model.Field{{Name: "id"}, {Name: "state"}, {Name: "total"}}, orders.Fields)
	assert.EqualValues(t, 100_000, orders.Records)
}

func TestCapturesOfStatementsBecomeAWorkload(t *testing.T) {
	var calls []capture.Call
	for i := range 100 {
		text := "SELECT * FROM t WHERE id = ?"
		if i%4 == 0 {
			text = "UPDATE t SET a = ?, b = '?' WHERE id IN (?, ?)"
		}
		calls = append(calls, capture.Call{At: time.Duration(i) * 10 * time.Millisecond, Args: []capture.Arg{capture.TextArg(text[:6]), capture.TextArg(text)}})
	}
	got, err := Of("x", bytes.NewReader(write(t, "mysql", calls...)))
	require.NoError(t, err)
	assert.Contains(t, got.Text, "--rate 102")
	w, err := own.Read("x.yaml", got.Text)
	require.NoError(t, err)
	require.Len(t, w.Operations, 2)
	assert.Equal(t, "t-get", w.Operations[0].Name)
	assert.EqualValues(t, 75, w.Operations[0].Weight)
	assert.Equal(t, 2, w.Operations[1].Steps[0].Fields)
}
