package northwind

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestColumnsAndValuesAgree(t *testing.T) {
	names := map[string]bool{}
	for _, e := range entities {
		f := &Factory{Entity: e, Seed: 1, Length: 8, Zeros: true, Prefix: "x"}
		_, r := f.Object(7, "parent", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		columns := ColumnsOf(e.RowType())
		args := r.Args(nil)
		require.Len(t, args, len(columns), e.Name)
		names[e.Name] = true
		for i, c := range columns {
			v := reflect.ValueOf(r).Elem().FieldByNameFunc(func(n string) bool {
				f, _ := reflect.TypeOf(r).Elem().FieldByName(n)
				return f.Tag.Get("json") == c
			})
			require.True(t, v.IsValid(), "%s.%s", e.Name, c)
			assert.Equal(t, v.Interface(), args[i], "%s.%s", e.Name, c)
			if text, ok := args[i].(string); ok {
				var size int
				f, _ := reflect.TypeOf(r).Elem().FieldByNameFunc(func(n string) bool {
					x, ok := reflect.TypeOf(r).Elem().FieldByName(n)
					return ok && x.Tag.Get("json") == c
				})
				_, err := fmt.Sscanf(f.Tag.Get("gorm")[len("column:"+c+";size:"):], "%d", &size)
				require.NoError(t, err)
				assert.LessOrEqual(t, len(text), size, "%s.%s: %q fits its column", e.Name, c, text)
			}
		}
	}
	assert.Len(t, names, 11)
}

func TestObjectsFitTheirColumns(t *testing.T) {
	for _, e := range entities {
		f := &Factory{Entity: e, Seed: 3, Random: true}
		for n := range int64(2000) {
			id, r := f.Object(n, "", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			require.Len(t, id, 11)
			again, same := f.Object(n, "", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			require.Equal(t, id, again)
			require.Equal(t, r, same, "the same seed and number make the same object")
			if c, ok := r.(*customer); ok {
				require.LessOrEqual(t, len(c.Address), 100)
				require.LessOrEqual(t, len(c.ContactTitle), 50)
				require.LessOrEqual(t, len(c.CompanyName), 50)
				require.LessOrEqual(t, len(c.Phone), 30)
			}
		}
	}
}
