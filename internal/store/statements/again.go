package statements

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/capture"
)

// ofElsewhere is why a statement is left out that reaches out of the schema or database that a
// replay has for itself.
const ofElsewhere = "names another schema or database"

// Form is what statements have in common whose recorded text is the same: how they are written
// with values, and what they mean to a replay. It is never changed.
type Form struct {
	// Verb is what it does: SELECT, INSERT.
	Verb string
	// Begins and Ends say that it begins a transaction, or a lock of tables, and that it ends one.
	// With both, another begins at once.
	Begins, Ends bool
	// Autocommit means that it sets whether each statement is a transaction of its own; see
	// CommitsItself.
	Autocommit bool
	// Makes means that it makes, changes or removes tables and what belongs to them, and reaches
	// nothing else.
	Makes bool
	// Rows means that it answers with rows, Ordered that it says in which order, and Cut that it
	// says how many at most without saying in which order.
	Rows, Ordered, Cut bool
	// Passing means that time, chance or the inside of the server has a hand in the answer.
	Passing bool
	// Whole means that it asks for all columns.
	Whole bool
	// Words are the words and names in it: those without quotes in small letters, as a server takes
	// them.
	Words map[string]bool
	// Tables are the names that stand where tables do, without a schema.
	Tables []string
	// Passes are the columns that it writes something passing into; a * stands for all of those of
	// its tables.
	Passes []string

	dialect  Dialect
	pieces   []piece
	literals int
	most     int // the number of the last parameter
}

// piece is a part of a form: text, or where a value belongs.
type piece struct {
	text string
	kind kind // number and text: a value; anything else: what text says
	// escapes means that a backslash means something in the literal.
	escapes bool
}

// FormOf takes the recorded text of a statement apart.
func FormOf(d Dialect, recorded string) *Form {
	f := &Form{dialect: d, Words: map[string]bool{}}
	l := lexer{dialect: d, in: recorded}
	var all []token
	for {
		before := l.prefix
		t, ok := l.next()
		if !ok {
			break
		}
		if t.kind == text {
			t.value = before // how it is written
		}
		all = append(all, t)
	}
	for i := 0; i < len(all); i++ {
		t := all[i]
		next := func(n int) string {
			if i+n < len(all) {
				return all[i+n].src
			}
			return ""
		}
		switch {
		case t.kind == text:
			f.literals++
			f.pieces = append(f.pieces, piece{kind: text, escapes: d == MySQL || d == Postgres && strings.EqualFold(t.value, "E")})
		case d != CQL && t.src == "?" && next(1) == "?":
			f.put("?")
			i++
		case d != CQL && t.src == "?":
			f.literals++
			f.pieces = append(f.pieces, piece{kind: number})
		case t.kind == param:
			if n, err := strconv.Atoi(strings.TrimPrefix(t.src, "$")); err == nil {
				f.most = max(f.most, n)
			}
			f.put(t.src)
		case d == Postgres && (t.kind == word || t.kind == quoted) && next(1) == "." && isHome(t.src) && (i == 0 || all[i-1].src != "."):
			i++ // the schema is the replay's own, whatever it was called
		default:
			if t.kind == word || t.kind == quoted {
				f.Words[nameOf(d, t)] = true
			}
			f.put(t.src)
		}
	}
	f.mean(recorded)
	return f
}

// put appends what is written as it is.
func (f *Form) put(s string) {
	if n := len(f.pieces); n > 0 && f.pieces[n-1].kind == word {
		f.pieces[n-1].text += s
		return
	}
	f.pieces = append(f.pieces, piece{kind: word, text: s})
}

// nameOf is a word or a name as a server takes it.
func nameOf(d Dialect, t token) string {
	switch {
	case t.kind == quoted:
		return strings.Trim(t.src, "\"`")
	case d == MySQL:
		return t.src
	}
	return strings.ToLower(t.src)
}

// isHome reports whether a name is that of the schema that PostgreSQL has of its own accord.
func isHome(name string) bool { return strings.EqualFold(strings.Trim(name, `"`), "public") }

