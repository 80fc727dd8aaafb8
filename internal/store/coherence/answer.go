package coherence

import "context"

// Answer asks for the size of a cache of our own.
func (c *Conn) Answer(ctx context.Context) error {
	_, err := onCache(ctx, c, "count", madeName(""), func(ctx context.Context, m Cache) (int, error) { return m.Size(ctx) })
	return err
}
