package authz

import (
	"fmt"
	"strconv"
	"strings"
)

// dataset is what a model loader makes: users, and groups with their roles.
type dataset struct {
	source string // "classic", "hilary", or a folder
	users  []user
	groups []group
	seed   int64
	files  []string // that the groups came from
	mapped int      // visibilities that the application does not know, and what they stand for
}

// user is one user of a data set. Sections of generated users are made when they
// are asked for.
type user struct {
	id, kind, first, last           string
	privacy, aboutVis, publications string // visibilities as the application knows them; publications of its section
	about, pubs                     string // JSON of the sections, from a file
}

// group is one top-level group.
type group struct {
	id, creator, title string
	roles              []roleSpec
	file, line         int32 // where it came from
}

// where names the line that a group came from, or the group.
func (d *dataset) where(g *group) string {
	if len(d.files) == 0 {
		return "group " + g.id
	}
	return fmt.Sprintf("%s:%d: group %s", d.files[g.file], g.line, g.id)
}

// roleSpec is who has a role in a group.
type roleSpec struct {
	name          string
	users, groups []string
}

// Membership modes.
const (
	modeRoles     = "roles"
	modeNested    = "nested"
	modeFlat      = "flat"
	modeCommitted = "oae-committed"
)

// model is a data set made ready: principals are numbered, users first, then
// top-level groups, then role groups. It is not written to once made.
type model struct {
	data      *dataset
	local     []string // ids without type and tenant
	users     int
	top       int     // number of top-level groups
	creators  []int32 // of each group, by number of the group less users; -1: unknown
	roles     []string
	edges     []edge // the memberships in the order of the data set
	up        [][]link
	down      [][]link
	duplicate int // memberships named more than once, which are one
	skipped   int // memberships of a creator or of a group in itself
}

// edge is one membership: member has a role in group.
type edge struct {
	group, member int32
	role          uint8
}

// link is one end of an edge.
type link struct {
	to   int32
	role uint8
}

func (m *model) groups() int { return len(m.local) - m.users }

// id is the full id of a principal in a tenant.
func (m *model) id(tenant string, p int32) string {
	if int(p) < m.users {
		return "u:" + tenant + ":" + m.local[p]
	}
	return "g:" + tenant + ":" + m.local[p]
}

func (m *model) role(name string) uint8 {
	for i, r := range m.roles {
		if r == name {
			return uint8(i)
		}
	}
	m.roles = append(m.roles, name)
	return uint8(len(m.roles) - 1)
}

// newModel derives groups and memberships from a data set. creators says that who
// makes a group becomes its manager, as loading by variant v1 does.
func newModel(d *dataset, mode string, creators bool) (*model, error) {
	m := &model{data: d, users: len(d.users), top: len(d.groups)}
	at := make(map[string]int32, len(d.users)+4*len(d.groups))
	add := func(kind, id string) error {
		if _, ok := at[kind+id]; ok {
			return fmt.Errorf("%s %s is in the data set twice", map[string]string{"u": "user", "g": "group"}[kind], id)
		}
		at[kind+id] = int32(len(m.local))
		m.local = append(m.local, id)
		return nil
	}
	for i := range d.users {
		if err := add("u", d.users[i].id); err != nil {
			return nil, err
		}
	}
	for i := range d.groups {
		if err := add("g", d.groups[i].id); err != nil {
			return nil, err
		}
	}
	for i := range d.groups {
		g := &d.groups[i]
		creator, ok := at["u"+g.creator]
		if !ok {
			if creator = -1; g.creator != "" {
				return nil, fmt.Errorf("%s: there is no user %s, its creator", d.where(g), g.creator)
			}
		}
		m.creators = append(m.creators, creator)
	}
	if mode != modeFlat {
		for i := range d.groups {
			for _, r := range d.groups[i].roles {
				if err := add("g", d.groups[i].id+"-"+r.name); err != nil {
					return nil, fmt.Errorf("%s: its role group for %s: %w", d.where(&d.groups[i]), r.name, err)
				}
				m.creators = append(m.creators, m.creators[i])
			}
		}
	}
	if err := m.join(d, mode, at); err != nil {
		return nil, err
	}
	if len(m.roles) > 250 {
		return nil, fmt.Errorf("the data set has %d roles; 250 are the most", len(m.roles))
	}
	m.link(creators)
	return m, nil
}

