package foreign

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

const stressTool = "cassandra-stress"

// stress is a user profile of cassandra-stress.
type stress struct {
	notes
	path, table string
	nodes       map[string]yaml.Node
	cql         cqlTable
	specs       map[string]columnSpec
	partitions  model.Number
}

// columnSpec is an entry of columnspec.
type columnSpec struct {
	size, population, cluster *distribution
	where                     string
}

// Defaults of cassandra-stress for columns that nothing is said of.
const (
	shortText, longText = 4, 8
	// many is how many records there are if the key may have more values than fit.
	many = 1_000_000
)

var stressKeys = []string{
	"specname", "keyspace", "keyspace_definition", "table", "table_definition", "extra_definitions", "columnspec", "insert", "queries", "token_range_queries", "seed",
}

func readStress(path string, n yaml.Node) (*model.Workload, []workload.FileKey, error) {
	s := &stress{path: path, nodes: map[string]yaml.Node{}, specs: map[string]columnSpec{}}
	for key, value := range n.Pairs() {
		s.nodes[key.Text()] = value
		s.top(key, value)
	}
	if _, ok := s.nodes["table_definition"]; !ok {
		n.Fail("", "this profile has no table_definition, which says what records have")
	}
	if err := n.Err(); err != nil {
		return nil, nil, err
	}
	s.definition()
	s.columns()
	if Refusal(s.notes) != nil {
		return &model.Workload{Name: base(path)}, s.notes, nil
	}
	d, keys := s.data()
	w := &model.Workload{Name: base(path), Data: []model.Data{d}, Operations: s.operations(&d, keys)}
	if len(w.Operations) > 1 {
		s.about(n.Where(), "ops", "the shares of operations are on the command line of cassandra-stress, not in the profile: here all are equally frequent")
	}
	return w, s.notes, n.Err()
}

// top notes what becomes of keys at the top, as far as others do not.
func (s *stress) top(key, value yaml.Node) {
	where, name := key.Where(), key.Text()
	switch name {
	case "keyspace":
		s.about(where, name, "no effect: the keyspace is that of --target or --namespace")
	case "keyspace_definition":
		s.about(where, name, "no effect: perfbench creates a keyspace where none is named by --target, and uses one that is there as it is")
	case "table":
		if s.table = strings.ToLower(scalar(value)); !isName(s.table) {
			s.refuse(where, name, "%q: begin with a letter and go on with letters, digits and _", scalar(value))
			return
		}
		s.done(where, name)
	case "specname":
		s.about(where, name, "no effect: it is for several profiles in one run")
	case "seed":
		s.about(where, name, "no effect: use --seed")
	case "extra_definitions":
		s.refuse(where, name, "perfbench makes no other tables, indexes and views; create them yourself, and take the key out")
	case "token_range_queries":
		for k := range value.Pairs() {
			s.refuse(k.Where(), name+"."+k.Text(), "perfbench reads records by their keys, not ranges of tokens")
		}
	case "table_definition", "columnspec", "queries", "insert":
	default:
		s.unknown(where, name, stressTool, stressKeys)
	}
}

// definition reads the table.
func (s *stress) definition() {
	n := s.nodes["table_definition"]
	var why string
	var line int
	s.cql, why, line = parseTable(scalar(n))
	where := n.Where()
	switch {
	case why != "":
		if strings.Contains(scalar(n), "\n") { // a block, which begins on the line after its key
			line++
		}
		s.refuse(fmt.Sprintf("%s:%d", s.path, n.Line()+line), "table_definition", "%s", why)
	case s.table != "" && s.table != s.cql.name:
		s.refuse(where, "table_definition", "it creates %s, and table is %s", s.cql.name, s.table)
	case len(s.cql.values()) == 0:
		s.refuse(where, "table_definition", "it has no column besides its key, so that there is nothing to store")
	default:
		s.about(where, "table_definition", "the table is perfbench's own, on whichever store: a record by its key, and a field for each other column, which holds text as long as the column's values; options of the table have no effect")
	}
}

// columns reads columnspec.
func (s *stress) columns() {
	n, ok := s.nodes["columnspec"]
	if !ok {
		return
	}
	if n.Kind() != yaml.List && !n.IsNull() {
		n.Fail("", "columnspec is not a list of columns")
		return
	}
	for _, item := range n.Items() {
		s.column(item)
	}
}

