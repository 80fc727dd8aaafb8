// Package layer has the words in which the profile asks a store: each kind of store has a
// layer of its own, in a package beside this one.
package layer

import (
	"context"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/place"
)

// Work counts the statements that one worker sends to the store. It belongs to
// that worker.
type Work struct {
	Statements int64
	// Lookups and Hits are of caches: kept permissions, kept memberships, and what a
	// worker has in memory.
	Lookups, Hits int64
}

// Looked counts a lookup in a cache.
func (w *Work) Looked(hit bool) {
	w.Lookups++
	if hit {
		w.Hits++
	}
}

// Account is a principal as it is stored.
type Account struct {
	ID, Tenant, Kind, Visibility, First, Last, Title string
	Password                                         string // its hash, if one was made
	Filling                                          string // that its description ends with
}

// GroupDescription is the description of every group.
const GroupDescription = "performance-testing"

// Describe takes what an account carries out of its description.
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

// Values are what goes into the columns of an account.
func (a *Account) Values() []any {
	_, local, _ := strings.Cut(a.ID, ":")
	_, local, _ = strings.Cut(local, ":")
	if a.Kind == "g" {
		return []any{a.ID, a.Tenant, a.Kind, a.Visibility, "", "", "", "", a.Title, "", "", a.Title, GroupDescription + a.Filling}
	}
	return []any{a.ID, a.Tenant, a.Kind, a.Visibility, local, a.Password, a.First, a.Last, a.First + " " + a.Last, "en_GB", "Europe/London", "", a.Filling}
}

// Grant is one change of a role: none when role is empty.
type Grant struct{ Resource, Member, Role string }

// Held is a role that somebody has on something.
type Held struct{ ID, Role string }

// Layer is the application's data layer, in its own words. Each kind of store has one,
// over its typed connection. All methods are safe for use by several goroutines; a Work
// belongs to the caller.
type Layer interface {
	Preparer
	Accounts
	Graph
	Edges
	Closures
	Permissions
	Sections
	Progress
}

// Preparer makes tables where the store has such, and refuses those of another version.
type Preparer interface {
	// Prepare is called once, before the first work, by one goroutine.
	Prepare(ctx context.Context) error
}

// Accounts are the principals.
type Accounts interface {
	// Account reads a principal, false when there is none.
	Account(ctx context.Context, w *Work, id string) (Account, bool, error)
	// PutAccount writes a principal, over what is kept under its id.
	PutAccount(ctx context.Context, w *Work, a Account) error
}

// Graph reads who has which role on what.
type Graph interface {
	// Role is the direct role of a principal on a resource, or "".
	Role(ctx context.Context, w *Work, principal, resource string) (string, error)
	// Parents lists the groups that the principals are in, of all in one.
	Parents(ctx context.Context, w *Work, principals []string) ([]Held, error)
	// RolesOn reads the direct roles of several principals on a resource.
	RolesOn(ctx context.Context, w *Work, resource string, principals []string) ([]Held, error)
	// MemberGroups lists the groups that are members of a resource.
	MemberGroups(ctx context.Context, w *Work, resource string) ([]Held, error)
	// Members lists members of a resource in the order of their ids.
	Members(ctx context.Context, w *Work, resource, after string, limit int) ([]Held, error)
}

// Edges writes who has which role on what.
type Edges interface {
	// SetMember writes one direction of an edge: who the members of a resource are.
	SetMember(ctx context.Context, w *Work, g Grant) error
	// SetRole writes the other: what a member has a role on.
	SetRole(ctx context.Context, w *Work, g Grant) error
	// Change writes grants and revocations, both directions, each as one.
	Change(ctx context.Context, w *Work, gs []Grant) error
}

// Closures keeps the groups that principals are in, directly or not.
type Closures interface {
	// Closure tells which of some groups are kept for a principal; known says that
	// its groups are kept, were there none.
	Closure(ctx context.Context, w *Work, principal string, among []string) (groups []string, known bool, err error)
	// PutClosure keeps the groups of a principal, the direct ones first.
	PutClosure(ctx context.Context, w *Work, principal string, groups []string, direct int) error
	// DropClosures forgets the groups kept for principals.
	DropClosures(ctx context.Context, w *Work, principals []string) error
}

// Permissions keeps what was decided.
type Permissions interface {
	// Permitted says whether a permission is kept.
	Permitted(ctx context.Context, w *Work, principal, resource, role string) (bool, error)
	// Permit keeps one.
	Permit(ctx context.Context, w *Work, principal, resource, role string) error
	// Forbid drops those of principals on a resource, on any when it is empty.
	Forbid(ctx context.Context, w *Work, resource string, principals []string) error
}

// Sections are the parts of the profiles of users.
type Sections interface {
	// Section reads a part of a profile, ok false when there is none.
	Section(ctx context.Context, w *Work, principal, name string) (visibility, data string, ok bool, err error)
	// PutSection writes one, over what is there.
	PutSection(ctx context.Context, w *Work, principal, name, visibility, data string) error
}

// Progress is how far a tenant's load is.
type Progress interface {
	// Marks lists the batches of a tenant's load that are done.
	Marks(ctx context.Context, tenant string) (map[string]bool, error)
	// Mark adds one.
	Mark(ctx context.Context, tenant, batch string) error
}

// Walker is a layer whose store can walk the graph by itself.
type Walker interface {
	// HasRole says whether a principal has a role on a resource, itself or through the
	// groups that it is in.
	HasRole(ctx context.Context, w *Work, principal, resource, role string) (bool, error)
}

// Looker is a layer that can tell, before anything is made, whether the tables that are
// there will do.
type Looker interface {
	// Look returns an error that names the first table that will not do.
	Look(ctx context.Context, c *place.Claim) error
}

// EmptyClosure stands for "kept, and in no group".
const EmptyClosure = "-"

// IsGroup says whether an id is that of a group.
func IsGroup(id string) bool { return len(id) > 1 && id[0] == 'g' && id[1] == ':' }

// Page sorts by id and cuts.
func Page(hs []Held, limit int) []Held {
	slices.SortFunc(hs, func(a, b Held) int { return strings.Compare(a.ID, b.ID) })
	return hs[:min(limit, len(hs))]
}

// InChunk is the most ids of one IN in a statement.
const InChunk = 100
