package statements

import (
	"slices"
	"strings"
)

// Shape is what a statement does to the records of one table.
type Shape struct {
	// Verb is SELECT, INSERT, UPDATE or DELETE; Upsert means that an INSERT replaces what is there.
	Verb   string
	Upsert bool
	// Table is its name, without its schema; Columns are those that are written.
	Table   string
	Columns []string
	// List means that records are named one by one, Range that they are those between limits, or
	// the first of an order.
	List, Range bool
}

// beyond are words of statements that do more than that.
var beyond = words("JOIN UNION INTERSECT EXCEPT GROUP HAVING DISTINCT OVER COUNT SUM MIN MAX AVG USING LATERAL EXISTS")

// ShapeOf returns what a statement does to one table; false: it does more, or something else.
func ShapeOf(d Dialect, sql string) (s Shape, ok bool) {
	parts := partsOf(d, sql)
	if len(parts) != 1 || parts[0].apart(d) != "" {
		return s, false
	}
	p := parts[0]
	selects := 0
	for _, w := range p {
		if w == "SELECT" {
			selects++
		}
		if beyond[w] {
			return s, false
		}
	}
	s.Verb = p[0]
	at := 0
	switch s.Verb {
	case "SELECT":
		at = slices.Index(p, "FROM") + 1
		ok = selects == 1 && at > 0
	case "DELETE":
		at, ok = 2, selects == 0 && len(p) > 1 && p[1] == "FROM"
	case "UPDATE":
		at, ok = 1, selects == 0
	case "INSERT", "REPLACE":
		s.Upsert = s.Verb == "REPLACE" || slices.Contains(p, "CONFLICT") || slices.Contains(p, "DUPLICATE")
		s.Verb = "INSERT"
		at = slices.Index(p, "INTO") + 1
		ok = selects == 0 && at > 0
	}
	if !ok {
		return s, false
	}
	if s.Table, at = p.name(at); s.Table == "" || at < len(p) && (p[at] == "," || p[at] == "(" && s.Verb != "INSERT") {
		return s, false
	}
	switch rest := p[at:]; s.Verb {
	case "INSERT":
		s.Columns = rest.listed()
	case "UPDATE":
		s.Columns = rest.set()
		fallthrough
	default:
		s.List = rest.has(func(w string) bool { return w == "IN" || w == "ANY" })
		s.Range = rest.has(func(w string) bool {
			return w == "<" || w == ">" || w == "BETWEEN" || w == "LIKE" || w == "ORDER" || w == "LIMIT"
		}) || !slices.Contains(rest, "WHERE")
	}
	return s, s.Verb == "SELECT" || s.Verb == "INSERT" || !s.Range
}

// name returns the last part of a name that may have a schema, and where what follows it is.
func (p part) name(at int) (string, int) {
	name := ""
	for ; at < len(p); at += 2 {
		w := p[at]
		if w == "ONLY" {
			at--
			continue
		}
		if !isLetter(w[0]) && w[0] != '"' && w[0] != '`' {
			return "", at
		}
		name = strings.ToLower(strings.Trim(w, "\"`"))
		if at+1 >= len(p) || p[at+1] != "." {
			return name, at + 1
		}
	}
	return name, at
}

// listed returns the names in the brackets that come first.
func (p part) listed() (out []string) {
	if len(p) == 0 || p[0] != "(" {
		return nil
	}
	for i := 1; i < len(p) && p[i] != ")"; i++ {
		if p[i] != "," {
			out = append(out, strings.ToLower(strings.Trim(p[i], "\"`")))
		}
	}
	return out
}

// set returns the columns that SET writes.
func (p part) set() (out []string) {
	depth := 0
	for i := slices.Index(p, "SET") + 1; i > 0 && i < len(p) && (depth > 0 || p[i] != "WHERE" && p[i] != "RETURNING"); i++ {
		switch p[i] {
		case "(":
			depth++
		case ")":
			depth--
		case "=":
			if depth == 0 && i > 1 {
				out = append(out, strings.ToLower(strings.Trim(p[i-1], "\"`")))
			}
		}
	}
	return out
}