func (s *stress) column(item yaml.Node) {
	spec, name := columnSpec{where: item.Where()}, ""
	for key, value := range item.Pairs() {
		if strings.EqualFold(key.Text(), "name") {
			name = columnName(scalar(value))
		}
	}
	full := "columnspec." + name
	if s.cql.column(name) == nil && len(s.cql.columns) > 0 {
		var names []string
		for _, c := range s.cql.columns {
			names = append(names, c.name)
		}
		s.unknown(item.Where(), full, "table_definition", names)
		return
	}
	for key, value := range item.Pairs() {
		where, full := key.Where(), full+"."+strings.ToLower(key.Text())
		to := map[string]**distribution{"size": &spec.size, "population": &spec.population, "cluster": &spec.cluster}[strings.ToLower(key.Text())]
		switch {
		case strings.EqualFold(key.Text(), "name"):
		case to == nil:
			s.unknown(where, full, stressTool, []string{"columnspec." + name + ".name", "columnspec." + name + ".size", "columnspec." + name + ".population", "columnspec." + name + ".cluster"})
		default:
			d, err := parseDistribution(scalar(value))
			if err != nil {
				s.refuse(where, full, "%v", err)
				continue
			}
			*to = &d
			s.spec(where, full, strings.ToLower(key.Text()), name, &d)
		}
	}
	s.specs[name] = spec
}

// spec notes what becomes of a distribution of a column.
func (s *stress) spec(where, full, what, name string, d *distribution) {
	partition, cluster := slices.Contains(s.cql.partition, name), slices.Contains(s.cql.cluster, name)
	_, differs := d.number()
	switch {
	case what == "cluster" && (d.hi > 1 || cluster):
		s.about(where, full, "no effect: a partition has one row")
	case what == "size" && (partition || cluster):
		s.about(where, full, "no effect: keys are numbers of one length")
	case what == "population" && partition && len(s.cql.partition) == 1:
		if _, differs = d.keys(); differs != "" {
			s.about(where, full, "%s", differs)
			return
		}
		s.done(where, full)
	case what == "population":
		s.about(where, full, "no effect: every value of a record is another one, so that it can be checked")
	case d.inverted:
		s.about(where, full, "from small to large, not inverted")
	case differs != "":
		s.about(where, full, "%s", differs)
	default:
		s.done(where, full)
	}
}

// data returns the records, and how they are chosen.
func (s *stress) data() (model.Data, model.Keys) {
	d := model.Data{Name: s.cql.name, Type: model.Hash, Records: 1, Size: model.Between(shortText, longText)}
	keys := model.Keys{Kind: model.Uniform}
	for i, name := range s.cql.partition {
		population := s.specs[name].population
		if population == nil {
			population = &distribution{kind: "uniform", lo: 1, hi: 100e9}
		}
		if n := population.hi - population.lo + 1; n > math.MaxInt64/8/d.Records {
			d.Records = math.MaxInt64 / 8
		} else {
			d.Records *= n
		}
		if i == 0 && len(s.cql.partition) == 1 {
			keys, _ = population.keys()
		}
	}
	if d.Records > 100*many {
		s.about(s.nodes["table_definition"].Where(), "records", "the key has %d values; there are %d records, use --records for others", d.Records, many)
		d.Records = many
	}
	for _, c := range s.cql.values() {
		f := model.Field{Name: c.name}
		if n, ok := fixedSize[plainType(c.kind)]; ok {
			f.Size = model.One(n)
		} else if size := s.specs[c.name].size; size != nil {
			f.Size, _ = size.number()
		}
		d.Fields = append(d.Fields, f)
	}
	return d, keys
}

// plainType returns the name of a type without what it is made of.
func plainType(kind string) string {
	kind, _, _ = strings.Cut(kind, "<")
	return strings.TrimSpace(kind)
}

// fixedSize is how many bytes the values of a type have.
var fixedSize = map[string]int64{
	"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "float": 4, "date": 4, "bigint": 8, "double": 8, "counter": 8, "time": 8, "timestamp": 8, "uuid": 16, "timeuuid": 16, "inet": 4,
}

