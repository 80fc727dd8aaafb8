package own

import (
	"strconv"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// MostRecords is how many records a data set may have.
const MostRecords = 1 << 40

// mostFields is how many fields a hash may have.
const mostFields = 1000

var dataKeys = []string{
	"type", "records", "size", "fields", "length", "most", "start", "compressible", "ttl", "key", "cached", "warm",
}

// data reads a data set.
func (r *Reader) data(name string, n yaml.Node) {
	d := model.Data{Name: name, Type: model.Value, Key: model.KeyForm{Length: model.KeyLength}}
	typed := false
	n.Each(yaml.Keys{What: "data set " + name, Names: dataKeys}, func(key, v yaml.Node) {
		what := name + "." + key.Text()
		switch key.Text() {
		case "type":
			d.Type, typed = typeOf(v), true
		case "records":
			d.Records = v.Whole(what, 0, MostRecords)
		case "size":
			d.Size = numberOf(v, what, bytes)
		case "fields":
			d.Fields = fields(v, what)
		case "length":
			d.Length = numberOf(v, what, count)
		case "most":
			d.Most = v.Whole(what, 0, MostRecords)
		case "start":
			d.Start = v.Whole(what, -1<<60, 1<<60)
		case "compressible":
			d.Compressible = share(v, what)
		case "ttl":
			d.TTL = numberOf(v, what, duration)
		case "key":
			d.Key = keyForm(v, what)
		case "cached":
			d.Cached = yes(v, what)
		case "warm":
			d.Warm = yes(v, what)
		}
	})
	if !typed && len(d.Fields) > 0 {
		d.Type = model.Hash
	}
	if d.Type == model.Hash && len(d.Fields) == 0 {
		n.Fail("for example  fields: 10", "data set %s is a hash, and has no fields", name)
	}
	r.w.Data = append(r.w.Data, d)
}

func typeOf(n yaml.Node) model.Type {
	var known []string
	for _, t := range model.Types {
		if n.Kind() == yaml.Scalar && n.Text() == string(t) {
			return t
		}
		known = append(known, string(t))
	}
	n.Fail(fault.Suggest(word(n), known), "%q is not a type of data", word(n))
	return model.Value
}

// usual is the size of a field that has that of the data set.
const usual = "usual"

// fields reads the fields of a hash: how many there are, their names, or their names with
// sizes.
func fields(n yaml.Node, what string) (out []model.Field) {
	switch n.Kind() {
	case yaml.List:
		list, _ := n.Texts(what)
		for i, name := range list {
			if !names.MatchString(name) {
				n.Items()[i].Fail("use letters, digits, _ and -, beginning with a letter", "%q is not the name of a field", name)
			}
			out = append(out, model.Field{Name: name})
		}
	case yaml.Mapping:
		named(n, what, func(name string, _, v yaml.Node) {
			f := model.Field{Name: name}
			if word(v) != usual {
				f.Size = numberOf(v, what+"."+name, bytes)
			}
			out = append(out, f)
		})
	default:
		for i := range n.Whole(what, 1, mostFields) {
			out = append(out, model.Field{Name: "field" + strconv.FormatInt(i, 10)})
		}
	}
	return out
}

var formKeys = []string{"prefix", "length", "hashed"}

func keyForm(n yaml.Node, what string) (f model.KeyForm) {
	n.Each(yaml.Keys{What: what, Names: formKeys}, func(key, v yaml.Node) {
		switch key.Text() {
		case "prefix":
			f.Prefix = text(v, what+".prefix")
		case "length":
			f.Length = int(v.Whole(what+".length", 0, model.LongestKey))
		case "hashed":
			f.Hashed = yes(v, what+".hashed")
		}
	})
	return f
}

func (r *Reader) session(n yaml.Node) {
	n.Each(yaml.Keys{What: keySession, Names: []string{"operations", "pause"}}, func(key, v yaml.Node) {
		if key.Text() == "pause" {
			r.w.Session.Pause = numberOf(v, "session.pause", duration)
		} else {
			r.w.Session.Length = numberOf(v, "session.operations", count)
		}
	})
}
