package authz

import (
	"context"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/place"
)

// work counts the statements that one worker sends to the store. It belongs to
// that worker.
type work struct {
	statements int64
	// lookups and hits are of caches: kept permissions, kept memberships, and what a
	// worker has in memory.
	lookups, hits int64
}

func (w *work) looked(hit bool) {
	w.lookups++
	if hit {
		w.hits++
	}
}

// account is a principal as it is stored.
type account struct {
	id, tenant, kind, visibility, first, last, title string
	password                                         string // its hash, if one was made
	filling                                          string // that its description ends with
}

// groupDescription is the description of every group.
const groupDescription = "performance-testing"

// describe takes what an account carries out of its description.
func (a *account) describe(text string) {
	if a.kind == "g" {
		text = strings.TrimPrefix(text, groupDescription)
	}
	a.filling = text
}

// accountColumns are the columns of an account where a store has columns, and
// values what goes into them.
var accountColumns = []string{
	"principal_id", "tenant", "kind", "visibility", "username", "password_hash", "first_name", "last_name",
	"display_name", "locale", "timezone", "title", "description",
}

func (a *account) values() []any {
	_, local, _ := strings.Cut(a.id, ":")
	_, local, _ = strings.Cut(local, ":")
	if a.kind == "g" {
		return []any{a.id, a.tenant, a.kind, a.visibility, "", "", "", "", a.title, "", "", a.title, groupDescription + a.filling}
	}
	return []any{a.id, a.tenant, a.kind, a.visibility, local, a.password, a.first, a.last, a.first + " " + a.last, "en_GB", "Europe/London", "", a.filling}
}

// grant is one change of a role: none when role is empty.
type grant struct{ resource, member, role string }

// held is a role that somebody has on something.
type held struct{ id, role string }

// layer is the application's data layer, in its own words. Each kind of store has one,
// over its typed connection. All methods are safe for use by several goroutines; a work
// belongs to the caller.
type layer interface {
	preparer
	accounts
	graph
	edges
	closures
	permissions
	sections
	progress
}

// preparer makes tables where the store has such, and refuses those of another version.
type preparer interface {
	prepare(ctx context.Context) error
}

// accounts are the principals.
type accounts interface {
	// account reads a principal, false when there is none.
	account(ctx context.Context, w *work, id string) (account, bool, error)
	putAccount(ctx context.Context, w *work, a account) error
}

// graph reads who has which role on what.
type graph interface {
	// role is the direct role of a principal on a resource, or "".
	role(ctx context.Context, w *work, principal, resource string) (string, error)
	// parents lists the groups that the principals are in, of all in one.
	parents(ctx context.Context, w *work, principals []string) ([]held, error)
	// rolesOn reads the direct roles of several principals on a resource.
	rolesOn(ctx context.Context, w *work, resource string, principals []string) ([]held, error)
	// memberGroups lists the groups that are members of a resource.
	memberGroups(ctx context.Context, w *work, resource string) ([]held, error)
	// members lists members of a resource in the order of their ids.
	members(ctx context.Context, w *work, resource, after string, limit int) ([]held, error)
}

// edges writes who has which role on what.
type edges interface {
	// setMember and setRole write the two directions of an edge one by one.
	setMember(ctx context.Context, w *work, g grant) error
	setRole(ctx context.Context, w *work, g grant) error
	// change writes grants and revocations, both directions, each as one.
	change(ctx context.Context, w *work, gs []grant) error
}

// closures keeps the groups that principals are in, directly or not.
type closures interface {
	// closure tells which of some groups are kept for a principal; known says that
	// its groups are kept, were there none.
	closure(ctx context.Context, w *work, principal string, among []string) (groups []string, known bool, err error)
	// putClosure keeps the groups of a principal, the direct ones first.
	putClosure(ctx context.Context, w *work, principal string, groups []string, direct int) error
	dropClosures(ctx context.Context, w *work, principals []string) error
}

// permissions keeps what was decided.
type permissions interface {
	// permitted reads a kept permission, permit keeps one.
	permitted(ctx context.Context, w *work, principal, resource, role string) (bool, error)
	permit(ctx context.Context, w *work, principal, resource, role string) error
	// forbid drops those of principals on a resource, on any when it is empty.
	forbid(ctx context.Context, w *work, resource string, principals []string) error
}

// sections are the parts of the profiles of users.
type sections interface {
	section(ctx context.Context, w *work, principal, name string) (visibility, data string, ok bool, err error)
	putSection(ctx context.Context, w *work, principal, name, visibility, data string) error
}

// progress is how far a tenant's load is.
type progress interface {
	// marks lists the batches of a tenant's load that are done, mark adds one.
	marks(ctx context.Context, tenant string) (map[string]bool, error)
	mark(ctx context.Context, tenant, batch string) error
}

// server is a layer whose store can walk the graph by itself.
type server interface {
	hasRole(ctx context.Context, w *work, principal, resource, role string) (bool, error)
}

// looker is a layer that can tell, before anything is made, whether the tables that are
// there will do.
type looker interface {
	look(ctx context.Context, c *place.Claim) error
}

// emptyClosure stands for "kept, and in no group".
const emptyClosure = "-"

// isGroup says whether an id is that of a group.
func isGroup(id string) bool { return len(id) > 1 && id[0] == 'g' && id[1] == ':' }

// page sorts by id and cuts.
func page(hs []held, limit int) []held {
	slices.SortFunc(hs, func(a, b held) int { return strings.Compare(a.id, b.id) })
	return hs[:min(limit, len(hs))]
}

// inChunk is the most ids of one IN in a statement.
const inChunk = 100