// join makes the memberships of the mode.
func (m *model) join(d *dataset, mode string, at map[string]int32) error {
	member := m.role("member")
	next := int32(m.users + m.top)
	seen := map[string]bool{}
	for i := range d.groups {
		g, number := &d.groups[i], int32(m.users+i)
		clear(seen)
		for _, r := range g.roles {
			to, role := number, m.role(r.name)
			if mode != modeFlat {
				m.edges = append(m.edges, edge{number, next, role})
				to, role = next, member
				next++
			}
			if mode == modeCommitted {
				continue
			}
			if mode != modeFlat {
				clear(seen) // without role groups a user has one role, the first one named
			}
			for _, u := range r.users {
				p, ok := at["u"+u]
				if !ok {
					return fmt.Errorf("%s: role %s: there is no user %s", d.where(g), r.name, u)
				}
				if seen[u] || p == m.creators[i] {
					if mode == modeFlat && seen[u] {
						m.duplicate++
					}
					continue
				}
				seen[u] = true
				m.edges = append(m.edges, edge{to, p, role})
			}
			if mode != modeNested {
				continue
			}
			for _, h := range r.groups {
				p, ok := at["g"+h]
				if !ok {
					return fmt.Errorf("%s: role %s: there is no group %s", d.where(g), r.name, h)
				}
				if !seen["g:"+h] {
					m.edges = append(m.edges, edge{to, p, member})
				}
				seen["g:"+h] = true
			}
		}
	}
	return nil
}

// link makes the graph: one role for each pair, the last one named.
func (m *model) link(creators bool) {
	m.up, m.down = make([][]link, len(m.local)), make([][]link, len(m.local))
	put := func(group, member int32, role uint8) {
		for i, l := range m.up[member] {
			if l.to == group {
				m.up[member][i].role = role
				for j := range m.down[group] {
					if m.down[group][j].to == member {
						m.down[group][j].role = role
					}
				}
				m.duplicate++
				return
			}
		}
		m.up[member] = append(m.up[member], link{group, role})
		m.down[group] = append(m.down[group], link{member, role})
	}
	if creators {
		manager := m.role("manager")
		for i, c := range m.creators {
			if c >= 0 {
				put(int32(m.users+i), c, manager)
			}
		}
	}
	for _, e := range m.edges {
		if m.skips(e, creators) {
			m.skipped++
			continue
		}
		put(e.group, e.member, e.role)
	}
}

// skips says whether loading leaves a membership out: of a group in itself and,
// when creators are managers already, of a creator.
func (m *model) skips(e edge, creators bool) bool {
	return e.group == e.member || creators && m.creators[int(e.group)-m.users] == e.member
}

// canonical strips type and tenant from an id of the files.
func canonical(id, kind string) string {
	rest, ok := strings.CutPrefix(id, kind+":")
	if !ok {
		return id
	}
	if _, local, ok := strings.Cut(rest, ":"); ok {
		return local
	}
	return rest
}

// oracle answers from memory. It belongs to one worker.
type oracle struct {
	m     *model
	seen  []uint32
	round uint32
	queue []int32
}

func newOracle(m *model) *oracle { return &oracle{m: m, seen: make([]uint32, len(m.local))} }

// allowed says whether a principal has a role on a group, directly or through
// groups of groups; any role when role is negative. depth is the number of levels
// between them: 1 is direct, 0 not at all.
func (o *oracle) allowed(principal, resource int32, role int) (ok bool, depth int) {
	o.walk(principal, func(p int32, level int) bool {
		for _, l := range o.m.up[p] {
			if l.to == resource && (role < 0 || int(l.role) == role) {
				ok, depth = true, level+1
				return false
			}
		}
		return true
	})
	return ok, depth
}

// closure lists every group that a principal is in.
func (o *oracle) closure(principal int32) []int32 {
	var out []int32
	o.walk(principal, func(p int32, level int) bool {
		if level > 0 {
			out = append(out, p)
		}
		return true
	})
	return out
}

// walk visits a principal and everything above it, level by level, each once,
// until f returns false.
func (o *oracle) walk(principal int32, f func(p int32, level int) bool) {
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
		for _, l := range o.m.up[o.queue[i]] {
			if o.seen[l.to] != o.round {
				o.seen[l.to] = o.round
				o.queue = append(o.queue, l.to)
			}
		}
	}
}

// belowOf counts a principal and everybody below it.
func (o *oracle) belowOf(p int32) int {
	o.round++
	o.queue = append(o.queue[:0], p)
	o.seen[p] = o.round
	for i := 0; i < len(o.queue); i++ {
		for _, l := range o.m.down[o.queue[i]] {
			if o.seen[l.to] != o.round {
				o.seen[l.to] = o.round
				o.queue = append(o.queue, l.to)
			}
		}
	}
	return len(o.queue)
}

// fingerprint tells data sets apart, for a load that is to be continued.
func (m *model) fingerprint() string {
	h := uint64(14695981039346656037)
	mix := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	for _, id := range m.local {
		mix(id)
	}
	for _, e := range m.edges {
		h = (h ^ uint64(uint32(e.group))) * 1099511628211
		h = (h ^ uint64(uint32(e.member))) * 1099511628211
		h = (h ^ uint64(e.role)) * 1099511628211
	}
	return strconv.FormatUint(h, 16)
}

// visibility maps what files hold to what the application knows.
func visibility(v string) (string, error) {
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
