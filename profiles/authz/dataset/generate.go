// Package dataset is what tenants are loaded with: data sets made as the original's model loaders did,
// or read from the folders that these wrote.
package dataset

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/perfbench/perfbench/profiles/authz/model"
)

// Stream returns the random numbers for one entity, so that a data set does not depend
// on the order in which it is made.
func Stream(seed int64, kind string, i int) *rand.Rand {
	h := uint64(14695981039346656037)
	for j := range len(kind) {
		h = (h ^ uint64(kind[j])) * 1099511628211
	}
	return rand.New(rand.NewPCG(uint64(seed)^h, uint64(i)*0x9e3779b97f4a7c15+h))
}

// asm is a distribution of counts: around a mean, with outliers up to the maximum.
type asm struct{ avg, sd, lo, hi float64 }

func (a asm) draw(r *rand.Rand, outlier float64) int {
	if r.Float64() < outlier {
		return int(math.Floor(a.avg + r.Float64()*(a.hi-a.avg) + 0.5))
	}
	g := 2*r.Float64() - 1 + 2*r.Float64() - 1 + 2*r.Float64() - 1
	return int(min(max(math.Floor(g*a.sd+a.avg+0.5), a.lo), a.hi))
}

// Pick draws an index by weight.
func Pick(r *rand.Rand, weights ...float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := r.Float64() * sum
	for i, w := range weights {
		if u -= w; u <= 0 {
			return i
		}
	}
	return len(weights) - 1
}

var kinds = []string{"student", "lecturer", "researcher"}

var syllables = strings.Fields("an bel cor da el fi gan hol in jo ka lum mer nor ol pen qua ri sol tan ul ver wil xa yor zen bri cla dre fen gri hal")

