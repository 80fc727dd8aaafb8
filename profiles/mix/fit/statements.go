package fit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/statements"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"
)

const (
	// unknownRecords is how many records a table is taken to have.
	unknownRecords = 100_000
	// unknownRows is how many rows a statement is taken to be about that names several, or a range.
	unknownRows = 10
	// maxTexts is how many texts of statements are told apart.
	maxTexts = 100_000
	// maxColumns is how many columns of a table are told apart.
	maxColumns = 50
	// othersText stands for texts that are not told apart.
	othersText = "other statements"
)

// asked is how often a statement was asked, and how many rows it was about in all, if rows are known.
type asked struct {
	calls, rows int64
	known       bool
}

// tables makes a workload of statements.
type tables struct {
	dialect statements.Dialect
	texts   map[string]*asked
}

func (f *tables) add(text string, calls, rows int64, known bool) {
	a := f.texts[text]
	if a == nil && len(f.texts) >= maxTexts {
		text = othersText
		a = f.texts[text]
	}
	if a == nil {
		a = &asked{}
		f.texts[text] = a
	}
	a.calls, a.rows, a.known = a.calls+calls, a.rows+rows, known
}

// table is what was asked of one table.
type table struct {
	name    string
	columns []string
	calls   int64
	does    map[rowsDo]*asked
	written map[rowsDo]int64 // columns, in all
}

// rowsDo is what is done, to one record or several.
type rowsDo struct {
	do   model.Verb
	many bool
}

// ofCapture makes a workload of a capture of statements, of which the header was read.
func ofCapture(name string, r *capture.Reader) (*Fitted, error) {
	f := &tables{dialect: statements.DialectOf(r.Header.Store), texts: map[string]*asked{}}
	mean := statements.Mean(&r.Header)
	first, last, calls := time.Duration(-1), time.Duration(0), int64(0)
	var c capture.Call
	for {
		if err := r.Next(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if first < 0 {
			first = c.At
		}
		last = max(last, c.At)
		calls++
		f.add(cmp.Or(mean(&c).Form, othersText), 1, 0, false)
	}
	rate := 0.0
	if span := (last - first).Seconds(); span > 0.2 && r.Header.Timing != capture.Unknown {
		rate = float64(calls) / span
	}
	return f.fitted(name, rate)
}

// isStatistics reports whether a file begins with the names of columns as pg_stat_statements has
// them.
func isStatistics(ahead []byte) bool {
	line, _, _ := bytes.Cut(ahead, []byte("\n"))
	names := strings.Split(strings.TrimSpace(string(line)), ",")
	return slices.Contains(names, "query") && slices.Contains(names, "calls")
}

// ofStatistics makes a workload of pg_stat_statements as a CSV file with the names of its columns.
func ofStatistics(name string, in *bufio.Reader) (*Fitted, error) {
	bad := func(line int, what string) error {
		return fault.Input(fmt.Errorf("%s: line %d: %s", name, line, what), `in psql:  \copy (SELECT query, calls, rows FROM pg_stat_statements) TO 'stats.csv' CSV HEADER`)
	}
	r := csv.NewReader(in)
	r.ReuseRecord = true
	columns, err := r.Read()
	if err != nil {
		return nil, bad(1, "it does not name the columns of pg_stat_statements")
	}
	query, calls, rows := slices.Index(columns, "query"), slices.Index(columns, "calls"), slices.Index(columns, "rows")
	f := &tables{dialect: statements.Postgres, texts: map[string]*asked{}}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var wrong *csv.ParseError
		switch {
		case errors.As(err, &wrong):
			return nil, bad(wrong.StartLine, "this is no line of a CSV file with as many columns as the first line names")
		case err != nil:
			return nil, err
		}
		line, _ := r.FieldPos(calls)
		n, err := strconv.ParseInt(record[calls], 10, 64)
		if err != nil || n < 0 || n > 1<<50 {
			return nil, bad(line, fmt.Sprintf("calls is %.20q, and should be a number", record[calls]))
		}
		total := int64(0)
		if rows >= 0 {
			if total, err = strconv.ParseInt(record[rows], 10, 64); err != nil || total < 0 || total > 1<<60 {
				return nil, bad(line, fmt.Sprintf("rows is %.20q, and should be a number", record[rows]))
			}
		}
		f.add(record[query], n, total, rows >= 0)
	}
	return f.fitted(name, 0)
}

// Counts is how often a statement of PostgreSQL's was carried out, and how many rows it was about in
// all.
type Counts struct {
	Text        string
	Calls, Rows int64
}

// OfCounts makes a workload of what a server has counted within a time.
func OfCounts(name string, counts []Counts, within time.Duration) (*Fitted, error) {
	f := &tables{dialect: statements.Postgres, texts: map[string]*asked{}}
	calls := int64(0)
	for _, c := range counts {
		calls += c.Calls
		f.add(c.Text, c.Calls, c.Rows, true)
	}
	return f.fitted(name, float64(calls)/within.Seconds())
}