// operations returns one for insert, and one for each query.
func (s *stress) operations(d *model.Data, keys model.Keys) []model.Operation {
	put := model.Step{Do: model.Put, Data: d.Name, Keys: keys, Where: s.nodes["table_definition"].Where()}
	if n, ok := s.nodes["insert"]; ok {
		put.Where = n.Where()
		for key, value := range n.Pairs() {
			s.insert(key, value)
		}
		put.Batch = s.partitions
	}
	out := []model.Operation{{Name: "insert", Weight: 1, Steps: []model.Step{put}}}
	if n, ok := s.nodes["queries"]; ok && !n.IsMapping() && !n.IsNull() {
		n.Fail("", "queries is not a mapping of names to statements")
	}
	for key, value := range s.nodes["queries"].Pairs() {
		name := strings.ToLower(key.Text())
		text, where := scalar(value), key.Where()
		for k, v := range value.Pairs() {
			switch strings.ToLower(k.Text()) {
			case "cql":
				text, where = scalar(v), v.Where()
			case "fields":
				s.fields(k.Where(), "queries."+name+".fields", strings.ToLower(scalar(v)))
			default:
				s.unknown(k.Where(), "queries."+name+"."+k.Text(), stressTool, []string{"queries." + name + ".cql", "queries." + name + ".fields"})
			}
		}
		if name == "insert" || !isName(name) {
			s.refuse(key.Where(), "queries."+name, "give it another name, of letters, digits and _, that is not insert")
			continue
		}
		if step, ok := s.query(where, "queries."+name, text); ok {
			step.Data, step.Where = d.Name, where
			if step.Keys = keys; keys.Kind == model.Sequential {
				step.Keys.Kind = model.Uniform
			}
			out = append(out, model.Operation{Name: name, Weight: 1, Steps: []model.Step{step}})
		}
	}
	return out
}

func (s *stress) fields(where, key, v string) {
	switch v {
	case "samerow":
		s.done(where, key)
	case "multirow":
		s.about(where, key, "no effect: a partition has one row")
	default:
		s.refuse(where, key, "%q is neither samerow nor multirow", v)
	}
}

// insert reads a key of insert.
func (s *stress) insert(key, value yaml.Node) {
	where, name, text := key.Where(), "insert."+strings.ToLower(key.Text()), scalar(value)
	switch strings.ToLower(key.Text()) {
	case "partitions":
		d, err := parseDistribution(text)
		if err != nil {
			s.refuse(where, name, "%v", err)
			return
		}
		n, differs := d.number()
		if s.partitions = n; n.Max == 1 {
			s.partitions = model.Number{}
		}
		if differs != "" {
			s.about(where, name, "%s", differs)
			return
		}
		s.done(where, name)
	case "batchtype":
		switch strings.ToLower(text) {
		case "logged", "unlogged":
			s.about(where, name, "no effect: the records of one call are written as the store does that best")
		case "counter":
			s.refuse(where, name, "records hold text; for counters, write YAML of ours with type: counter")
		default:
			s.refuse(where, name, "%q is not LOGGED, UNLOGGED or COUNTER", text)
		}
	case "select", "row-population", "visits":
		s.about(where, name, "no effect: a partition has one row, which is written whole")
	default:
		s.unknown(where, name, stressTool, []string{"insert.partitions", "insert.batchtype", "insert.select", "insert.row-population", "insert.visits"})
	}
}

// query returns the step that a statement is.
func (s *stress) query(where, key, text string) (model.Step, bool) {
	q, ok := parseQuery(text, &s.cql)
	switch {
	case strings.TrimSpace(text) == "":
		s.refuse(where, key, "it has no cql")
		return model.Step{}, false
	case !ok:
		s.refuse(where, key, "it is not one SELECT, UPDATE, INSERT or DELETE on the table")
		return model.Step{}, false
	case !q.byKey:
		s.refuse(where, key, "it does not ask for one partition: %s = ? is needed for each column of the key", strings.Join(s.cql.partition, " = ? AND "))
		return model.Step{}, false
	}
	step := model.Step{Names: q.columns}
	switch q.verb {
	case "select":
		step.Do = model.Get
	case "update":
		step.Do = model.Update
	case "insert":
		step.Do = model.Put
	default:
		step.Do = model.Delete
	}
	if q.more || len(s.cql.cluster) > 0 {
		s.about(where, key, "the whole record of the key, as a partition has one row; limits, orders and conditions on other columns have no effect")
	} else {
		s.done(where, key)
	}
	return step, true
}
