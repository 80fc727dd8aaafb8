package pbm

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/profiles/padogrid"
	"github.com/perfbench/perfbench/profiles/tx/common"
)

// sqlLayer runs the transaction as a database transaction, at the isolation level given
// in the target.
type sqlLayer struct {
	*shapes
	*common.Database
	profile, sums, upsert, read string
	// wholeProfile and wholeSums read maps that are one table each.
	wholeProfile, wholeSums string
}

func newSQLLayer(c sqlstore.Typed, s *Spec) (*sqlLayer, error) {
	h, err := newShapes(c, s)
	if err != nil {
		return nil, err
	}
	d := common.New(c)
	p := &sqlLayer{shapes: h, Database: d}
	name := func(n string) string { return d.Dialect.Table(s.namespace, n+"_by_group") }
	p.profile = d.Dialect.Text("SELECT COUNT(*) FROM " + name(padogrid.Profiles) + " WHERE g = ?")
	p.sums = d.Dialect.Text("SELECT COUNT(*), COALESCE(SUM(LENGTH(v)), 0) FROM " + name(padogrid.Eligibility) + " WHERE g = ?")
	whole := func(n string) string { return d.Dialect.Table(s.namespace, n) }
	p.wholeProfile = d.Dialect.Text("SELECT COUNT(*) FROM " + whole(padogrid.Profiles) + " WHERE k = ?")
	// A key is the group's name, a colon and the member; the character after a colon is
	// a semicolon.
	p.wholeSums = d.Dialect.Text("SELECT COUNT(*), COALESCE(SUM(LENGTH(v)), 0) FROM " + whole(padogrid.Eligibility) + " WHERE k >= ? AND k < ?")
	p.read = d.Dialect.Text("SELECT v FROM " + name(padogrid.Summaries) + " WHERE g = ? AND k = ?")
	p.upsert = d.Dialect.Text("INSERT INTO " + name(padogrid.Summaries) + " (g, k, v) VALUES (?,?,?){replace g, k: v}")
	return p, nil
}

// groupSummary is a summary as it is stored.
type groupSummary struct {
	GroupNumber    string `json:"groupNumber"`
	CarrierNumber  string `json:"carrierNumber"`
	ContractNumber string `json:"contractNumber"`
	MemberCount    int64  `json:"memberCount"`
	TotalBlobSize  int64  `json:"totalBlobSize"`
	WrittenTime    int64  `json:"writtenTime"`
	// Filling is only there for its size.
	Filling string `json:"filling,omitempty"`
}

// Summarize tries the transaction once. If the database rolled it back because of
// another one, that is a conflict.
func (p *sqlLayer) Summarize(ctx context.Context, group, filling []byte) (sum summary, found bool, err error) {
	profile, sums, span := p.profile, p.sums, []any{group}
	if !p.s.grouped() {
		profile, sums, span = p.wholeProfile, p.wholeSums, []any{[]byte(string(group) + ":"), []byte(string(group) + ";")}
	}
	err = sqlstore.Transact(ctx, p.DB, func(tx *sql.Tx) error {
		var n int64
		if err := tx.QueryRowContext(ctx, profile, group).Scan(&n); err != nil {
			return err
		}
		if found = n > 0; !found {
			return sqlstore.ErrUndo
		}
		if err := tx.QueryRowContext(ctx, sums, span...).Scan(&sum.Members, &sum.Bytes); err != nil {
			return err
		}
		g := string(group)
		val, err := json.Marshal(groupSummary{g, g, g, sum.Members, sum.Bytes, time.Now().UnixMilli(), string(filling)})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, p.upsert, group, group, val)
		return err
	})
	if err != nil && p.Conn.Classify(err) == store.Conflict {
		err = errConflict
	}
	return sum, found, err
}

// Summary reads what was written.
func (p *sqlLayer) Summary(ctx context.Context, group []byte) (kept, bool, error) {
	var val []byte
	err := p.DB.QueryRowContext(ctx, p.read, group, group).Scan(&val)
	if errors.Is(err, sql.ErrNoRows) {
		return kept{}, false, nil
	}
	if err != nil {
		return kept{}, false, err
	}
	return parseSummary(group, val)
}

// parseSummary parses a summary stored as JSON.
func parseSummary(group, val []byte) (kept, bool, error) {
	var g groupSummary
	if err := json.Unmarshal(val, &g); err != nil {
		return kept{}, false, fmt.Errorf("summary of %s: %w", group, err)
	}
	return kept{summary{g.MemberCount, g.TotalBlobSize}, g.Filling}, true, nil
}
