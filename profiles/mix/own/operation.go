package own

import (
	"slices"

	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// operation reads an operation: a step, a list of steps, or a mapping that has them.
func (r *Reader) operation(name string, n yaml.Node) {
	op := model.Operation{Name: name}
	steps := []yaml.Node{n}
	switch {
	case n.Kind() == yaml.List:
		steps = n.Items()
	case n.IsMapping() && has(n, "steps"):
		n.Each(yaml.Keys{What: "operation " + name, Names: []string{"steps", "atomic"}}, func(key, v yaml.Node) {
			if key.Text() == "atomic" {
				op.Atomic = yes(v, name+".atomic")
			} else {
				steps = v.Items()
			}
		})
	}
	if len(steps) == 0 {
		n.Fail("for example  {get: product}", "operation %s has no steps", name)
	}
	for _, one := range steps {
		op.Steps = append(op.Steps, r.step(name, one))
	}
	r.w.Operations = append(r.w.Operations, op)
}

func has(n yaml.Node, name string) bool {
	for key := range n.Pairs() {
		if key.Text() == name {
			return true
		}
	}
	return false
}

var stepKeys = []string{
	"keys", "records", "batch", "count", "fields", "size", "ttl", "by", "hit", "fill", "args", "expect", "pipeline", "on",
}

// step reads a step, whose verb is one of its keys.
func (r *Reader) step(name string, n yaml.Node) model.Step {
	st := model.Step{Where: n.Where()}
	known := slices.Clone(stepKeys)
	var verbs []string
	for _, v := range model.Verbs {
		verbs = append(verbs, string(v))
	}
	known = append(verbs, known...)
	n.Each(yaml.Keys{What: "a step of " + name, Names: known}, func(key, v yaml.Node) {
		what := name + ": " + key.Text()
		switch word := key.Text(); word {
		case "keys":
			keysOf(v, what, &st.Keys)
		case "records":
			limits := numberOf(v, what, count)
			st.Keys.From, st.Keys.To = limits.Min, limits.Max+1
		case "batch":
			st.Batch = numberOf(v, what, count)
		case "count":
			st.Count = numberOf(v, what, count)
		case "fields":
			if v.Kind() == yaml.List {
				st.Names, _ = v.Texts(what)
			} else {
				st.Fields = int(v.Whole(what, 1, mostFields))
			}
		case "size":
			st.Size = numberOf(v, what, bytes)
		case "ttl":
			st.TTL = numberOf(v, what, duration)
		case "by":
			st.By = numberOf(v, what, signed)
		case "hit":
			h := share(v, what)
			st.Hit = &h
		case "fill":
			st.Fill = yes(v, what)
		case "args":
			for _, item := range v.Items() {
				st.Args = append(st.Args, r.arg(name, item))
			}
		case "expect":
			st.Expect = text(v, what)
		case "pipeline":
			st.Pipeline = int(v.Whole(what, 1, 10_000))
		case "on":
			st.Data = text(v, what)
		default:
			r.verb(name, &st, key, v)
		}
	})
	if st.Do == "" && n.IsMapping() && !strange(n, known) {
		n.Fail("say what it does, for example  {get: product}", "a step of %s does nothing", name)
	}
	return st
}

// strange reports whether a mapping has a key that it cannot have.
func strange(n yaml.Node, known []string) bool {
	for key := range n.Pairs() {
		if !slices.Contains(known, key.Text()) {
			return true
		}
	}
	return false
}

// verb reads what a step does.
func (r *Reader) verb(name string, st *model.Step, key, v yaml.Node) {
	if st.Do != "" {
		key.Fail("make it a list of steps: [{"+string(st.Do)+": …}, {"+key.Text()+": …}]", "a step of %s does %s already", name, st.Do)
		return
	}
	st.Do = model.Verb(key.Text())
	switch st.Do {
	case model.Think:
		st.Pause = numberOf(v, name+": think", duration)
	case model.Statement:
		st.Text = text(v, name+": statement")
	default:
		st.Data = text(v, name+": "+key.Text())
		if !names.MatchString(st.Data) {
			v.Fail("use letters, digits, _ and -, beginning with a letter", "%q is not the name of a data set", st.Data)
		}
	}
}

var argKeys = []string{string(model.ArgKey), string(model.ArgRecord), string(model.ArgValue), string(model.ArgNumber), string(model.ArgText), "keys", "records", "on"}

// arg reads an argument of a statement: {key: product}, {value: 100B}, {number: 1..10}, or
// a text.
func (r *Reader) arg(name string, n yaml.Node) model.Arg {
	if n.Kind() == yaml.Scalar {
		return model.Arg{Kind: model.ArgText, Text: n.Text()}
	}
	a := model.Arg{}
	n.Each(yaml.Keys{What: "an argument of " + name, Names: argKeys}, func(key, v yaml.Node) {
		what := name + ": " + key.Text()
		switch kind := model.ArgKind(key.Text()); kind {
		case "keys":
			keysOf(v, what, &a.Keys)
		case "records":
			limits := numberOf(v, what, count)
			a.Keys.From, a.Keys.To = limits.Min, limits.Max+1
		case "on":
			a.Data = text(v, what)
		case model.ArgKey, model.ArgRecord:
			a.Kind, a.Data = kind, text(v, what)
			if !has(n, "keys") {
				a.Keys.Kind = model.Same
			}
		case model.ArgValue:
			a.Kind, a.Number = kind, numberOf(v, what, bytes)
		case model.ArgNumber:
			a.Kind, a.Number = kind, numberOf(v, what, signed)
		case model.ArgText:
			a.Kind, a.Text = kind, text(v, what)
		}
	})
	if a.Kind == "" {
		n.Fail("for example  {key: product}", "an argument of %s is nothing", name)
	}
	return a
}
