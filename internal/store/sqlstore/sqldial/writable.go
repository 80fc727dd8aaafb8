package sqldial

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"sync/atomic"
)

// ErrReadOnly means that a server answers and takes no writes, as a replica does.
var ErrReadOnly = errors.New("the server is read-only")

// writable connects to that of several MySQL servers which takes writes, as PostgreSQL's clients
// do by target_session_attrs=read-write. It tries the one first that did last.
type writable struct {
	hosts []driver.Connector
	last  atomic.Int64
}

// Connect implements driver.Connector. Its error has those of all hosts.
func (w *writable) Connect(ctx context.Context) (driver.Conn, error) {
	var errs []error
	from := int(w.last.Load())
	for i := range w.hosts {
		at := (from + i) % len(w.hosts)
		conn, err := w.hosts[at].Connect(ctx)
		if err == nil {
			if err = takesWrites(ctx, conn); err == nil {
				w.last.Store(int64(at))
				return conn, nil
			}
			err = errors.Join(err, conn.Close())
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// Driver implements driver.Connector.
func (w *writable) Driver() driver.Driver { return w.hosts[0].Driver() }

// takesWrites returns ErrReadOnly if a server does not, whoever asks.
func takesWrites(ctx context.Context, conn driver.Conn) error {
	q, ok := conn.(driver.QueryerContext)
	if !ok {
		return errors.ErrUnsupported
	}
	rows, err := q.QueryContext(ctx, "SELECT @@global.read_only", nil)
	if err != nil {
		return err
	}
	value := make([]driver.Value, 1)
	if err := rows.Next(value); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return errors.Join(err, rows.Close())
	}
	if err := rows.Close(); err != nil {
		return err
	}
	if v, ok := value[0].(int64); ok && v == 0 {
		return nil
	}
	return ErrReadOnly
}