func word(r *rand.Rand) string {
	n := 2 + r.IntN(2)
	var b strings.Builder
	for range n {
		b.WriteString(syllables[r.IntN(len(syllables))])
	}
	return b.String()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// memberSpec is how many members have a role, and of which kinds they are.
type memberSpec struct {
	role          string
	users, groups asm
	kinds         [3]float64
}

// template is one kind of group.
type template struct {
	weight  float64
	creator [3]float64
	role    string // the role given to the creator; "": none
	roles   []memberSpec
}

var course = []memberSpec{
	{"lecturer", asm{3, 2, 0, 10}, asm{0, 1, 0, 2}, [3]float64{.05, .8, .15}},
	{"ta", asm{5, 2, 0, 20}, asm{0, 1, 0, 3}, [3]float64{.2, .6, .2}},
	{"student", asm{50, 30, 0, 800}, asm{0, 2, 0, 20}, [3]float64{.9, .05, .05}},
}

var classic = []template{
	{.70, [3]float64{.35, .2, .45}, "manager", []memberSpec{
		{"manager", asm{5, 2, 0, 50}, asm{0, 1, 0, 3}, [3]float64{.35, .2, .45}},
		{"member", asm{10, 5, 0, 650}, asm{1, 2, 0, 20}, [3]float64{.4, .2, .4}},
	}},
	{.01, [3]float64{0, .95, .05}, "lecturer", course},
	{.05, [3]float64{0, .95, .05}, "lecturer", course},
	{.10, [3]float64{.35, .15, .5}, "leadresearcher", []memberSpec{
		{"leadresearcher", asm{2, 1, 0, 10}, asm{0, .1, 0, 1}, [3]float64{.35, .15, .5}},
		{"researcher", asm{5, 2, 0, 15}, asm{0, 1, 0, 10}, [3]float64{.35, .15, .5}},
		{"researchassistant", asm{3, 2, 0, 20}, asm{0, 1, 0, 5}, [3]float64{.4, .15, .45}},
		{"contributor", asm{2, 1, 0, 20}, asm{0, 1, 0, 5}, [3]float64{.5, .25, .25}},
		{"evaluator", asm{2, 1, 0, 30}, asm{0, .1, 0, 5}, [3]float64{.05, .7, .25}},
	}},
	{.14, [3]float64{.35, .15, .5}, "participant", []memberSpec{
		{"participant", asm{5, 3, 1, 30}, asm{0, 1, 0, 5}, [3]float64{.35, .15, .5}},
		{"lurker", asm{2, 1, 0, 50}, asm{1, 1, 0, 20}, [3]float64{.4, .2, .4}},
	}},
}

var hilary = []template{{1, [3]float64{.35, .2, .45}, "", []memberSpec{
	{"manager", asm{5, 2, 0, 50}, asm{0, .05, 0, 3}, [3]float64{.35, .2, .45}},
	{"member", asm{10, 10, 0, 1000}, asm{0, .05, 0, 5}, [3]float64{.4, .2, .4}},
}}}

// The weights are how active users of a kind are: as creators and, in the newer
// generation, as members.
var (
	classicWeights = [3][3]float64{{.3, .5, .2}, {.4, .4, .2}, {.2, .5, .3}} // for 1, 3, 5
	hilaryGroups   = [3][3]float64{{.3, .5, .2}, {.4, .4, .2}, {.2, .5, .3}} // for 1, 3, 9
	hilaryContent  = [3][3]float64{{.25, .4, .35}, {.2, .6, .2}, {.15, .5, .35}}
)

// pool draws members by weight.
type pool struct {
	sum     []float64
	members []int
}

func (p *pool) add(user int, weight float64) {
	total := weight
	if len(p.sum) > 0 {
		total += p.sum[len(p.sum)-1]
	}
	p.sum, p.members = append(p.sum, total), append(p.members, user)
}

func (p *pool) draw(r *rand.Rand) (int, bool) {
	if len(p.members) == 0 {
		return 0, false
	}
	u := r.Float64() * p.sum[len(p.sum)-1]
	lo, hi := 0, len(p.sum)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if p.sum[mid] < u {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return p.members[lo], true
}

// Generate makes a data set of a shape, "classic" or "hilary", from a seed.
func Generate(shape string, users, groups int, seed int64) *model.Dataset {
	d := &model.Dataset{Source: shape, Seed: seed, Users: make([]model.User, users), Groups: make([]model.Group, groups)}
	old := shape == "classic"
	var byKind, content [3]pool
	for i := range d.Users {
		r := Stream(seed, "user", i)
		k := Pick(r, .6, .1, .3)
		first, last := word(r), word(r)
		d.Users[i] = model.User{
			ID: fmt.Sprintf("batch0-%s-%s-%d", first, last, i), Kind: kinds[k], First: capital(first), Last: capital(last),
			Privacy: []string{"public", "loggedin"}[Pick(r, [3]float64{.7, .4, .7}[k], [3]float64{.3, .6, .3}[k])],
		}
		d.Users[i].AboutVis, d.Users[i].Publications = visibilities(r, old, k)
		if old {
			byKind[k].add(i, float64([]int{1, 3, 5}[Pick(r, classicWeights[k][:]...)]))
		} else {
			byKind[k].add(i, float64([]int{1, 3, 9}[Pick(r, hilaryGroups[k][:]...)]))
			content[k].add(i, float64([]int{1, 3, 9}[Pick(r, hilaryContent[k][:]...)]))
		}
	}
	private := make([]bool, groups) // first, because groups refer to each other
	for i := range d.Groups {
		r := Stream(seed, "group", i)
		var title []string
		for range max(1, asm{2, 1, 1, 15}.draw(r, .05)) {
			title = append(title, word(r))
		}
		d.Groups[i].Title = strings.Join(title, " ")
		d.Groups[i].ID = fmt.Sprintf("batch0-%s-%d", strings.Join(title, "-"), i)
		private[i] = !old && r.Float64() < .4
	}
	for i := range d.Groups {
		r := Stream(seed, "roles", i)
		if old {
			classicRoles(d, r, i, &byKind)
		} else {
			hilaryRoles(d, r, i, &byKind, &content, private)
		}
	}
	return d
}

func visibilities(r *rand.Rand, old bool, k int) (about, publications string) {
	if old {
		four := []string{"public", "loggedin", "contacts", "private"}
		about = four[Pick(r, [][]float64{{.4, .25, .25, .1}, {.2, .25, .15, .4}, {.6, .25, .1, .05}}[k]...)]
		if k == 0 {
			return about, []string{"public", "everyone", "contacts", "private"}[Pick(r, .8, .1, .09, .01)]
		}
		return about, four[Pick(r, [][]float64{nil, {.6, .25, .1, .05}, {.9, .05, .03, .02}}[k]...)]
	}
	three := []string{"public", "loggedin", "private"}
	return three[Pick(r, [][]float64{{.4, .4, .1}, {.2, .4, .4}, {.6, .35, .05}}[k]...)],
		three[Pick(r, [][]float64{{.8, .19, .01}, {.6, .35, .05}, {.9, .08, .02}}[k]...)]
}

// creatorOf draws a creator for a template, of another kind if there is none of the one
// drawn.
func creatorOf(r *rand.Rand, t *template, byKind *[3]pool) (int, int) {
	k := Pick(r, t.creator[:]...)
	for range 3 {
		if u, ok := byKind[k].draw(r); ok {
			return u, k
		}
		k = (k + 1) % 3
	}
	return -1, k
}

// classicRoles draws the members of a world as the original did: in the numbers wanted
// of each kind, but all from the creator's kind and with repetition.
func classicRoles(d *model.Dataset, r *rand.Rand, i int, byKind *[3]pool) {
	var weights []float64
	for _, t := range classic {
		weights = append(weights, t.weight)
	}
	t := &classic[Pick(r, weights...)]
	creator, kind := creatorOf(r, t, byKind)
	g := &d.Groups[i]
	if creator >= 0 {
		g.Creator = d.Users[creator].ID
	}
	for _, spec := range t.roles {
		role := model.Role{Name: spec.role}
		var used [3]int
		for range spec.users.draw(r, .05) {
			k := Pick(r, spec.kinds[:]...)
			if used[k]++; used[k] > len(byKind[k].members) {
				break
			}
			if u, ok := byKind[kind].draw(r); ok {
				role.Users = append(role.Users, d.Users[u].ID)
			}
		}
		for range spec.groups.draw(r, .05) {
			role.Groups = append(role.Groups, d.Groups[r.IntN(len(d.Groups))].ID)
		}
		if spec.role == t.role && creator >= 0 {
			role.Users = append(role.Users, g.Creator)
		}
		g.Roles = append(g.Roles, role)
	}
}

// hilaryRoles draws members without repetition within a group, and nests groups that
// are not private.
func hilaryRoles(d *model.Dataset, r *rand.Rand, i int, byKind, content *[3]pool, private []bool) {
	t := &hilary[0]
	creator, _ := creatorOf(r, t, byKind)
	g := &d.Groups[i]
	taken := map[int]bool{creator: true}
	if creator >= 0 {
		g.Creator = d.Users[creator].ID
	}
	nested := map[int]bool{i: true}
	for _, spec := range t.roles {
		role := model.Role{Name: spec.role}
		for range spec.users.draw(r, .02) {
			k := Pick(r, spec.kinds[:]...)
			for range 50 { // a kind may be exhausted
				if u, ok := content[k].draw(r); ok && !taken[u] {
					taken[u] = true
					role.Users = append(role.Users, d.Users[u].ID)
					break
				}
			}
		}
		for range spec.groups.draw(r, .02) {
			for range 50 { // there may be none left
				if h := r.IntN(len(d.Groups)); !nested[h] && !private[h] {
					nested[h] = true
					role.Groups = append(role.Groups, d.Groups[h].ID)
					break
				}
			}
		}
		g.Roles = append(g.Roles, role)
	}
}

func sentence(r *rand.Rand) string {
	var words []string
	for range 7 + r.IntN(4) {
		words = append(words, word(r))
	}
	return capital(strings.Join(words, " ")) + "."
}

func list(r *rand.Rand, n int) []string {
	out := []string{}
	for range n {
		out = append(out, word(r))
	}
	return out
}

// Sections returns a user's two sections as JSON, generated from the seed unless they
// came from a file.
func Sections(d *model.Dataset, i int) (about, publications string) {
	u := &d.Users[i]
	if u.About != "" {
		return u.About, u.Pubs
	}
	r := Stream(d.Seed, "sections", i)
	outlier := .02
	if d.Source == "classic" {
		outlier = .05
	}
	k := 0
	for j, name := range kinds {
		if name == u.Kind {
			k = j
		}
	}
	var lines []string
	for range (asm{2, 2, 1, 25}).draw(r, outlier) {
		lines = append(lines, sentence(r))
	}
	n := [3]asm{{1, 3, 0, 20}, {3, 3, 0, 50}, {10, 6, 0, 100}}[k].draw(r, outlier)
	pubs := []map[string]any{}
	for range n {
		pubs = append(pubs, map[string]any{
			"title": sentence(r), "mainAuthor": u.Last + " " + u.First[:1], "publisher": capital(word(r)) + " Press",
			"placeofpublication": capital(word(r)), "year": asm{2005, 15, 1990, 2012}.draw(r, outlier),
		})
	}
	a, _ := json.Marshal(map[string]any{ // cannot fail: strings and numbers
		"hasAboutMeSection": r.Float64() < .4, "aboutMePrivacy": u.AboutVis, "hasAboutMe": r.Float64() < [3]float64{.7, .5, .7}[k],
		"aboutMe": strings.Join(lines, " "), "academicInterests": list(r, [3]asm{{2, 2, 1, 50}, {2, 2, 1, 50}, {5, 3, 1, 50}}[k].draw(r, outlier)),
		"personalInterests": list(r, [3]asm{{3, 2, 1, 50}, {3, 2, 1, 25}, {3, 2, 1, 25}}[k].draw(r, outlier)),
		"hobbies":           list(r, [3]asm{{3, 2, 1, 50}, {3, 2, 1, 20}, {3, 2, 1, 30}}[k].draw(r, outlier)),
	})
	p, _ := json.Marshal(map[string]any{"publicationsPrivacy": u.Publications, "publications": pubs})
	return string(a), string(p)
}
