// Package model is what a tenant is loaded with: users, groups and their roles,
// numbered for a run, and the oracle that knows every answer.
package model

import (
	"fmt"
	"strconv"
	"strings"
)

// Dataset is the output of a model loader: users, and groups with their roles.
type Dataset struct {
	Source string // "classic", "hilary", or a folder
	Users  []User
	Groups []Group
	Seed   int64
	Files  []string // that the groups came from
	Mapped int      // visibilities that the application does not know, and that were replaced
}

// User is one user of a data set. Sections of generated users are made on demand.
type User struct {
	ID, Kind, First, Last           string
	Privacy, AboutVis, Publications string // visibilities as the application knows them; publications of its section
	About, Pubs                     string // JSON of the sections, from a file
}

// Group is one top-level group.
type Group struct {
	ID, Creator, Title string
	Roles              []Role
	File, Line         int32 // where it came from
}

// where names the line that a group came from, or else the group.
func (d *Dataset) where(g *Group) string {
	if len(d.Files) == 0 {
		return "group " + g.ID
	}
	return fmt.Sprintf("%s:%d: group %s", d.Files[g.File], g.Line, g.ID)
}

// Role says who has a role in a group.
type Role struct {
	Name          string
	Users, Groups []string
}

// Membership modes.
const (
	Roles     = "roles"
	Nested    = "nested"
	Flat      = "flat"
	Committed = "oae-committed"
)

// Model is a data set prepared for use: principals are numbered, users first, then
// top-level groups, then role groups. It is not modified once made.
type Model struct {
	Data      *Dataset
	Local     []string // ids without type and tenant
	Users     int
	Top       int     // number of top-level groups
	Creators  []int32 // of each group, by number of the group minus users; -1: unknown
	Roles     []string
	Edges     []Edge // the memberships in the order of the data set
	Up        [][]link
	Down      [][]link
	Duplicate int // memberships named more than once, which count as one
	Skipped   int // memberships of a creator or of a group in itself
}

// Edge is one membership: Member has a role in Group.
type Edge struct {
	Group, Member int32
	Role          uint8
}

// link is one end of an edge.
type link struct {
	To   int32
	Role uint8
}

// Groups returns how many groups there are, including role groups.
func (m *Model) Groups() int { return len(m.Local) - m.Users }

// ID returns the full id of a principal in a tenant.
func (m *Model) ID(tenant string, p int32) string {
	if int(p) < m.Users {
		return "u:" + tenant + ":" + m.Local[p]
	}
	return "g:" + tenant + ":" + m.Local[p]
}

// Role returns the number of a role, which is added if necessary.
func (m *Model) Role(name string) uint8 {
	for i, r := range m.Roles {
		if r == name {
			return uint8(i)
		}
	}
	m.Roles = append(m.Roles, name)
	return uint8(len(m.Roles) - 1)
}

// New derives groups and memberships from a data set. creators means that the creator
// of a group becomes its manager, as when loading with variant v1.
func New(d *Dataset, mode string, creators bool) (*Model, error) {
	m := &Model{Data: d, Users: len(d.Users), Top: len(d.Groups)}
	at := make(map[string]int32, len(d.Users)+4*len(d.Groups))
	add := func(kind, id string) error {
		if _, ok := at[kind+id]; ok {
			return fmt.Errorf("%s %s is in the data set twice", map[string]string{"u": "user", "g": "group"}[kind], id)
		}
		at[kind+id] = int32(len(m.Local))
		m.Local = append(m.Local, id)
		return nil
	}
	for i := range d.Users {
		if err := add("u", d.Users[i].ID); err != nil {
			return nil, err
		}
	}
	for i := range d.Groups {
		if err := add("g", d.Groups[i].ID); err != nil {
			return nil, err
		}
	}
	for i := range d.Groups {
		g := &d.Groups[i]
		creator, ok := at["u"+g.Creator]
		if !ok {
			if creator = -1; g.Creator != "" {
				return nil, fmt.Errorf("%s: there is no user %s, its creator", d.where(g), g.Creator)
			}
		}
		m.Creators = append(m.Creators, creator)
	}
	if mode != Flat {
		for i := range d.Groups {
			for _, r := range d.Groups[i].Roles {
				if err := add("g", d.Groups[i].ID+"-"+r.Name); err != nil {
					return nil, fmt.Errorf("%s: its role group for %s: %w", d.where(&d.Groups[i]), r.Name, err)
				}
				m.Creators = append(m.Creators, m.Creators[i])
			}
		}
	}
	if err := m.join(d, mode, at); err != nil {
		return nil, err
	}
	if len(m.Roles) > 250 {
		return nil, fmt.Errorf("the data set has %d roles; 250 is the most", len(m.Roles))
	}
	m.link(creators)
	return m, nil
}

