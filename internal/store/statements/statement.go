package statements

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// statement is a statement taken apart.
type statement struct {
	// text is the statement without its values: a number is ?, any other literal '?', and $1 what
	// was bound. A ? of its own is ??. Comments are left out, and what is blank is one space.
	text string
	// verb is what it does: SELECT, INSERT.
	verb string
	// values are what stood where text has a ?, in order.
	values []string
	// bound is how many values were bound.
	bound int
	// secret means that it may have a password in it.
	secret bool
}

var (
	errStrange  = errors.New("no statement")
	errDoubtful = errors.New("not sure where its literals end")
)

// takeApart takes a statement apart.
func takeApart(d Dialect, sql string) (s statement, err error) {
	l := lexer{dialect: d, in: sql}
	var b strings.Builder
	gap, semicolons := false, 0
	put := func(src string) {
		if semicolons > 0 {
			b.WriteString(strings.Repeat(";", semicolons))
			semicolons = 0
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteString(src)
	}
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		switch t.kind {
		case space:
			gap = true
		case number:
			s.values = append(s.values, t.value)
			put("?")
		case text:
			s.values = append(s.values, t.value)
			if d == CQL && isUUID(t.src) || d == CQL && t.src[0]|0x20 == 'p' {
				put("?") // it is written without quotes
			} else {
				put("'?'")
			}
		case param:
			s.bound++
			if d == CQL {
				put("$" + strconv.Itoa(s.bound))
			} else {
				put(t.src)
			}
		default:
			switch {
			case t.src == ";" && b.Len() > 0:
				gap = false
				semicolons = 1 // unless it is the end
			case t.src == ";":
			case t.src == "?":
				put("??")
			default:
				put(t.src)
			}
		}
	}
	s.text = b.String()
	if l.doubtful {
		return s, errDoubtful
	}
	parts := partsOf(d, s.text)
	if len(parts) == 0 {
		return s, errStrange
	}
	s.verb = parts[0].verb()
	if s.verb == "" {
		return s, errStrange
	}
	for _, p := range parts {
		s.secret = s.secret || p.secret()
	}
	return s, nil
}

// part is one of the statements of a text: its words in capitals, and signs. Names in quotes
// are in it as they are.
type part []string

// mostWords is how many words of a statement are looked at.
const mostWords = 10_000

// partsOf parts the statements of a text.
func partsOf(d Dialect, sql string) (out []part) {
	l := lexer{dialect: d, in: sql}
	var p part
	end := func() {
		if len(p) > 0 {
			out = append(out, p)
		}
		p = nil
	}
	for {
		t, ok := l.next()
		switch {
		case !ok:
			end()
			return out
		case t.kind == sign && t.src == ";":
			end()
		case t.kind == word:
			p = append(p, strings.ToUpper(t.src))
		case t.kind == sign || t.kind == quoted:
			p = append(p, t.src)
		}
		if len(p) > mostWords {
			p = p[:mostWords]
		}
	}
}

// verb returns what the statement does; empty: it is none.
func (p part) verb() string {
	for i, w := range p {
		switch {
		case w == "(":
		case w == "WITH":
			return p[i:].afterWith()
		case isLetter(w[0]) && w[0] < 0x80 && len(w) <= 40:
			return w
		default:
			return ""
		}
	}
	return ""
}

// afterWith returns what a statement does that begins with WITH.
func (p part) afterWith() string {
	depth := 0
	for _, w := range p {
		switch w {
		case "(":
			depth++
		case ")":
			depth--
		case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE":
			if depth == 0 {
				return w
			}
		}
	}
	return "WITH"
}

// secrets are words of statements that may have a password or a key in them.
var secrets = words("PASSWORD ENCRYPTED IDENTIFIED SUBSCRIPTION SERVER MASTER SECRET MAPPING MASTER_PASSWORD SOURCE_PASSWORD CREDENTIALS")

// secret reports whether the statement may have a password in it.
func (p part) secret() bool {
	switch p.verb() {
	case "CREATE", "ALTER":
		return p.wider() && p.has(func(w string) bool { return secrets[w] })
	case "SET", "GRANT", "CHANGE", "START":
		return p.has(func(w string) bool { return secrets[w] })
	}
	return p.has(func(w string) bool { return strings.HasPrefix(w, "DBLINK") })
}

func (p part) has(is func(string) bool) bool {
	for _, w := range p {
		if is(w) {
			return true
		}
	}
	return false
}

func words(s string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		out[w] = true
	}
	return out
}

var (
	lists = regexp.MustCompile(`(?:'\?'|\?|\$\d+|NULL)(?:, ?(?:'\?'|\?|\$\d+|NULL))+`)
	rows  = regexp.MustCompile(`\(\?, …\)(?:, ?\(\?, …\))+`)
)

// formOf returns what statements have in common that differ in how many values they name.
func formOf(text string) string {
	return rows.ReplaceAllString(lists.ReplaceAllString(text, "?, …"), "(?, …), …")
}