// What has another answer each time.
var passing = words("NOW CURRENT_TIMESTAMP CURRENT_DATE CURRENT_TIME LOCALTIME LOCALTIMESTAMP CLOCK_TIMESTAMP STATEMENT_TIMESTAMP TRANSACTION_TIMESTAMP TIMEOFDAY " +
	"SYSDATE CURDATE CURTIME UTC_DATE UTC_TIME UTC_TIMESTAMP UNIX_TIMESTAMP RANDOM RAND UUID UUID_SHORT GEN_RANDOM_UUID GEN_RANDOM_BYTES UUIDV4 UUIDV7 RANDOM_BYTES " +
	"NEXTVAL CURRVAL LASTVAL SETVAL LAST_INSERT_ID CONNECTION_ID TXID_CURRENT TXID_CURRENT_SNAPSHOT AGE VERSION CURRENT_USER SESSION_USER USER CURRENT_ROLE DATABASE SCHEMA " +
	"CURRENT_SCHEMA CURRENT_SCHEMAS CURRENT_DATABASE CURRENT_CATALOG EXPLAIN SKIP TABLESAMPLE CTID XMIN XMAX TABLEOID FOUND_ROWS SYS_GUID")

// Passing reports whether time or chance has a hand in what an expression says, such as a column's
// default.
func Passing(d Dialect, expression string) bool {
	for _, p := range partsOf(d, expression) {
		if p.has(isPassing) {
			return true
		}
	}
	return false
}

func isPassing(w string) bool { return passing[w] || strings.HasPrefix(w, "UUID_GENERATE") }

// mean works out what the statement means.
func (f *Form) mean(recorded string) {
	parts := partsOf(f.dialect, recorded)
	for i, p := range parts {
		verb := p.verb()
		second := ""
		if len(p) > 1 {
			second = p[1]
		}
		if i == 0 {
			f.Verb = verb
		}
		switch {
		case verb == "BEGIN", verb == "START", f.dialect == MySQL && verb == "LOCK":
			f.Begins = true
		case verb == "COMMIT", verb == "END", verb == "ABORT", verb == "ROLLBACK" && !slices.Contains(p, "TO"), f.dialect == MySQL && verb == "UNLOCK":
			f.Begins, f.Ends = slices.Contains(p, "CHAIN") && !slices.Contains(p, "NO"), true
		case verb == "SET" && f.dialect == MySQL && slices.Contains(p, "AUTOCOMMIT"):
			f.Autocommit = true
		case f.dialect == MySQL && verbs[verb] == ofTables:
			f.Ends = true
		}
		f.Makes = f.Makes || i == 0 && len(parts) == 1 && p.makes(f.dialect, second)
		f.Rows = f.Rows || verb == "SELECT" || verb == "VALUES" || verb == "TABLE" || verb == "EXPLAIN" || verb == "FETCH" || slices.Contains(p, "RETURNING")
		f.Passing = f.Passing || p.has(isPassing) || p.asksSystem()
		f.Ordered = len(parts) == 1 && p.ordered()
		f.Cut = f.Cut || p.has(func(w string) bool { return w == "LIMIT" || w == "FETCH" || w == "OFFSET" }) && !slices.Contains(p, "ORDER")
		f.Whole = f.Whole || p.whole()
		tables, _ := p.names(f.dialect)
		for _, t := range tables {
			if !slices.Contains(f.Tables, t) {
				f.Tables = append(f.Tables, t)
			}
		}
		f.Passes = append(f.Passes, p.passes()...)
	}
}

// made are the objects that a replay may make in a schema of its own.
var made = words("TABLE INDEX VIEW SEQUENCE MATERIALIZED TYPE")

// beyondTables are words of DDL that reaches more than tables of a schema.
var beyondTables = words("SCHEMA OWNER TABLESPACE FUNCTION PROCEDURE TRIGGER EXTENSION SERVER DIRECTORY CONNECTION FEDERATED CONNECT SPIDER ROLE USER OWNED LANGUAGE EVENT DATABASE")

// asksSystem reports whether it asks for a variable of the server's own, such as @@datadir.
func (p part) asksSystem() bool {
	for i, w := range p {
		if w == "@" && i > 0 && p[i-1] == "@" {
			return true
		}
	}
	return false
}

// makes reports whether a statement is about tables of the schema that it is sent in, and reaches
// nothing else.
func (p part) makes(d Dialect, second string) bool {
	verb := p.verb()
	if verbs[verb] != ofTables || p.apart(d) != ofTables || p.has(func(w string) bool { return beyondTables[w] }) {
		return false
	}
	switch verb {
	case "CREATE", "ALTER", "DROP":
		for _, w := range p[1:] {
			if _, known := objects[w]; known {
				return made[w]
			}
		}
		return false
	case "TRUNCATE":
		return true
	case "ANALYZE", "RENAME":
		return second != "" && (verb != "RENAME" || second == "TABLE")
	case "SELECT":
		return true
	}
	return false
}

