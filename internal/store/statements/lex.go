package statements

import (
	"strings"
	"unicode/utf8"
)

// Dialect is how statements are written.
type Dialect uint8

// The dialects there are.
const (
	Postgres Dialect = iota // PostgreSQL's SQL
	MySQL                   // that of MySQL and MariaDB
	CQL                     // Cassandra's
)

// kind is what a part of a statement is.
type kind uint8

const (
	space  kind = iota // also a comment
	word               // a keyword or a name
	quoted             // a name in quotes
	number
	text  // a literal that is no number
	param // what stands for a value that was bound
	sign  // anything else
)

// token is a part of a statement.
type token struct {
	kind kind
	// src is how it is written, value what a literal says.
	src, value string
}

// lexer takes a statement apart.
type lexer struct {
	dialect Dialect
	in      string
	at      int
	// prefix is the word that stands directly in front of what comes; it may say how a literal
	// is written.
	prefix string
	// doubtful means that it is not sure where a literal ends.
	doubtful bool
}

// next returns the next token; false: there are no more.
func (l *lexer) next() (t token, ok bool) {
	if l.at >= len(l.in) {
		return t, false
	}
	from := l.at
	t.kind = l.read(&t)
	t.src = l.in[from:l.at]
	l.prefix = ""
	if t.kind == word {
		l.prefix = t.src
	}
	return t, true
}

// read goes over the next token.
func (l *lexer) read(t *token) kind {
	c := l.in[l.at]
	switch {
	case isSpace(c):
		for l.at < len(l.in) && isSpace(l.in[l.at]) {
			l.at++
		}
		return space
	case l.comment():
		return space
	case c == '\'', c == '"' && l.dialect == MySQL:
		t.value = l.literal(c)
		return text
	case c == '"', c == '`':
		l.literal(c)
		return quoted
	case c == '$' && l.dialect != MySQL:
		return l.dollar(t)
	case c == '?' && l.dialect == CQL:
		l.at++
		return param
	case c == ':' && l.dialect == CQL && l.peek(1, isLetter):
		l.at++
		l.over(isWord)
		return param
	case l.dialect == CQL && isUUID(l.in[l.at:]):
		t.value = l.take(36)
		return text
	case isDigit(c), c == '.' && l.peek(1, isDigit):
		t.value = l.number()
		return number
	case isLetter(c):
		from := l.at
		l.over(isWord)
		if w := l.in[from:l.at]; l.dialect == CQL && len(w) > 1 && (w[0] == 'P' || w[0] == 'p') && strings.ContainsFunc(w, func(c rune) bool { return isDigit(byte(c)) }) && isDuration(w) {
			t.value = w
			return text
		}
		return word
	}
	l.at++
	return sign
}

func (l *lexer) peek(n int, is func(byte) bool) bool {
	return l.at+n < len(l.in) && is(l.in[l.at+n])
}

// take goes on by n bytes, and returns them.
func (l *lexer) take(n int) string {
	n = min(n, len(l.in)-l.at)
	l.at += n
	return l.in[l.at-n : l.at]
}

// over goes over everything that is.
func (l *lexer) over(is func(byte) bool) {
	for l.at < len(l.in) && is(l.in[l.at]) {
		l.at++
	}
}

// comment goes over a comment. Those that mean something to a server, as /*! and /*+, are none.
func (l *lexer) comment() bool {
	rest := l.in[l.at:]
	line := strings.HasPrefix(rest, "--") && (l.dialect != MySQL || len(rest) == 2 || isSpace(rest[2])) ||
		l.dialect == MySQL && rest[0] == '#' || l.dialect == CQL && strings.HasPrefix(rest, "//")
	switch {
	case line:
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		l.at += n
		return true
	case !strings.HasPrefix(rest, "/*"), strings.HasPrefix(rest, "/*+"), l.dialect == MySQL && (strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!")):
		return false
	}
	depth := 0
	for l.at < len(l.in) {
		switch two := l.in[l.at:min(l.at+2, len(l.in))]; {
		case two == "/*" && (depth == 0 || l.dialect == Postgres):
			depth++
			l.at += 2
		case two == "*/":
			l.at += 2
			if depth--; depth == 0 {
				return true
			}
		default:
			l.at++
		}
	}
	return true
}

// literal goes over what is in quotes, and returns what it says.
func (l *lexer) literal(quote byte) string {
	escapes := quote != '`' && (l.dialect == MySQL || l.dialect == Postgres && quote == '\'' && strings.EqualFold(l.prefix, "E"))
	var out []byte
	l.at++
	from := l.at
	for l.at < len(l.in) {
		switch c := l.in[l.at]; {
		case c == '\\' && escapes && l.at+1 < len(l.in):
			out = append(out, l.in[from:l.at]...)
			out = append(out, l.escaped(l.in[l.at+1])...)
			l.at += 2
			from = l.at
		case c == quote && l.peek(1, func(c byte) bool { return c == quote }):
			out = append(out, l.in[from:l.at+1]...)
			l.at += 2
			from = l.at
		case c == quote:
			if l.dialect == Postgres && !escapes && quote == '\'' && l.at > from && l.in[l.at-1] == '\\' {
				l.doubtful = true // where the server takes it as escaped, it goes on
			}
			out = append(out, l.in[from:l.at]...)
			l.at++
			return string(out)
		default:
			l.at++
		}
	}
	l.doubtful = true // it has no end
	return string(append(out, l.in[from:]...))
}

// escaped returns what a character behind a backslash stands for.
func (l *lexer) escaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'b':
		return "\b"
	case '0':
		return "\x00"
	case 'Z':
		return "\x1a"
	case '%', '_': // of patterns
		return "\\" + string(c)
	}
	return string(c)
}

// dollar goes over $1, or over a literal as $$it$$ or $tag$it$tag$.
func (l *lexer) dollar(t *token) kind {
	from := l.at
	l.at++
	if l.peek(0, isDigit) {
		l.over(isDigit)
		return param
	}
	l.over(func(c byte) bool { return isWord(c) && c != '$' })
	if !l.peek(0, func(c byte) bool { return c == '$' }) {
		l.at = from + 1
		return sign
	}
	l.at++
	tag := l.in[from:l.at]
	n := strings.Index(l.in[l.at:], tag)
	if n < 0 {
		l.doubtful = true
		t.value = l.in[l.at:]
		l.at = len(l.in)
		return text
	}
	t.value = l.take(n)
	l.at += len(tag)
	return text
}

// number goes over a number: also one in hexadecimal, or a duration of CQL.
func (l *lexer) number() string {
	from := l.at
	for l.at < len(l.in) {
		c := l.in[l.at]
		exponent := (c == '+' || c == '-') && l.at > from && l.in[l.at-1]|0x20 == 'e' && !strings.HasPrefix(l.in[from:], "0x") && l.peek(1, isDigit)
		if !isDigit(c) && !isLetter(c) && c != '.' && !exponent {
			break
		}
		l.at++
	}
	return l.in[from:l.at]
}

// isUUID reports whether a text begins with a UUID.
func isUUID(s string) bool {
	if len(s) < 36 || len(s) > 36 && isWord(s[36]) {
		return false
	}
	for i := range 36 {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash && s[i] != '-' || !dash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isDuration reports whether a word is a duration by ISO 8601, such as P1Y2M or PT5M.
func isDuration(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) && !strings.ContainsRune("PYMWDTHSpymwdths", rune(s[i])) {
			return false
		}
	}
	return true
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '$' }
func isHex(c byte) bool    { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
