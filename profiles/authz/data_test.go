package authz

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/dataset"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

func fixture() *model.Dataset {
	return &model.Dataset{
		Users: []model.User{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "creator"}},
		Groups: []model.Group{{ID: "G", Creator: "creator", Roles: []model.Role{
			{Name: "manager", Users: []string{"a", "b", "creator"}}, {Name: "member", Users: []string{"b", "c", "c"}, Groups: []string{"G"}},
		}}},
	}
}

func TestMembershipsOfEachMode(t *testing.T) {
	for mode, want := range map[string]int{model.Roles: 6, model.Committed: 2, model.Nested: 7, model.Flat: 3} {
		m, err := model.New(fixture(), mode, true)
		require.NoError(t, err)
		assert.Len(t, m.Edges, want, mode)
	}
	flat, err := model.New(fixture(), model.Flat, true)
	require.NoError(t, err)
	assert.Equal(t, 2, flat.Duplicate, "b is a manager, and cannot be a member too; c is named twice")
	got, _ := model.NewOracle(flat).Allowed(1, 4, int(flat.Role("manager")))
	assert.True(t, got)
	m, err := model.New(fixture(), model.Roles, false)
	require.NoError(t, err)
	o := model.NewOracle(m)
	for i, want := range []bool{false, true, true, false} {
		got, _ := o.Allowed(int32(i), 4, int(m.Role("member")))
		assert.Equal(t, want, got, m.Local[i])
	}
	m, err = model.New(fixture(), model.Roles, true)
	require.NoError(t, err)
	got, depth := model.NewOracle(m).Allowed(3, 4, int(m.Role("member")))
	assert.True(t, got, "who makes a role group is its manager and so in it, as in the original")
	assert.Equal(t, 2, depth)
}

func write(t *testing.T, dir, name string, lines ...string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
}

func mustRead(t *testing.T, dir string, sections bool) *model.Dataset {
	t.Helper()
	f, err := dataset.Open(dir, "all", true)
	require.NoError(t, err)
	d, err := f.Read(sections)
	require.NoError(t, err)
	return d
}

func TestFoldersOfBothGenerations(t *testing.T) {
	const classic, newer = "../../testdata/samples/oae/classic", "../../testdata/samples/oae/hilary"
	for _, dir := range []string{classic, newer} {
		d := mustRead(t, dir, false)
		m, err := model.New(d, model.Nested, true)
		require.NoError(t, err)
		assert.Equal(t, []string{"ann", "bob", "w1", "w1-manager", "w1-member"}, m.Local)
		assert.Equal(t, []model.Edge{{Group: 2, Member: 3, Role: 1}, {Group: 2, Member: 4, Role: 0}, {Group: 4, Member: 1, Role: 0}, {Group: 4, Member: 2, Role: 0}}, m.Edges)
	}
	d := mustRead(t, classic, true)
	assert.Equal(t, 2, d.Mapped, "contacts and everyone")
	vis, data, err := sectionOf(&model.Model{Data: d}, 0, 0)
	require.NoError(t, err)
	assert.Equal(t, "private", vis)
	assert.JSONEq(t, `{"aboutMePrivacy":"contacts"}`, data)
}

