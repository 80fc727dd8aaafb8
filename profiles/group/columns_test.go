package group

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
		f := &factory{entity: e, seed: 1, length: 8, zeros: true, prefix: "x"}
		_, r := f.object(7, "parent", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		columns := columnsOf(e.typ())
		args := r.args(nil)
		require.Len(t, args, len(columns), e.name)
		names[e.name] = true
		for i, c := range columns {
			v := reflect.ValueOf(r).Elem().FieldByNameFunc(func(n string) bool {
				f, _ := reflect.TypeOf(r).Elem().FieldByName(n)
				return f.Tag.Get("json") == c
			})
			require.True(t, v.IsValid(), "%s.%s", e.name, c)
			assert.Equal(t, v.Interface(), args[i], "%s.%s", e.name, c)
			if text, ok := args[i].(string); ok {
				var size int
				f, _ := reflect.TypeOf(r).Elem().FieldByNameFunc(func(n string) bool {
					x, ok := reflect.TypeOf(r).Elem().FieldByName(n)
					return ok && x.Tag.Get("json") == c
				})
				_, err := fmt.Sscanf(f.Tag.Get("gorm")[len("column:"+c+";size:"):], "%d", &size)
				require.NoError(t, err)
				assert.LessOrEqual(t, len(text), size, "%s.%s: %q fits its column", e.name, c, text)
			}
		}
	}
	assert.Len(t, names, 11)
}

func TestObjectsFitTheirColumns(t *testing.T) {
	for _, e := range entities {
		f := &factory{entity: e, seed: 3, random: true}
		for n := range int64(2000) {
			id, r := f.object(n, "", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			require.Len(t, id, 11)
			again, same := f.object(n, "", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
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