// join makes the memberships for the mode.
func (m *Model) join(d *Dataset, mode string, at map[string]int32) error {
	member := m.Role("member")
	next := int32(m.Users + m.Top)
	seen := map[string]bool{}
	for i := range d.Groups {
		g, number := &d.Groups[i], int32(m.Users+i)
		clear(seen)
		for _, r := range g.Roles {
			to, role := number, m.Role(r.Name)
			if mode != Flat {
				m.Edges = append(m.Edges, Edge{number, next, role})
				to, role = next, member
				next++
			}
			if mode == Committed {
				continue
			}
			if mode != Flat {
				clear(seen) // without role groups a user has only one role, the first one named
			}
			for _, u := range r.Users {
				p, ok := at["u"+u]
				if !ok {
					return fmt.Errorf("%s: role %s: there is no user %s", d.where(g), r.Name, u)
				}
				if seen[u] || p == m.Creators[i] {
					if mode == Flat && seen[u] {
						m.Duplicate++
					}
					continue
				}
				seen[u] = true
				m.Edges = append(m.Edges, Edge{to, p, role})
			}
			if mode != Nested {
				continue
			}
			for _, h := range r.Groups {
				p, ok := at["g"+h]
				if !ok {
					return fmt.Errorf("%s: role %s: there is no group %s", d.where(g), r.Name, h)
				}
				if !seen["g:"+h] {
					m.Edges = append(m.Edges, Edge{to, p, member})
				}
				seen["g:"+h] = true
			}
		}
	}
	return nil
}

// link makes the graph: one role for each pair, the last one named.
func (m *Model) link(creators bool) {
	m.Up, m.Down = make([][]link, len(m.Local)), make([][]link, len(m.Local))
	put := func(group, member int32, role uint8) {
		for i, l := range m.Up[member] {
			if l.To == group {
				m.Up[member][i].Role = role
				for j := range m.Down[group] {
					if m.Down[group][j].To == member {
						m.Down[group][j].Role = role
					}
				}
				m.Duplicate++
				return
			}
		}
		m.Up[member] = append(m.Up[member], link{group, role})
		m.Down[group] = append(m.Down[group], link{member, role})
	}
	if creators {
		manager := m.Role("manager")
		for i, c := range m.Creators {
			if c >= 0 {
				put(int32(m.Users+i), c, manager)
			}
		}
	}
	for _, e := range m.Edges {
		if m.Skips(e, creators) {
			m.Skipped++
			continue
		}
		put(e.Group, e.Member, e.Role)
	}
}

// Skips reports whether loading leaves out a membership: that of a group in itself and,
// if creators are already managers, that of a creator.
func (m *Model) Skips(e Edge, creators bool) bool {
	return e.Group == e.Member || creators && m.Creators[int(e.Group)-m.Users] == e.Member
}

// Canonical removes type and tenant from an id in the files.
func Canonical(id, kind string) string {
	rest, ok := strings.CutPrefix(id, kind+":")
	if !ok {
		return id
	}
	if _, local, ok := strings.Cut(rest, ":"); ok {
		return local
	}
	return rest
}

// Oracle knows the right answers from memory. It belongs to one worker.
type Oracle struct {
	m     *Model
	seen  []uint32
	round uint32
	queue []int32
}

// NewOracle returns an oracle for one goroutine.
func NewOracle(m *Model) *Oracle { return &Oracle{m: m, seen: make([]uint32, len(m.Local))} }

// Allowed reports whether a principal has a role on a group, directly or through groups
// of groups; any role if role is negative. depth is the number of levels between them:
// 1 is direct, 0 means none.
func (o *Oracle) Allowed(principal, resource int32, role int) (ok bool, depth int) {
	o.Walk(principal, func(p int32, level int) bool {
		for _, l := range o.m.Up[p] {
			if l.To == resource && (role < 0 || int(l.Role) == role) {
				ok, depth = true, level+1
				return false
			}
		}
		return true
	})
	return ok, depth
}

// Closure returns every group that a principal is in.
func (o *Oracle) Closure(principal int32) []int32 {
	var out []int32
	o.Walk(principal, func(p int32, level int) bool {
		if level > 0 {
			out = append(out, p)
		}
		return true
	})
	return out
}

// Walk visits a principal and everything above it, level by level, each once, until f
// returns false.
func (o *Oracle) Walk(principal int32, f func(p int32, level int) bool) {
	o.round++
	o.queue = append(o.queue[:0], principal)
	o.seen[principal] = o.round
	level, end := 0, 1
	for i := 0; i < len(o.queue); i++ {
		if i == end {
			level, end = level+1, len(o.queue)
		}
		if !f(o.queue[i], level) {
			return
		}
		for _, l := range o.m.Up[o.queue[i]] {
			if o.seen[l.To] != o.round {
				o.seen[l.To] = o.round
				o.queue = append(o.queue, l.To)
			}
		}
	}
}

// BelowOf counts a principal and everybody below it.
func (o *Oracle) BelowOf(p int32) int {
	o.round++
	o.queue = append(o.queue[:0], p)
	o.seen[p] = o.round
	for i := 0; i < len(o.queue); i++ {
		for _, l := range o.m.Down[o.queue[i]] {
			if o.seen[l.To] != o.round {
				o.seen[l.To] = o.round
				o.queue = append(o.queue, l.To)
			}
		}
	}
	return len(o.queue)
}

// Fingerprint identifies the data set, for a load that is to be continued.
func (m *Model) Fingerprint() string {
	h := uint64(14695981039346656037)
	mix := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	for _, id := range m.Local {
		mix(id)
	}
	for _, e := range m.Edges {
		h = (h ^ uint64(uint32(e.Group))) * 1099511628211
		h = (h ^ uint64(uint32(e.Member))) * 1099511628211
		h = (h ^ uint64(e.Role)) * 1099511628211
	}
	return strconv.FormatUint(h, 16)
}

// Visibility maps values in files to those that the application knows.
func Visibility(v string) (string, error) {
	switch v {
	case "public", "loggedin", "private":
		return v, nil
	case "contacts":
		return "private", nil
	case "everyone", "":
		return "public", nil
	}
	return "", fmt.Errorf("visibility %q is not one of public, loggedin, private, contacts, everyone", v)
}