// fitted puts the workload together.
func (f *tables) fitted(path string, rate float64) (*Fitted, error) {
	byName, left := map[string]*table{}, map[string]int64{}
	done, guessed := int64(0), false
	for _, text := range f.ordered() {
		a := f.texts[text]
		s, ok := statements.ShapeOf(f.dialect, text)
		t := byName[s.Table]
		if a.calls == 0 {
			continue
		}
		if !ok || t == nil && len(byName) >= maxSets {
			left[text] += a.calls
			continue
		}
		if t == nil {
			t = &table{name: s.Table, does: map[rowsDo]*asked{}, written: map[rowsDo]int64{}}
			byName[s.Table] = t
		}
		guessed = t.add(&s, a) || guessed
		done += a.calls
	}
	if done == 0 {
		return nil, fault.Input(fmt.Errorf("%s: there is no statement in it that a workload could have: one about the records of one table", path), "perfbench run mix --file takes statements of yours, too: docs/mix.md")
	}
	sorted := make([]*table, 0, len(byName))
	for _, t := range byName {
		sorted = append(sorted, t)
	}
	slices.SortFunc(sorted, func(a, b *table) int { return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.name, b.name)) })
	w := &model.Workload{}
	names := map[string]bool{}
	for _, t := range sorted {
		t.put(w, done, names)
	}
	if err := w.Complete(); err != nil {
		return nil, err
	}
	out := &Fitted{Calls: done, Left: left}
	total := done
	for _, n := range left {
		total += n
	}
	var top strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&top, "# "+format+"\n", args...) }
	line("Made of %s: %d of %s.", path, done, units.Plural(total, "statement"))
	if rate > 0 {
		line("They came at %s/s: --rate %.0f, with the arrivals of independent users.", units.Number(rate), math.Ceil(rate*float64(done)/float64(total)))
	}
	line("It is not known how many records a table has (taken as %d), how large they are (1 KiB), and", unknownRecords)
	line("which ones are asked for most (all equally): records, size and keys say so.")
	if guessed {
		line("Where it is not known how many rows statements are about, %d are taken.", unknownRows)
	}
	texts := make([]string, 0, len(left))
	for text := range left {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(left[b], left[a]), cmp.Compare(a, b)) })
	for _, text := range texts[:min(len(texts), 20)] {
		line("Left out: %s of %.100s", units.Plural(left[text], "call"), strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	}
	out.Text = top.String() + own.Write(w)
	return out, nil
}

// ordered are the texts, the most frequent first.
func (f *tables) ordered() []string {
	texts := make([]string, 0, len(f.texts))
	for text := range f.texts {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(cmp.Compare(f.texts[b].calls, f.texts[a].calls), cmp.Compare(a, b))
	})
	return texts
}

// add counts statements, and reports whether it is not known how many rows they are about.
func (t *table) add(s *statements.Shape, a *asked) (guessed bool) {
	what := rowsDo{}
	rows := a.rows
	switch {
	case s.Verb == "INSERT" && s.Upsert:
		what.do = model.Put
	case s.Verb == "INSERT":
		what.do = model.Insert
	case s.Verb == "UPDATE":
		what.do = model.Update
	case s.Verb == "DELETE":
		what.do = model.Delete
	case s.Range:
		what.do = model.Scan
	default:
		what.do = model.Get
	}
	several := s.List || s.Range
	if !a.known {
		if rows = a.calls; several {
			rows, guessed = unknownRows*a.calls, true
		}
	}
	// A read that names one record may find none.
	what.many = float64(rows) >= 1.5*float64(a.calls) && (several || what.do == model.Insert || what.do == model.Put)
	if what.do == model.Scan && !what.many {
		what.do = model.Get // the first of an order
	}
	n := t.does[what]
	if n == nil {
		n = &asked{}
		t.does[what] = n
	}
	n.calls, n.rows = n.calls+a.calls, n.rows+rows
	t.calls += a.calls
	t.written[what] += a.calls * int64(len(s.Columns))
	for _, c := range s.Columns {
		if c = nameLike(c, "column"); len(t.columns) < maxColumns && !slices.Contains(t.columns, c) {
			t.columns = append(t.columns, c)
		}
	}
	return guessed
}

var strange = regexp.MustCompile(`[^a-z0-9_]+`)

// nameLike makes a name that a workload may have.
func nameLike(name, usual string) string {
	name = strings.Trim(strange.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name == "" || name[0] < 'a' {
		name = usual + "_" + name
	}
	return strings.TrimRight(name[:min(len(name), 30)], "_")
}

// put adds the data set and its operations to a workload.
func (t *table) put(w *model.Workload, total int64, taken map[string]bool) {
	name := nameLike(t.name, "table")
	for base, i := name, 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	taken[name] = true
	d := model.Data{Name: name, Type: model.Value, Records: unknownRecords}
	for _, c := range t.columns {
		d.Type = model.Hash
		d.Fields = append(d.Fields, model.Field{Name: c})
	}
	w.Data = append(w.Data, d)
	for _, what := range mostFirst(t.does, func(what rowsDo) (calls int64, name string) { return t.does[what].calls, string(what.do) }) {
		n := t.does[what]
		st := model.Step{Do: what.do, Data: name, Keys: model.Keys{Kind: model.Uniform}}
		op := name + "-" + string(what.do)
		rows := min(max(int64(math.Round(float64(n.rows)/float64(n.calls))), 2), 1000)
		switch {
		case what.do == model.Scan:
			st.Count = model.One(rows)
		case what.many && what.do != model.Update:
			op += "-many"
			st.Batch = model.One(rows)
		}
		if what.do == model.Update {
			if d.Type == model.Hash {
				st.Fields = min(max(int(math.Round(float64(t.written[what])/float64(n.calls))), 1), len(d.Fields))
			} else {
				st.Do = model.Put
			}
		}
		if what.do == model.Insert {
			st.Keys = model.Keys{} // the next number
		}
		w.Operations = append(w.Operations, model.Operation{Name: op, Steps: []model.Step{st}, Weight: share(float64(n.calls), total)})
	}
}
