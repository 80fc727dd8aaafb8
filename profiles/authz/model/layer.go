package model

import (
	"context"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/ownership"
)

// Work counts the statements that one worker sends to the store. It belongs to that
// worker.
type Work struct {
	Statements int64
	// Lookups and Hits are those of caches: cached permissions, cached memberships, and
	// a worker's own memory.
	Lookups, Hits int64
}

// Looked counts a lookup in a cache.
func (w *Work) Looked(hit bool) {
	w.Lookups++
	if hit {
		w.Hits++
	}
}

// Account is a principal as stored.
type Account struct {
	ID, Tenant, Kind, Visibility, First, Last, Title string
	Password                                         string // its hash, if one was made
	Filling                                          string // at the end of its description
}

// GroupDescription is the description of every group.
const GroupDescription = "performance-testing"

// Describe sets an account's fields from its description.
func (a *Account) Describe(text string) {
	if a.Kind == "g" {
		text = strings.TrimPrefix(text, GroupDescription)
	}
	a.Filling = text
}

// AccountColumns are the columns of an account where a store has columns.
var AccountColumns = []string{
	"principal_id", "tenant", "kind", "visibility", "username", "password_hash", "first_name", "last_name",
	"display_name", "locale", "timezone", "title", "description",
}

// Values returns the values for the columns of an account.
func (a *Account) Values() []any {
	_, local, _ := strings.Cut(a.ID, ":")
	_, local, _ = strings.Cut(local, ":")
	if a.Kind == "g" {
		return []any{a.ID, a.Tenant, a.Kind, a.Visibility, "", "", "", "", a.Title, "", "", a.Title, GroupDescription + a.Filling}
	}
	return []any{a.ID, a.Tenant, a.Kind, a.Visibility, local, a.Password, a.First, a.Last, a.First + " " + a.Last, "en_GB", "Europe/London", "", a.Filling}
}

// Grant is one change of a role; an empty role revokes.
type Grant struct{ Resource, Member, Role string }

// Held is a role that someone has on something.
type Held struct{ ID, Role string }

// Adapter is the application's data layer on one kind of store, as the parts that its code uses. All
// methods are safe for use by several goroutines; a Work belongs to the caller.
type Adapter struct {
	// Spaces are where data are kept; none: nothing is kept.
	Spaces []ownership.Space
	// Tables are what the data are kept in; nil: the store has none.
	Tables      Tables
	Accounts    Accounts
	Graph       Graph
	Edges       Edges
	Closures    Closures
	Permissions Permissions
	Sections    Sections
	Progress    Progress
	// Walker walks the graph in the store; nil: it cannot.
	Walker Walker
}

// Tables are those of a store that has any.
type Tables interface {
	// Check returns an error that names the first table that is there and unsuitable. It is
	// called before anything is created.
	Check(ctx context.Context, c *ownership.Claim) error
	// Create creates those that are missing, before the first work.
	Create(ctx context.Context) error
}

// Accounts are the principals.
type Accounts interface {
	// Account reads a principal, false if there is none.
	Account(ctx context.Context, w *Work, id string) (Account, bool, error)
	// PutAccount writes a principal, replacing any with the same id.
	PutAccount(ctx context.Context, w *Work, a Account) error
}

// Graph reads which principals have which roles on what.
type Graph interface {
	// Role returns the direct role of a principal on a resource, or "".
	Role(ctx context.Context, w *Work, principal, resource string) (string, error)
	// Parents returns the groups that the principals are in, all together.
	Parents(ctx context.Context, w *Work, principals []string) ([]Held, error)
	// RolesOn reads the direct roles of several principals on a resource.
	RolesOn(ctx context.Context, w *Work, resource string, principals []string) ([]Held, error)
	// MemberGroups returns the groups that are members of a resource.
	MemberGroups(ctx context.Context, w *Work, resource string) ([]Held, error)
	// Members returns members of a resource, ordered by id.
	Members(ctx context.Context, w *Work, resource, after string, limit int) ([]Held, error)
}

// Edges writes which principals have which roles on what.
type Edges interface {
	// SetMember writes one direction of an edge: the members of a resource.
	SetMember(ctx context.Context, w *Work, g Grant) error
	// SetRole writes the other direction: what a member has a role on.
	SetRole(ctx context.Context, w *Work, g Grant) error
	// Change writes grants and revocations, with both directions of each written
	// together.
	Change(ctx context.Context, w *Work, gs []Grant) error
}

// Closures caches the groups that principals are in, directly or not.
type Closures interface {
	// Closure returns which of some groups are cached for a principal; known means that
	// its groups are cached, even if there are none.
	Closure(ctx context.Context, w *Work, principal string, among []string) (groups []string, known bool, err error)
	// PutClosure caches the groups of a principal, the direct ones first.
	PutClosure(ctx context.Context, w *Work, principal string, groups []string, direct int) error
	// DropClosures drops the cached groups of principals.
	DropClosures(ctx context.Context, w *Work, principals []string) error
}

// Permissions caches decisions.
type Permissions interface {
	// Permitted reports whether a permission is cached.
	Permitted(ctx context.Context, w *Work, principal, resource, role string) (bool, error)
	// Permit caches a permission.
	Permit(ctx context.Context, w *Work, principal, resource, role string) error
	// Forbid drops the permissions of principals on a resource, or on any resource if
	// it is empty.
	Forbid(ctx context.Context, w *Work, resource string, principals []string) error
}

// Sections are the parts of the profiles of users.
type Sections interface {
	// Section reads a part of a profile; ok is false if there is none.
	Section(ctx context.Context, w *Work, principal, name string) (visibility, data string, ok bool, err error)
	// PutSection writes one, replacing what exists.
	PutSection(ctx context.Context, w *Work, principal, name, visibility, data string) error
}

// Progress records how far a tenant's load has come.
type Progress interface {
	// Marks returns the batches of a tenant's load that are done.
	Marks(ctx context.Context, tenant string) (map[string]bool, error)
	// Mark adds one.
	Mark(ctx context.Context, tenant, batch string) error
}

// Walker is a store that can walk the graph by itself.
type Walker interface {
	// HasRole reports whether a principal has a role on a resource, itself or through
	// the groups that it is in.
	HasRole(ctx context.Context, w *Work, principal, resource, role string) (bool, error)
}

// EmptyClosure stands for "cached, and in no group".
const EmptyClosure = "-"

// IsGroup reports whether an id belongs to a group.
func IsGroup(id string) bool { return len(id) > 1 && id[0] == 'g' && id[1] == ':' }

// Page sorts by id and limits the number.
func Page(hs []Held, limit int) []Held {
	slices.SortFunc(hs, func(a, b Held) int { return strings.Compare(a.ID, b.ID) })
	return hs[:min(limit, len(hs))]
}

// InChunk is the largest number of ids in one IN of a statement.
const InChunk = 100
