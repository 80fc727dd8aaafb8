package authz

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/perfbench/perfbench/internal/fault"
)

// fileUser is a line of users/N.txt of either generation.
type fileUser struct {
	UserID  string `json:"userid"`
	ID      string `json:"id"`
	Kind    string `json:"userType"`
	First   string `json:"firstName"`
	Last    string `json:"lastName"`
	Privacy string `json:"userAccountPrivacy"`

	About        json.RawMessage `json:"aboutMe"`
	Publications json.RawMessage `json:"publications"`
}

// fileGroup is a line of worlds/N.txt or groups/N.txt.
type fileGroup struct {
	GroupID string          `json:"groupid"`
	ID      string          `json:"id"`
	Title   string          `json:"title"`
	Name    string          `json:"name"`
	Creator string          `json:"creator"`
	Roles   json.RawMessage `json:"roles"`
}

type fileRole struct {
	Users  []string `json:"users"`
	Groups []string `json:"groups"`
}

// readFolder reads what a model loader wrote: of the users, with the sections of
// their profiles if wanted, and of the groups, if any files of theirs are listed.
// Nothing is loaded from a folder with a bad line; the error names file and line.
func readFolder(f *folder, withSections bool) (*dataset, error) {
	d := &dataset{source: f.dir, files: f.groups}
	for _, path := range f.users {
		if err := lines(path, func(raw []byte, _ int) error {
			var l fileUser
			if err := unmarshal(raw, &l); err != nil {
				return err
			}
			u, err := l.user(d, withSections)
			d.users = append(d.users, u)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if len(d.users) == 0 {
		return nil, fault.Input(fmt.Errorf("%s: no users in it", f.users[0]), "")
	}
	for i, path := range f.groups {
		if err := lines(path, func(raw []byte, line int) error {
			var l fileGroup
			if err := unmarshal(raw, &l); err != nil {
				return err
			}
			g, err := l.group()
			g.file, g.line = int32(i), int32(line)
			d.groups = append(d.groups, g)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if len(d.groups) == 0 && len(f.groups) > 0 {
		return nil, fault.Input(fmt.Errorf("%s: no groups in it", f.groups[0]), "")
	}
	return unique(d), nil
}

// unique keeps the last of the users and groups with the same id, as storing them
// by id does.
func unique(d *dataset) *dataset {
	at := map[string]int{}
	users := d.users[:0:0]
	for _, u := range d.users {
		if i, ok := at[u.id]; ok {
			users[i] = u
			continue
		}
		at[u.id] = len(users)
		users = append(users, u)
	}
	d.users = users
	clear(at)
	groups := d.groups[:0:0]
	for _, g := range d.groups {
		if i, ok := at[g.id]; ok {
			groups[i] = g
			continue
		}
		at[g.id] = len(groups)
		groups = append(groups, g)
	}
	d.groups = groups
	return d
}

// unmarshal reads a line, and says in words what is wrong with it.
func unmarshal(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not a JSON object: %w", err)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("a JSON %s where an object is wanted", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s: a %s where a %s is wanted", kind.Field, kind.Value, wanted(kind.Type.Kind()))
	}
	return err
}

func wanted(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "string"
	case reflect.Slice:
		return "list"
	}
	return "object"
}

// roleLimit is the most bytes of the name of a role.
const roleLimit = 100

// idLimit is the most bytes of an id, so that every store can have it in an index.
const idLimit = 700

// goodID says whether every store can keep an id.
func goodID(what, id string) error {
	switch {
	case id == "":
		return fmt.Errorf("a %s without id", what)
	case len(id) > idLimit:
		return fmt.Errorf("an id of a %s with %d bytes; %d are the most", what, len(id), idLimit)
	case strings.ContainsFunc(id, unicode.IsControl):
		return fmt.Errorf("the id %q of a %s: control characters cannot be in it", id, what)
	}
	return nil
}

func (f *fileUser) user(d *dataset, withSections bool) (user, error) {
	id := f.UserID
	if id == "" {
		id = f.ID
	}
	u := user{id: canonical(id, "u"), kind: f.Kind, first: f.First, last: f.Last}
	if err := goodID("user", u.id); err != nil {
		return user{}, err
	}
	for _, name := range []string{f.First, f.Last} {
		if strings.ContainsRune(name, 0) {
			return user{}, errors.New("a name with a NUL in it")
		}
	}
	var about struct {
		Privacy string `json:"aboutMePrivacy"`
	}
	var pubs struct {
		Privacy string `json:"publicationsPrivacy"`
	}
	if len(f.About) > 0 {
		if err := unmarshal(f.About, &about); err != nil {
			return user{}, fmt.Errorf("aboutMe: %w", err)
		}
	}
	if len(f.Publications) > 0 {
		if err := unmarshal(f.Publications, &pubs); err != nil {
			return user{}, fmt.Errorf("publications: %w", err)
		}
	}
	var err error
	for _, v := range []struct {
		name, text string
		to         *string
	}{{"userAccountPrivacy", f.Privacy, &u.privacy}, {"aboutMePrivacy", about.Privacy, &u.aboutVis}, {"publicationsPrivacy", pubs.Privacy, &u.publications}} {
		if *v.to, err = visibility(v.text); err != nil {
			return user{}, fmt.Errorf("%s: %w", v.name, err)
		}
		if v.text != "" && *v.to != v.text {
			d.mapped++
		}
	}
	if !withSections {
		return u, nil
	}
	text := func(raw json.RawMessage) string {
		if len(raw) == 0 {
			return "{}"
		}
		return string(raw)
	}
	u.about, u.pubs = text(f.About), text(f.Publications)
	return u, nil
}

func (f *fileGroup) group() (group, error) {
	id := f.GroupID
	if id == "" {
		id = f.ID
	}
	if err := goodID("group", canonical(id, "g")); err != nil {
		return group{}, err
	}
	g := group{id: canonical(id, "g"), creator: canonical(f.Creator, "u"), title: f.Title + f.Name}
	// The roles in the order of the file.
	dec := json.NewDecoder(bytes.NewReader(f.Roles))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return group{}, errors.New("a group without an object of roles")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return group{}, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return group{}, fmt.Errorf("role %v: %w", name, err)
		}
		var r fileRole
		if err := unmarshal(raw, &r); err != nil {
			return group{}, fmt.Errorf("role %v: %w", name, err)
		}
		spec := roleSpec{name: fmt.Sprint(name)}
		if err := goodID("role", spec.name); err != nil {
			return group{}, err
		}
		if len(spec.name) > roleLimit {
			return group{}, fmt.Errorf("the role %.40s… has %d bytes; %d are the most", spec.name, len(spec.name), roleLimit)
		}
		if slices.ContainsFunc(g.roles, func(r roleSpec) bool { return r.name == spec.name }) {
			return group{}, fmt.Errorf("role %s is there twice", spec.name)
		}
		for _, u := range r.Users {
			spec.users = append(spec.users, canonical(u, "u"))
		}
		for _, h := range r.Groups {
			spec.groups = append(spec.groups, canonical(h, "g"))
		}
		g.roles = append(g.roles, spec)
	}
	return g, nil
}
