package sqlstore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// A table that gorm has made in SQLite gets the columns and the index that a later
// version of the type has, keeps its rows, and is told as it is.
func TestGormKeepsTablesInSQLite(t *testing.T) {
	t.Parallel()
	db := dial(t, "sqlite:").DB().WithContext(t.Context()).Table("a-b").Session(&gorm.Session{})
	type first struct {
		Place string `gorm:"primaryKey"`
		N     int    `gorm:"primaryKey;autoIncrement:false"`
	}
	type later struct {
		Place  string `gorm:"primaryKey"`
		N      int    `gorm:"primaryKey;autoIncrement:false"`
		Weight float64
		Note   string `gorm:"default:none;not null;index:noted"`
	}
	assert.False(t, db.Migrator().HasTable("a-b"))
	require.NoError(t, db.AutoMigrate(&first{}))
	require.NoError(t, db.Create(&first{"here", 1}).Error)
	require.NoError(t, db.AutoMigrate(&later{}))
	require.NoError(t, db.AutoMigrate(&later{}), "again, with nothing to do")
	assert.True(t, db.Migrator().HasTable("a-b"))
	assert.True(t, db.Migrator().HasIndex("a-b", "noted"))
	assert.False(t, db.Migrator().HasIndex("a-b", "other"))

	columns, err := db.Migrator().ColumnTypes("a-b")
	require.NoError(t, err)
	var told [][]any
	for _, c := range columns {
		key, _ := c.PrimaryKey()
		counts, _ := c.AutoIncrement()
		null, _ := c.Nullable()
		filled, _ := c.DefaultValue()
		told = append(told, []any{c.Name(), c.DatabaseTypeName(), key, counts, null, filled})
	}
	assert.Equal(t, [][]any{
		{"place", "TEXT", true, false, true, ""}, {"n", "INTEGER", true, false, true, ""},
		{"weight", "REAL", false, false, true, ""}, {"note", "TEXT", false, false, false, "'none'"},
	}, told)

	two := []later{{"here", 1, 2.5, "x"}, {Place: "there", N: 2}}
	require.NoError(t, db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&two).Error)
	var got []later
	require.NoError(t, db.Order("n").Limit(5).Find(&got).Error)
	two[1].Note = "none"
	assert.Equal(t, two, got)
}

// A key of one integer is what SQLite numbers rows by.
func TestGormLetsSQLiteNumberRows(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID   int
		Name string
	}
	db := dial(t, "sqlite:").DB().WithContext(t.Context())
	require.NoError(t, db.AutoMigrate(&thing{}))
	one, two := thing{Name: "a"}, thing{Name: "b"}
	require.NoError(t, db.Create(&one).Error)
	require.NoError(t, db.Create(&two).Error)
	assert.Equal(t, []int{1, 2}, []int{one.ID, two.ID})
	columns, err := db.Migrator().ColumnTypes(&thing{})
	require.NoError(t, err)
	counts, _ := columns[0].AutoIncrement()
	assert.True(t, counts)
}
