package foreign

import (
	"regexp"
	"slices"
	"strings"
)

// cqlTable is what a CREATE TABLE says of columns.
type cqlTable struct {
	name               string
	columns            []cqlColumn
	partition, cluster []string
}

type cqlColumn struct{ name, kind string }

var createTable = regexp.MustCompile(`(?is)^\s*create\s+(?:table|columnfamily)\s+(?:if\s+not\s+exists\s+)?([\w."]+)\s*\(`)

// parseTable reads a statement. If it cannot be read, why says what is wrong, and at how
// many lines from its beginning.
func parseTable(text string) (t cqlTable, why string, line int) {
	text = blankComments(text)
	m := createTable.FindStringSubmatchIndex(text)
	if m == nil {
		return t, "it does not begin as CREATE TABLE name (", 0
	}
	t.name = strings.ToLower(strings.Trim(text[m[2]:m[3]], `"`))
	t.name = t.name[strings.LastIndexByte(t.name, '.')+1:]
	parts, end := topLevel(text[m[1]:])
	if end < 0 {
		return t, "the bracket that opens its columns is not closed", strings.Count(text[:m[1]], "\n")
	}
	at := m[1]
	for _, part := range parts {
		line := strings.Count(text[:at+len(part)-len(strings.TrimLeft(part, " \t\r\n"))], "\n")
		at += len(part) + 1
		words := strings.Fields(part)
		switch {
		case len(words) == 0:
			return t, "there is an empty column", line
		case strings.EqualFold(words[0], "primary") && len(words) > 1 && strings.HasPrefix(strings.ToLower(words[1]), "key"):
			if !t.primaryKey(part) {
				return t, "its PRIMARY KEY is not of the form ((a, b), c)", line
			}
		case len(words) == 1:
			return t, "the column " + words[0] + " has no type", line
		default:
			c := cqlColumn{name: columnName(words[0])}
			kind := strings.ToLower(strings.Join(words[1:], " "))
			if rest, ok := strings.CutSuffix(kind, " primary key"); ok {
				kind, t.partition = rest, []string{c.name}
			}
			c.kind = strings.TrimSuffix(kind, " static")
			t.columns = append(t.columns, c)
		}
	}
	switch {
	case len(t.partition) == 0:
		return t, "it has no PRIMARY KEY", 0
	case len(t.columns) > 1000:
		return t, "it has more than 1000 columns", 0
	}
	for _, name := range slices.Concat(t.partition, t.cluster) {
		if t.column(name) == nil {
			return t, "its PRIMARY KEY names " + name + ", which is not one of its columns", 0
		}
	}
	return t, "", 0
}

func columnName(w string) string { return strings.ToLower(strings.Trim(w, `"`)) }

// column returns the column with a name, nil if there is none.
func (t *cqlTable) column(name string) *cqlColumn {
	i := slices.IndexFunc(t.columns, func(c cqlColumn) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &t.columns[i]
}

// values returns the columns that are no part of the key.
func (t *cqlTable) values() []cqlColumn {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c cqlColumn) bool {
		return slices.Contains(t.partition, c.name) || slices.Contains(t.cluster, c.name)
	})
}

func (t *cqlTable) primaryKey(part string) bool {
	open := strings.IndexByte(part, '(')
	if open < 0 {
		return false
	}
	parts, end := topLevel(part[open+1:])
	if end < 0 {
		return false
	}
	for i, p := range parts {
		p = strings.TrimSpace(p)
		switch inner, ok := strings.CutPrefix(p, "("); {
		case p == "":
			return false
		case i == 0 && ok:
			for name := range strings.SplitSeq(strings.TrimSuffix(inner, ")"), ",") {
				t.partition = append(t.partition, columnName(strings.TrimSpace(name)))
			}
		case i == 0:
			t.partition = []string{columnName(p)}
		default:
			t.cluster = append(t.cluster, columnName(p))
		}
	}
	return true
}

// topLevel splits what follows an opening bracket at its commas, and returns where the
// bracket closes; -1 if it does not.
func topLevel(text string) (parts []string, end int) {
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '<', '{', '[':
			depth++
		case '>', '}', ']':
			depth--
		case ')':
			if depth == 0 {
				return append(parts, text[from:i]), i
			}
			depth--
		case ',':
			if depth == 0 {
				parts, from = append(parts, text[from:i]), i+1
			}
		}
	}
	return parts, -1
}

