package own

import (
	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// Write writes a workload as Read reads it.
func Write(w *model.Workload) string { return string(tree(w).Bytes("")) }

func tree(w *model.Workload) *yaml.Tree {
	top := yaml.NewMapping()
	if w.Name != "" {
		top.Put(keyName, yaml.Word(w.Name))
	}
	data, operations, mix := yaml.NewMapping(), yaml.NewMapping(), yaml.NewMapping()
	for i := range w.Data {
		data.Put(w.Data[i].Name, dataTree(&w.Data[i]))
	}
	for i := range w.Operations {
		o := &w.Operations[i]
		operations.Put(o.Name, operationTree(o))
		mix.Put(o.Name, yaml.Bare(short(o.Weight)))
	}
	top.Maybe(keyData, data).Maybe(keyOperations, operations).Maybe(keyMix, mix)
	s := yaml.NewMapping()
	s.Maybe("operations", count.tree(w.Session.Length)).Maybe("pause", duration.tree(w.Session.Pause))
	return top.Maybe(keySession, s)
}

// some are the keys that are only written if they say something.
type some struct{ *yaml.Tree }

func (t some) text(name, v string) {
	if v != "" {
		t.Put(name, yaml.Bare(v))
	}
}

func (t some) whole(name string, v int64) {
	if v != 0 {
		t.Put(name, yaml.Whole(v))
	}
}

func (t some) yes(name string, v bool) {
	if v {
		t.Put(name, yaml.Bare("true"))
	}
}

func dataTree(d *model.Data) *yaml.Tree {
	t := some{yaml.NewMapping()}
	t.text("type", string(d.Type))
	t.Put("records", yaml.Whole(d.Records))
	t.Maybe("size", bytes.tree(d.Size))
	t.Maybe("fields", fieldsTree(d.Fields))
	t.Maybe("length", count.tree(d.Length))
	t.whole("most", d.Most)
	t.whole("start", d.Start)
	if d.Compressible > 0 {
		t.text("compressible", short(d.Compressible))
	}
	t.Maybe("ttl", duration.tree(d.TTL))
	key := some{yaml.NewMapping()}
	if d.Key.Prefix != "" {
		key.Put("prefix", yaml.Word(d.Key.Prefix))
	}
	key.Put("length", yaml.Whole(int64(d.Key.Length)))
	key.yes("hashed", d.Key.Hashed)
	t.Put("key", key.Tree)
	t.yes("cached", d.Cached)
	t.yes("warm", d.Warm)
	return t.Tree
}

// fieldsTree writes the names of fields, with sizes if all have their own.
func fieldsTree(fs []model.Field) *yaml.Tree {
	if len(fs) == 0 {
		return nil
	}
	sized, some := yaml.NewMapping(), false
	var items []*yaml.Tree
	for i := range fs {
		items = append(items, yaml.Word(fs[i].Name))
		size := bytes.tree(fs[i].Size)
		if some = some || size != nil; size == nil {
			size = yaml.Word(usual)
		}
		sized.Put(fs[i].Name, size)
	}
	if some {
		return sized
	}
	return yaml.NewList(items...)
}

func operationTree(o *model.Operation) *yaml.Tree {
	var steps []*yaml.Tree
	for i := range o.Steps {
		steps = append(steps, stepTree(&o.Steps[i]))
	}
	t := some{yaml.NewMapping()}
	t.Put("steps", yaml.NewList(steps...))
	t.yes("atomic", o.Atomic)
	return t.Tree
}

func stepTree(s *model.Step) *yaml.Tree {
	t := some{yaml.NewMapping()}
	switch s.Do {
	case model.Think:
		t.Maybe("think", duration.tree(s.Pause))
	case model.Statement:
		t.Put("statement", yaml.Word(s.Text))
		t.text("on", s.Data)
	default:
		t.Put(string(s.Do), yaml.Word(s.Data))
	}
	t.text("keys", KeysText(&s.Keys))
	if s.Keys.To > 0 {
		t.Put("records", count.tree(model.Between(s.Keys.From, s.Keys.To-1)))
	}
	t.Maybe("batch", count.tree(s.Batch)).Maybe("count", count.tree(s.Count))
	if len(s.Names) > 0 {
		var names []*yaml.Tree
		for _, n := range s.Names {
			names = append(names, yaml.Word(n))
		}
		t.Put("fields", yaml.NewList(names...))
	} else {
		t.whole("fields", int64(s.Fields))
	}
	t.Maybe("size", bytes.tree(s.Size)).Maybe("ttl", duration.tree(s.TTL)).Maybe("by", signed.tree(s.By))
	if s.Hit != nil {
		t.Put("hit", yaml.Bare(short(*s.Hit)))
	}
	t.yes("fill", s.Fill)
	if len(s.Args) > 0 {
		var args []*yaml.Tree
		for i := range s.Args {
			args = append(args, argTree(&s.Args[i]))
		}
		t.Put("args", yaml.NewList(args...))
	}
	t.text("expect", s.Expect)
	t.whole("pipeline", int64(s.Pipeline))
	return t.Tree
}

func argTree(a *model.Arg) *yaml.Tree {
	t := some{yaml.NewMapping()}
	switch a.Kind {
	case model.ArgKey, model.ArgRecord:
		t.Put(string(a.Kind), yaml.Word(a.Data))
		t.text("keys", KeysText(&a.Keys))
		if a.Keys.To > 0 {
			t.Put("records", count.tree(model.Between(a.Keys.From, a.Keys.To-1)))
		}
	case model.ArgValue:
		t.Put(string(a.Kind), bytes.tree(a.Number))
		t.text("on", a.Data)
	case model.ArgNumber:
		t.Put(string(a.Kind), signed.tree(a.Number))
	default:
		t.Put(string(a.Kind), yaml.Word(a.Text))
	}
	return t.Tree
}
