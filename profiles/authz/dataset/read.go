package dataset

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
	"github.com/perfbench/perfbench/profiles/authz/model"
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

// Read reads the output of a model loader: the users, with the sections of their
// profiles if wanted, and the groups, if any of their files are listed. A folder with
// an invalid line is rejected as a whole; the error names file and line.
func (f *Folder) Read(withSections bool) (*model.Dataset, error) {
	d := &model.Dataset{Source: f.dir, Files: f.groups}
	for _, path := range f.users {
		if err := lines(path, func(raw []byte, _ int) error {
			var l fileUser
			if err := unmarshal(raw, &l); err != nil {
				return err
			}
			u, err := l.user(d, withSections)
			d.Users = append(d.Users, u)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if len(d.Users) == 0 {
		return nil, fault.Input(fmt.Errorf("%s: no users in it", f.users[0]), "")
	}
	for i, path := range f.groups {
		if err := lines(path, func(raw []byte, line int) error {
			var l fileGroup
			if err := unmarshal(raw, &l); err != nil {
				return err
			}
			g, err := l.group()
			g.File, g.Line = int32(i), int32(line)
			d.Groups = append(d.Groups, g)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if len(d.Groups) == 0 && len(f.groups) > 0 {
		return nil, fault.Input(fmt.Errorf("%s: no groups in it", f.groups[0]), "")
	}
	return unique(d), nil
}

// unique keeps only the last of the users and groups with the same id, as storing them
// by id does.
func unique(d *model.Dataset) *model.Dataset {
	at := map[string]int{}
	users := d.Users[:0:0]
	for _, u := range d.Users {
		if i, ok := at[u.ID]; ok {
			users[i] = u
			continue
		}
		at[u.ID] = len(users)
		users = append(users, u)
	}
	d.Users = users
	clear(at)
	groups := d.Groups[:0:0]
	for _, g := range d.Groups {
		if i, ok := at[g.ID]; ok {
			groups[i] = g
			continue
		}
		at[g.ID] = len(groups)
		groups = append(groups, g)
	}
	d.Groups = groups
	return d
}

// unmarshal parses a line, and says in words what is wrong with it.
func unmarshal(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not a JSON object: %w", err)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("a JSON %s where an object is expected", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s: a %s where a %s is expected", kind.Field, kind.Value, wanted(kind.Type.Kind()))
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

// roleLimit is the length of the longest role name in bytes.
const roleLimit = 100

// idLimit is the length of the longest id in bytes, such that every store can index it.
const idLimit = 700

// goodID checks whether every store can hold an id.
func goodID(what, id string) error {
	switch {
	case id == "":
		return fmt.Errorf("a %s without id", what)
	case len(id) > idLimit:
		return fmt.Errorf("the id of a %s has %d bytes; %d is the most", what, len(id), idLimit)
	case strings.ContainsFunc(id, unicode.IsControl):
		return fmt.Errorf("the id %q of a %s: control characters cannot be in it", id, what)
	}
	return nil
}

func (f *fileUser) user(d *model.Dataset, withSections bool) (model.User, error) {
	id := f.UserID
	if id == "" {
		id = f.ID
	}
	u := model.User{ID: model.Canonical(id, "u"), Kind: f.Kind, First: f.First, Last: f.Last}
	if err := goodID("user", u.ID); err != nil {
		return model.User{}, err
	}
	for _, name := range []string{f.First, f.Last} {
		if strings.ContainsRune(name, 0) {
			return model.User{}, errors.New("a name with a NUL in it")
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
			return model.User{}, fmt.Errorf("aboutMe: %w", err)
		}
	}
	if len(f.Publications) > 0 {
		if err := unmarshal(f.Publications, &pubs); err != nil {
			return model.User{}, fmt.Errorf("publications: %w", err)
		}
	}
	var err error
	for _, v := range []struct {
		name, text string
		to         *string
	}{{"userAccountPrivacy", f.Privacy, &u.Privacy}, {"aboutMePrivacy", about.Privacy, &u.AboutVis}, {"publicationsPrivacy", pubs.Privacy, &u.Publications}} {
		if *v.to, err = model.Visibility(v.text); err != nil {
			return model.User{}, fmt.Errorf("%s: %w", v.name, err)
		}
		if v.text != "" && *v.to != v.text {
			d.Mapped++
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
	u.About, u.Pubs = text(f.About), text(f.Publications)
	return u, nil
}

func (f *fileGroup) group() (model.Group, error) {
	id := f.GroupID
	if id == "" {
		id = f.ID
	}
	if err := goodID("group", model.Canonical(id, "g")); err != nil {
		return model.Group{}, err
	}
	g := model.Group{ID: model.Canonical(id, "g"), Creator: model.Canonical(f.Creator, "u"), Title: f.Title + f.Name}
	// Decode the roles in the order of the file.
	dec := json.NewDecoder(bytes.NewReader(f.Roles))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return model.Group{}, errors.New("a group without an object of roles")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return model.Group{}, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return model.Group{}, fmt.Errorf("role %v: %w", name, err)
		}
		var r fileRole
		if err := unmarshal(raw, &r); err != nil {
			return model.Group{}, fmt.Errorf("role %v: %w", name, err)
		}
		spec := model.Role{Name: fmt.Sprint(name)}
		if err := goodID("role", spec.Name); err != nil {
			return model.Group{}, err
		}
		if len(spec.Name) > roleLimit {
			return model.Group{}, fmt.Errorf("the role %.40s… has %d bytes; %d is the most", spec.Name, len(spec.Name), roleLimit)
		}
		if slices.ContainsFunc(g.Roles, func(r model.Role) bool { return r.Name == spec.Name }) {
			return model.Group{}, fmt.Errorf("role %s is listed twice", spec.Name)
		}
		for _, u := range r.Users {
			spec.Users = append(spec.Users, model.Canonical(u, "u"))
		}
		for _, h := range r.Groups {
			spec.Groups = append(spec.Groups, model.Canonical(h, "g"))
		}
		g.Roles = append(g.Roles, spec)
	}
	return g, nil
}