// ordered reports whether the rows come in an order that the statement says.
func (p part) ordered() bool {
	depth, order := 0, false
	for i, w := range p {
		switch w {
		case "(":
			depth++
		case ")":
			depth--
		case "BY":
			order = order || depth == 0 && i > 0 && p[i-1] == "ORDER"
		}
	}
	return order
}

// whole reports whether it asks for all columns of a table.
func (p part) whole() bool {
	for i, w := range p {
		if w == "*" && i > 0 && (p[i-1] == "SELECT" || p[i-1] == "." || p[i-1] == "," || p[i-1] == "RETURNING" || p[i-1] == "DISTINCT" || p[i-1] == "ALL") {
			return true
		}
	}
	return p.verb() == "TABLE"
}

// passes returns the columns that something passing is written into.
func (p part) passes() (out []string) {
	verb := p.verb()
	if verb != "INSERT" && verb != "UPDATE" && verb != "REPLACE" && verb != "MERGE" || !p.has(isPassing) {
		return nil
	}
	if verb == "UPDATE" {
		column, depth := "", 0
		for i := slices.Index(p, "SET") + 1; i > 0 && i < len(p); i++ {
			switch w := p[i]; {
			case w == "(":
				depth++
			case w == ")":
				depth--
			case w == "=" && depth == 0 && i > 1:
				column = strings.ToLower(strings.Trim(p[i-1], "\"`"))
			case isPassing(w) && column != "":
				out = append(out, column)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	at := slices.Index(p, "VALUES")
	open := slices.Index(p, "(")
	if at < 0 || open < 0 || open > at || slices.Contains(p, "CONFLICT") || slices.Contains(p, "DUPLICATE") {
		return []string{"*"}
	}
	columns := p[open:].listed()
	depth, column := 0, 0
	for _, w := range p[at+1:] {
		switch {
		case w == "(":
			if depth++; depth == 1 {
				column = 0
			}
		case w == ")":
			depth--
		case w == "," && depth == 1:
			column++
		case isPassing(w) && depth > 0:
			if column >= len(columns) {
				return []string{"*"}
			}
			out = append(out, columns[column])
		}
	}
	if len(out) == 0 {
		return []string{"*"}
	}
	return out
}

// Words around which names of tables stand.
var (
	clauses = words("FROM JOIN INTO UPDATE TABLE USING ONLY TRUNCATE")
	others  = words("WHERE SET ON GROUP ORDER HAVING LIMIT VALUES SELECT RETURNING WINDOW UNION EXCEPT INTERSECT FETCH OFFSET FOR")
	inCalls = words("EXTRACT SUBSTRING TRIM OVERLAY POSITION")
	pseudo  = words("EXCLUDED NEW OLD VALUES")
)

// names returns the names that stand where tables do, and whether a name reaches out of the schema
// or database that the statement is sent in. If it is not sure that a name does not, it does.
func (p part) names(d Dialect) (tables []string, elsewhere bool) {
	type level struct{ tables, call bool }
	stack := []level{{}}
	expect := false
	alone := map[string]bool{}
	var doubtful []string
	prev := func(i int) string {
		if i > 0 {
			return p[i-1]
		}
		return ""
	}
	isName := func(w string) bool { return isLetter(w[0]) || w[0] == '"' || w[0] == '`' }
	for i := 0; i < len(p); i++ {
		w := p[i]
		top := &stack[len(stack)-1]
		switch {
		case w == "(":
			inside := expect || prev(i) == "("
			stack = append(stack, level{tables: inside && top.tables, call: inCalls[prev(i)]})
			continue
		case w == ")":
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			expect = false
			continue
		case w == ",":
			expect = top.tables
			continue
		case clauses[w] && (i+1 >= len(p) || p[i+1] != "."):
			last := prev(i)
			switch {
			case w == "FROM" && (top.call || last == "DISTINCT"), w == "UPDATE" && (last == "FOR" || last == "KEY" || last == "DO" || last == "NO" || last == "ON" || last == "THEN"),
				w == "USING" && i+1 < len(p) && p[i+1] == "(":
				continue
			}
			top.tables, expect = true, true
			continue
		case others[w]:
			top.tables, expect = false, false
			continue
		case !isName(w):
			if w != "@" && w != "." {
				expect = expect && w == "*"
			}
			continue
		}
		chain := []string{w}
		for i+2 < len(p) && p[i+1] == "." && (isName(p[i+2]) || p[i+2] == "*") {
			chain = append(chain, p[i+2])
			i += 2
		}
		first := strings.ToUpper(strings.Trim(chain[0], "\"`"))
		if len(chain) == 1 {
			alone[first] = true
		}
		called := i+1 < len(p) && p[i+1] == "("
		system := i-2*(len(chain)-1) > 0 && p[i-2*(len(chain)-1)-1] == "@"
		home := d == Postgres && isHome(first)
		switch {
		case len(chain) == 1 || system:
		case home:
		case expect, called, len(chain) > 2:
			elsewhere = true
		default:
			doubtful = append(doubtful, first)
		}
		if expect && !called || expect && prev(i-2*(len(chain)-1)) == "INTO" {
			if w == "IF" || w == "LATERAL" || w == "IGNORE" || w == "LOW_PRIORITY" || w == "NOT" || w == "EXISTS" {
				continue
			}
			name := strings.ToLower(strings.Trim(chain[len(chain)-1], "\"`"))
			if !slices.Contains(tables, name) {
				tables = append(tables, name)
			}
		}
		expect = false
	}
	for _, first := range doubtful {
		elsewhere = elsewhere || !alone[first] && !pseudo[first]
	}
	return tables, elsewhere
}

// takesNames are functions and types of PostgreSQL's that take the name of a sequence, a table or the
// like in a literal.
var takesNames = words("NEXTVAL SETVAL CURRVAL REGCLASS REGPROC REGPROCEDURE REGOPER REGOPERATOR REGTYPE REGNAMESPACE REGROLE REGCONFIG REGDICTIONARY REGCOLLATION")

// qualified matches a name with a schema.
var qualified = regexp.MustCompile(`^\s*("[^"]+"|[\pL_][\pL\pN_$]*)\s*\.\s*("[^"]+"|[\pL_][\pL\pN_$]*)\s*(\.|\(|$)`)

// reaches reports whether a statement reaches out of the schema or database that it is sent in,
// also by a name in one of its literals: that of PostgreSQL's own schema, too, since a literal is sent
// as it is. Of one that is too long to be looked at whole it is not sure.
func reaches(d Dialect, parts []part, literals []capture.Arg) bool {
	named := false
	for _, p := range parts {
		if _, elsewhere := p.names(d); elsewhere || len(p) >= mostWords {
			return true
		}
		named = named || d == Postgres && p.has(func(w string) bool { return takesNames[w] || strings.HasPrefix(w, "TO_REG") })
	}
	return named && slices.ContainsFunc(literals, func(a capture.Arg) bool { return qualified.MatchString(a.Text) })
}

// CommitsItself is what a statement with Autocommit sets; args are those of its call.
func (f *Form) CommitsItself(args []capture.Arg) bool {
	if len(args) > 2 {
		return args[2].Text != "0" && !strings.EqualFold(args[2].Text, "OFF")
	}
	return !f.Words["OFF"] && !f.Words["off"] && !f.Words["FALSE"] && !f.Words["false"]
}

// Lacks says what of a call is not known, so that it cannot be made again; empty: nothing.
func (f *Form) Lacks(args []capture.Arg) string {
	if len(args)-2 < f.literals+f.most {
		return "what was bound was not logged"
	}
	return ""
}

// Bound returns the values that were bound to a call; NULL is nil.
func (f *Form) Bound(out [][]byte, args []capture.Arg) [][]byte {
	for i := range args[min(2+f.literals, len(args)):] {
		a := &args[2+f.literals+i]
		if a.Kind == capture.Null {
			out = append(out, nil)
			continue
		}
		out = append(out, appendValue([]byte{}, a))
	}
	return out
}

// Append appends the statement with the values of a call.
func (f *Form) Append(b []byte, args []capture.Arg) []byte {
	next := 2
	for i := range f.pieces {
		p := &f.pieces[i]
		if p.kind == word || next >= len(args) {
			b = append(b, p.text...)
			continue
		}
		a := &args[next]
		next++
		if p.kind == number {
			b = appendValue(b, a)
			continue
		}
		from := len(b)
		b = append(b, '\'')
		b = appendValue(b, a)
		b = f.escape(b, from+1, p.escapes)
		b = append(b, '\'')
	}
	return b
}

// appendValue appends a value, or as many letters as it had if it is not known.
func appendValue(b []byte, a *capture.Arg) []byte {
	if a.Kind == capture.Text {
		return append(b, a.Text...)
	}
	for range a.Size {
		b = append(b, 'x')
	}
	return b
}

// escape has what stands in b from a place on fit into quotes.
func (f *Form) escape(b []byte, from int, escapes bool) []byte {
	plain := true
	for _, c := range b[from:] {
		plain = plain && c != '\'' && (c != '\\' || !escapes) && (c != 0 || f.dialect != MySQL)
	}
	if plain {
		return b
	}
	was := string(b[from:])
	b = b[:from]
	for i := range len(was) {
		switch c := was[i]; {
		case c == '\'':
			b = append(b, '\'', '\'')
		case c == '\\' && escapes:
			b = append(b, '\\', '\\')
		case c == 0 && f.dialect == MySQL:
			b = append(b, '\\', '0')
		default:
			b = append(b, c)
		}
	}
	return b
}

// Scripted is a statement of a script, and the line on which it begins.
type Scripted struct {
	Text string
	Line int
}

// Script returns the statements of a script, which makes tables, and perhaps fills them, in one
// schema or database. What a dump sets is left out. The error is a sentence that names the line.
func Script(d Dialect, script string) (out []Scripted, err error) {
	l := lexer{dialect: d, in: script}
	from, begun := 0, false
	end := func(to int) error {
		text := script[from:to]
		if !begun {
			return nil
		}
		line := 1 + strings.Count(script[:from], "\n")
		parts := partsOf(d, text)
		if l.doubtful {
			return fmt.Errorf("line %d: a literal has no end", line)
		}
		if len(parts) == 0 {
			return nil
		}
		p := parts[0]
		switch verb := p.verb(); {
		case verb == "SET", verb == "SELECT" && p.has(func(w string) bool { return w == "SET_CONFIG" }), verb == "LOCK", verb == "UNLOCK", verb == "":
			return nil // of the session that made a dump
		case verb == "INSERT", verb == "REPLACE", p.makes(d, append(p, "", "")[1]):
			home, names := unqualified(d, text)
			if reaches(d, partsOf(d, home), names) {
				return fmt.Errorf("line %d: it %s", line, ofElsewhere)
			}
			out = append(out, Scripted{home, line})
			return nil
		}
		return fmt.Errorf("line %d: %.40q neither makes a table nor fills one", line, strings.Join(p[:min(len(p), 4)], " "))
	}
	for {
		at := l.at
		t, ok := l.next()
		if !ok {
			return out, end(len(script))
		}
		if t.kind == sign && t.src == ";" {
			if err := end(at); err != nil {
				return nil, err
			}
			begun = false
			continue
		}
		if !begun && t.kind != space {
			begun, from = true, at
		}
	}
}

// unqualified leaves the name of PostgreSQL's own schema out, also at the beginning of literals that
// name a sequence or the like, and returns these literals.
func unqualified(d Dialect, sql string) (home string, names []capture.Arg) {
	if d != Postgres {
		return sql, nil
	}
	var all []token
	for l := (lexer{dialect: d, in: sql}); ; {
		t, ok := l.next()
		if !ok {
			break
		}
		all = append(all, t)
	}
	// near returns what stands n places from a token, not counting spaces; "" at the ends.
	near := func(at, n int) string {
		for step := max(-1, min(1, n)); n != 0; {
			if at += step; at < 0 || at >= len(all) {
				return ""
			}
			if all[at].kind != space {
				n -= step
			}
		}
		return strings.ToUpper(all[at].src)
	}
	var b strings.Builder
	for at := 0; at < len(all); at++ {
		t := all[at]
		switch {
		case (t.kind == word || t.kind == quoted) && isHome(t.src) && near(at, 1) == "." && near(at, -1) != ".":
			for near(at, 0) != "." {
				at++
			}
			continue
		case t.kind == text && (near(at, -1) == "(" && takesNames[near(at, -2)] || takesNames[near(at, -1)] || near(at, 1) == ":" && takesNames[near(at, 3)]):
			for _, prefix := range []string{"'public.", `'"public".`} {
				if rest, is := strings.CutPrefix(t.src, prefix); is {
					t.src, t.value = "'"+rest, strings.TrimSuffix(rest, "'")
				}
			}
			names = append(names, capture.TextArg(t.value))
		}
		b.WriteString(t.src)
	}
	return b.String(), names
}
