package authz

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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

// readFolder reads what a model loader of either generation wrote: the folder
// scripts with users/ and worlds/ or groups/, batch 0. Nothing is loaded from a
// folder with a bad line; the error names file and line.
func readFolder(dir string, withGroups bool) (*dataset, error) {
	if info, err := os.Stat(filepath.Join(dir, "scripts")); err == nil && info.IsDir() {
		dir = filepath.Join(dir, "scripts")
	}
	d := &dataset{source: dir}
	users := filepath.Join(dir, "users", "0.txt")
	if err := lines(users, func(raw []byte) error {
		var f fileUser
		if err := json.Unmarshal(raw, &f); err != nil {
			return err
		}
		u, err := f.user()
		d.users = append(d.users, u)
		return err
	}); err != nil {
		return nil, err
	}
	if len(d.users) == 0 {
		return nil, fault.Input(fmt.Errorf("%s: no users in it", users), "")
	}
	if !withGroups {
		return unique(d), nil
	}
	groups := filepath.Join(dir, "worlds", "0.txt")
	if _, err := os.Stat(groups); err != nil {
		groups = filepath.Join(dir, "groups", "0.txt")
	}
	if err := lines(groups, func(raw []byte) error {
		var f fileGroup
		if err := json.Unmarshal(raw, &f); err != nil {
			return err
		}
		g, err := f.group()
		d.groups = append(d.groups, g)
		return err
	}); err != nil {
		return nil, err
	}
	if len(d.groups) == 0 {
		return nil, fault.Input(fmt.Errorf("%s: no groups in it", groups), "")
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

// lines calls f for each line of a file that is not empty.
func lines(path string, f func(raw []byte) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fault.Input(fmt.Errorf("authz: %w", err), "name the folder that a model loader wrote, with users/0.txt and worlds/0.txt or groups/0.txt in it")
	}
	for i, raw := range bytes.Split(data, []byte("\n")) {
		raw = bytes.TrimSpace(bytes.TrimSuffix(raw, []byte("\r")))
		if len(raw) == 0 {
			continue
		}
		if err := f(raw); err != nil {
			return fault.Input(fmt.Errorf("%s:%d: %w", path, i+1, plainJSON(err)), "the file is damaged or cut short; nothing was loaded")
		}
	}
	return nil
}

// plainJSON says what is wrong with a line in words.
func plainJSON(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not a JSON object: %w", err)
	}
	return err
}

func (f *fileUser) user() (user, error) {
	id := f.UserID
	if id == "" {
		id = canonical(f.ID, "u")
	}
	if id == "" {
		return user{}, errors.New("a user without userid")
	}
	var about struct {
		Privacy string `json:"aboutMePrivacy"`
	}
	var pubs struct {
		Privacy string `json:"publicationsPrivacy"`
	}
	if len(f.About) > 0 {
		if err := json.Unmarshal(f.About, &about); err != nil {
			return user{}, fmt.Errorf("aboutMe: %w", err)
		}
	}
	if len(f.Publications) > 0 {
		if err := json.Unmarshal(f.Publications, &pubs); err != nil {
			return user{}, fmt.Errorf("publications: %w", err)
		}
	}
	text := func(raw json.RawMessage) string {
		if len(raw) == 0 {
			return "{}"
		}
		return string(raw)
	}
	return user{
		id: canonical(id, "u"), kind: f.Kind, first: f.First, last: f.Last, privacy: f.Privacy,
		aboutVis: about.Privacy, publications: pubs.Privacy, about: text(f.About), pubs: text(f.Publications),
	}, nil
}

func (f *fileGroup) group() (group, error) {
	id := f.GroupID
	if id == "" {
		id = canonical(f.ID, "g")
	}
	if id == "" {
		return group{}, errors.New("a group without id")
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
		var r fileRole
		if err := dec.Decode(&r); err != nil {
			return group{}, fmt.Errorf("role %v: %w", name, err)
		}
		spec := roleSpec{name: fmt.Sprint(name)}
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
