package authz

import (
	"fmt"
	"strings"
	"sync"
	"weak"

	"golang.org/x/crypto/bcrypt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/profiles/authz/dataset"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// latest is the model that was made last, as long as somebody uses it: a plan is
// designed several times before a run, and a model may be large.
var latest struct {
	sync.Mutex
	key   string
	model weak.Pointer[model.Model]
}

// modelOf makes the model, or reuses one made from the same source.
func modelOf(s *spec) (*model.Model, error) {
	var f *dataset.Folder
	key := fmt.Sprint(s.mode, s.shape, s.users, s.groups, s.seed, s.membership, s.variant, s.permission)
	if s.folder != "" {
		batches := s.batches
		if s.compat {
			batches = "0" // the original read no others
		}
		var err error
		if f, err = dataset.Open(s.folder, batches, s.mode == report.ModeChecks); err != nil {
			return nil, fault.Field("folder", err)
		}
		state, err := f.State()
		if err != nil {
			return nil, err
		}
		key += state
	}
	latest.Lock()
	defer latest.Unlock()
	if m := latest.model.Value(); m != nil && latest.key == key {
		return m, nil
	}
	m, err := makeModel(s, f)
	if err != nil {
		return nil, err
	}
	latest.key, latest.model = key, weak.Make(m)
	return m, nil
}

func makeModel(s *spec, f *dataset.Folder) (*model.Model, error) {
	var d *model.Dataset
	switch {
	case f != nil:
		var err error
		if d, err = f.Read(s.mode == report.ModeProfiles); err != nil {
			return nil, err
		}
	case s.mode == report.ModeProfiles:
		d = dataset.Generate(s.shape, s.users, 0, s.seed)
	default:
		d = dataset.Generate(s.shape, s.users, s.groups, s.seed)
	}
	m, err := model.New(d, s.membership, s.variant == "v1")
	if err != nil {
		hint := ""
		if strings.Contains(err.Error(), "role group") {
			hint = "membership=flat makes no role groups"
		}
		return nil, fault.Input(fmt.Errorf("authz: %w", err), hint)
	}
	m.Role(s.permission)
	if s.mode == report.ModeChecks {
		m.Data.Groups = nil // they are no longer needed
	}
	return m, nil
}

// hashed returns the stored form of a password. The original's password is the user's id.
func hashed(how, id string) (string, error) {
	if how != "bcrypt" {
		return "", nil
	}
	h, err := bcrypt.GenerateFromPassword([]byte(id)[:min(len(id), 72)], bcrypt.DefaultCost)
	return string(h), err
}