func TestBadLoaderFilesAreNamedByLine(t *testing.T) {
	dir := t.TempDir()
	user := `{"userid":"ann"}`
	for text, want := range map[string]string{
		`{"id":"w","roles":{"member":{"users":["a`: "worlds/0.txt:2: not a JSON object",
		`{"id":"w"}`: "worlds/0.txt:2: a group without an object of roles",
		`{"id":"w","roles":{"member":{"users":["zoe"]}}}`:      "worlds/0.txt:2: group w: role member: there is no user zoe",
		`{"id":"w","creator":"u:x:zoe","roles":{}}`:            "worlds/0.txt:2: group w: there is no user zoe, its creator",
		`{"id":"w","roles":{"member":{"users":"ann"}}}`:        "worlds/0.txt:2: role member: users: a string where a list is expected",
		`{"id":"w","roles":{"member":{}},"roles2":{}} {}`:      "worlds/0.txt:2: not a JSON object",
		`{"id":"w","roles":{"m":{},"m":{}}}`:                   "worlds/0.txt:2: role m is listed twice",
		`{"id":7,"roles":{}}`:                                  "worlds/0.txt:2: id: a number where a string is expected",
		`{"id":"g:x:","roles":{}}`:                             "worlds/0.txt:2: a group without id",
		`{"id":"w\u0000","roles":{}}`:                          `worlds/0.txt:2: the id "w\x00" of a group: control characters cannot be in it`,
		`{"id":"` + strings.Repeat("x", 800) + `","roles":{}}`: "worlds/0.txt:2: the id of a group has 800 bytes; 700 is the most",
		`{"id":"v-member","roles":{}}`:                         "worlds/0.txt:1: group v: its role group for member: group v-member is in the data set twice",
		`["w"]`:                                                "worlds/0.txt:2: a JSON array where an object is expected",
	} {
		write(t, dir, "users/0.txt", user)
		write(t, dir, "worlds/0.txt", `{"id":"v","roles":{"member":{}}}`, text)
		in := workload.Inputs{Values: profiletest.Values(t, Profile(), "small")}
		in.Values.Set(workload.Value{Name: "folder", Text: dir, Origin: workload.OriginFlag})
		_, err := Design(in)
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	for text, want := range map[string]string{
		`{"userid":"bob","userAccountPrivacy":"nobody"}`:                    `users/0.txt:3: userAccountPrivacy: visibility "nobody" is not one of`,
		`{"userid":"bob","aboutMe":{"aboutMePrivacy":"x"}}`:                 `users/0.txt:3: aboutMePrivacy: visibility "x"`,
		`{"userid":"bob","publications":{"publicationsPrivacy":"friends"}}`: `users/0.txt:3: publicationsPrivacy: visibility "friends"`,
		`{"userid":"bob","aboutMe":[]}`:                                     "users/0.txt:3: aboutMe: a JSON array where an object is expected",
		`{"firstName":"bob"}`:                                               "users/0.txt:3: a user without id",
		`{"userid":"bob"`:                                                   "users/0.txt:3: not a JSON object",
	} {
		write(t, dir, "users/0.txt", user, "", text)
		f, err := dataset.Open(dir, "all", true)
		require.NoError(t, err)
		_, err = f.Read(true)
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	_, err := dataset.Open(t.TempDir(), "all", true)
	assert.ErrorContains(t, err, "users/0.txt")
}

// Every batch of a folder is read, in the order of the numbers; one that is missing
// among others is named.
func TestAllBatchesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"0", "1", "2", "10"} {
		write(t, dir, "users/"+n+".txt", `{"userid":"batch`+n+`-ann"}`)
		write(t, dir, "worlds/"+n+".txt", `{"id":"batch`+n+`-w","creator":"batch`+n+`-ann","roles":{"member":{"users":["batch0-ann"]}}}`)
	}
	write(t, dir, "users/notes.txt", "not a batch")
	write(t, dir, "users/007.txt", "not a batch either")
	_, err := dataset.Open(dir, "all", true)
	require.ErrorContains(t, err, "users/3.txt")
	for n := 3; n < 10; n++ {
		write(t, dir, fmt.Sprintf("users/%d.txt", n), fmt.Sprintf(`{"userid":"batch%d-ann"}`, n))
	}
	_, err = dataset.Open(dir, "all", true)
	require.ErrorContains(t, err, "worlds/3.txt")
	f, err := dataset.Open(dir, "10, 0", true)
	require.NoError(t, err)
	d, err := f.Read(false)
	require.NoError(t, err)
	assert.Equal(t, []string{"batch10-ann", "batch0-ann"}, []string{d.Users[0].ID, d.Users[1].ID})
	for _, bad := range []string{"one", "-1", "0,0", "0,"} {
		_, err = dataset.Open(dir, bad, true)
		require.ErrorContains(t, err, "batches:", bad)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "worlds")))
	_, err = dataset.Open(dir, "all", true)
	require.ErrorContains(t, err, "groups/0.txt")
	_, err = dataset.Open(dir, "all", false)
	require.NoError(t, err, "profiles need no groups")
}

// A plan is designed more than once; its folder is read once, and again when it has
// changed.
func TestAFolderIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "users/0.txt", `{"userid":"ann"}`)
	write(t, dir, "worlds/0.txt", `{"id":"w","roles":{"member":{"users":["ann"]}}}`)
	_, first := design(t, "folder="+dir)
	_, second := design(t, "folder="+dir, "threads=4")
	assert.Same(t, first.s.model, second.s.model)
	_, other := design(t, "folder="+dir, "variant=v2")
	assert.NotSame(t, first.s.model, other.s.model)
	write(t, dir, "users/0.txt", `{"userid":"ann"}`, `{"userid":"bob"}`)
	_, changed := design(t, "folder="+dir)
	assert.Equal(t, 2, changed.s.model.Users)
	assert.Equal(t, 1, first.s.model.Users)
}

func TestFilesAreReadAsTheyAreMeant(t *testing.T) {
	vs, _, err := Read([]workload.File{{Path: "a.yaml", Data: []byte("users: 10\nrate: 5\npayload: 1k\nload-0.principal: 2k\n")}, {Path: "scripts"}})
	require.NoError(t, err)
	assert.Equal(t, "scripts", vs["folder"].Text)
	assert.Len(t, vs, 5)
	_, _, err = Read([]workload.File{{Path: "a.yaml", Data: []byte("usres: 10\n")}})
	require.ErrorContains(t, err, `a.yaml:1:1: there is no knob or parameter "usres"`)
	_, _, err = Read([]workload.File{{Path: "one"}, {Path: "two"}})
	require.ErrorContains(t, err, "file two: a second folder beside one, and a run reads one")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

// What other systems leave in such files is read over: a mark of the byte order,
// carriage returns, empty lines, no line end, names of every script.
func TestOddFoldersAreRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "scripts/users/0.txt", "\ufeff"+`{"userid":"žofie-Ω:1"}`+"\r", "\r", "  ", `{"id":"u:t:名前","firstName":"名","lastName":"前"}`, `{"userid":"{tag}'\"%","firstName":"a'b"}`, "", "")
	write(t, dir, "scripts/groups/0.txt", `{"id":"g:t:skupina Ω","name":"x","creator":"u:t:名前","roles":{"člen ✓":{"users":["u:t:žofie-Ω:1","{tag}'\"%"],"groups":["g:t:skupina Ω"],"totalUsers":2}}}`)
	m, err := model.New(mustRead(t, dir, false), model.Nested, true)
	require.NoError(t, err)
	assert.Equal(t, []string{"žofie-Ω:1", "名前", `{tag}'"%`, "skupina Ω", "skupina Ω-člen ✓"}, m.Local)
	assert.Len(t, m.Edges, 4)
}