var (
	cqlComment = regexp.MustCompile(`(?s)--[^\n]*|//[^\n]*|/\*.*?\*/`)
	notNewline = regexp.MustCompile(`[^\n]`)
)

// blankComments replaces comments by blanks, so that lines stay where they are.
func blankComments(text string) string {
	return cqlComment.ReplaceAllStringFunc(text, func(s string) string { return notNewline.ReplaceAllString(s, " ") })
}

// query is what a statement of a profile does.
type query struct {
	verb    string   // select, update, insert or delete
	columns []string // that are read or written; nil: all
	byKey   bool     // exactly one partition
	more    bool     // it asks for more of it than the key: ranges, or an order
}

var (
	selectForm = regexp.MustCompile(`(?is)^\s*select\s+(.+?)\s+from\s+[\w."]+\s*(?:where\s+(.*?))?\s*;?\s*$`)
	updateForm = regexp.MustCompile(`(?is)^\s*update\s+[\w."]+\s+(?:using\s+.+?\s+)?set\s+(.+?)\s+where\s+(.*?)\s*;?\s*$`)
	insertForm = regexp.MustCompile(`(?is)^\s*insert\s+into\s+[\w."]+\s*\(([^)]*)\)\s*values\s*\(`)
	deleteForm = regexp.MustCompile(`(?is)^\s*delete\s+(.*?)\s*from\s+[\w."]+\s*(?:using\s+.+?\s+)?where\s+(.*?)\s*;?\s*$`)
	equality   = regexp.MustCompile(`(?is)^\s*"?(\w+)"?\s*=\s*\S`)
	tail       = regexp.MustCompile(`(?is)\s+(limit|order\s+by|allow\s+filtering|per\s+partition|group\s+by|if)\b.*$`)
	and        = regexp.MustCompile(`(?i)\s+and\s+`)
)

// parseQuery reads a statement as far as it is needed; ok is false if it is none of those
// that records have.
func parseQuery(text string, t *cqlTable) (q query, ok bool) {
	text = blankComments(text)
	if m := selectForm.FindStringSubmatch(text); m != nil {
		q = query{verb: "select", columns: columnsIn(m[1], t)}
		q.conditions(m[2], t)
		return q, true
	}
	if m := updateForm.FindStringSubmatch(text); m != nil {
		q.verb = "update"
		for part := range strings.SplitSeq(m[1], ",") {
			name, _, _ := strings.Cut(part, "=")
			if c := columnName(strings.TrimSpace(name)); t.column(c) != nil {
				q.columns = append(q.columns, c)
			}
		}
		q.conditions(m[2], t)
		return q, true
	}
	if m := insertForm.FindStringSubmatch(text); m != nil {
		return query{verb: "insert", byKey: true}, true
	}
	if m := deleteForm.FindStringSubmatch(text); m != nil {
		q.verb = "delete"
		q.conditions(m[2], t)
		return q, true
	}
	return q, false
}

// columnsIn returns the columns that are no part of the key of a list; nil if these are all,
// or it is none.
func columnsIn(list string, t *cqlTable) (out []string) {
	for part := range strings.SplitSeq(list, ",") {
		name := columnName(strings.TrimSpace(part))
		if t.column(name) == nil {
			return nil // *, a function …
		}
		if !slices.Contains(t.partition, name) && !slices.Contains(t.cluster, name) {
			out = append(out, name)
		}
	}
	if len(out) == len(t.values()) {
		return nil
	}
	return out
}

// conditions reads what follows WHERE.
func (q *query) conditions(text string, t *cqlTable) {
	if cut := tail.FindStringIndex(" " + text); cut != nil {
		text, q.more = (" " + text)[:cut[0]], true
	}
	fixed := map[string]bool{}
	for _, c := range and.Split(text, -1) {
		if m := equality.FindStringSubmatch(c); m != nil {
			fixed[columnName(m[1])] = true
		} else if strings.TrimSpace(c) != "" {
			q.more = true
		}
	}
	q.byKey = true
	for _, name := range t.partition {
		q.byKey = q.byKey && fixed[name]
	}
}
