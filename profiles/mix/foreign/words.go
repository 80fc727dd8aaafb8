package foreign

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// word is a word of a command line, and the line that it begins on.
type word struct {
	text string
	line int
}

// shell splits a script into its simple commands as far as words, quotes, comments and
// variables with plain values go. What a shell would compute is an error: nothing of the
// script is carried out.
type shell struct {
	name string
	in   string
	at   int
	line int
	vars map[string]string

	commands [][]word
	words    []word
	word     strings.Builder
	begun    int // the line of the word that is being read; 0: none is
	skip     bool
	expanded int // bytes of values that were put in
}

// mostExpanded is how many bytes the values of variables may come to, all together.
const mostExpanded = 1 << 20

// commandsOf returns the commands of a script. name is for errors.
func commandsOf(name, text string, line int) ([][]word, error) {
	s := &shell{name: name, in: strings.ReplaceAll(text, "\r\n", "\n"), line: line, vars: map[string]string{}}
	for s.at < len(s.in) {
		if err := s.next(); err != nil {
			return nil, err
		}
		if len(s.words) > infile.MaxKeys {
			return nil, s.fail(s.line, "", "a command has more than %d words", infile.MaxKeys)
		}
	}
	s.endCommand()
	return s.commands, nil
}

func (s *shell) fail(line int, hint, format string, args ...any) error {
	return fault.Input(fmt.Errorf("%s:%d: %s", s.name, line, fmt.Sprintf(format, args...)), hint)
}

func (s *shell) peek() byte {
	if s.at+1 < len(s.in) {
		return s.in[s.at+1]
	}
	return 0
}

// next reads what comes next outside of quotes.
func (s *shell) next() error {
	c := s.in[s.at]
	switch c {
	case '\n':
		s.endCommand()
		s.line++
	case ' ', '\t', '\r':
		s.endWord()
	case ';', '|', '&', '(', ')':
		s.endCommand()
	case '#':
		if s.begun == 0 {
			for s.at < len(s.in) && s.in[s.at] != '\n' {
				s.at++
			}
			return nil
		}
		s.add(c)
	case '<', '>':
		s.redirect()
	case '\\':
		switch s.peek() {
		case '\n':
			s.line++
		case 0:
		default:
			s.add(s.peek())
		}
		s.at++
	case '\'':
		return s.single()
	case '"':
		return s.double()
	case '$', '`':
		return s.expand(false)
	default:
		s.add(c)
	}
	s.at++
	return nil
}

func (s *shell) begin() {
	if s.begun == 0 {
		s.begun = s.line
	}
}

func (s *shell) add(c byte) {
	s.begin()
	s.word.WriteByte(c)
}

func (s *shell) endWord() {
	if s.begun == 0 {
		return
	}
	if !s.skip {
		s.words = append(s.words, word{s.word.String(), s.begun})
	}
	s.skip, s.begun = false, 0
	s.word.Reset()
}

func (s *shell) endCommand() {
	s.endWord()
	s.skip = false
	if len(s.words) == 0 {
		return
	}
	assigned := 0
	for _, w := range s.words {
		if w.text == "export" || w.text == "local" || w.text == "readonly" {
			assigned++
			continue
		}
		name, value, ok := strings.Cut(w.text, "=")
		if !ok || !isName(name) {
			break
		}
		assigned++
		s.vars[name] = value
	}
	if assigned < len(s.words) {
		s.commands = append(s.commands, s.words[assigned:])
	}
	s.words = nil
}

func isName(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// redirect leaves out where input or output goes.
func (s *shell) redirect() {
	if n := s.word.String(); n == "1" || n == "2" || n == "0" {
		s.word.Reset()
		s.begun = 0
	}
	s.endWord()
	for c := s.peek(); c == '>' || c == '<' || c == '&'; c = s.peek() {
		s.at++
	}
	s.skip = true
}

func (s *shell) single() error {
	from := s.line
	s.begin()
	for s.at++; s.at < len(s.in); s.at++ {
		switch c := s.in[s.at]; c {
		case '\'':
			s.at++
			return nil
		case '\n':
			s.line++
			fallthrough
		default:
			s.add(c)
		}
	}
	return s.fail(from, "", "the quote that begins here has no end")
}

func (s *shell) double() error {
	from := s.line
	s.begin()
	for s.at++; s.at < len(s.in); s.at++ {
		c := s.in[s.at]
		switch {
		case c == '"':
			s.at++
			return nil
		case c == '$' || c == '`':
			if err := s.expand(true); err != nil {
				return err
			}
			s.at--
			continue
		case c == '\\' && strings.IndexByte("\"\\$`\n", s.peek()) >= 0 && s.peek() != 0:
			s.at++
			if c = s.in[s.at]; c == '\n' {
				s.line++
				continue
			}
		case c == '\n':
			s.line++
		}
		s.add(c)
	}
	return s.fail(from, "", "the quote that begins here has no end")
}

// expand puts in the value of a variable. The next byte is read after it.
func (s *shell) expand(quoted bool) error {
	rest := s.in[s.at:]
	switch {
	case strings.HasPrefix(rest, "$(") || rest[0] == '`':
		return s.fail(s.line, "write the value itself", "the shell would compute something here, and nothing of the script is carried out")
	case len(rest) == 1 || !isName(rest[1:2]) && rest[1] != '{':
		if len(rest) > 1 && strings.IndexByte("0123456789@*#?!$-", rest[1]) >= 0 {
			return s.fail(s.line, "write the value itself", "%s is known only while a script is carried out, which it is not", rest[:2])
		}
		s.add('$')
		s.at++
		return nil
	}
	name, without, given := "", "", false
	if rest[1] == '{' {
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return s.fail(s.line, "", "the ${ that begins here has no end")
		}
		name, without, given = strings.Cut(rest[2:end], ":-")
		if !given {
			name, without, given = strings.Cut(name, "-")
		}
		s.at += end + 1
	} else {
		end := 1
		for end < len(rest) && isName(rest[1:end+1]) {
			end++
		}
		name = rest[1:end]
		s.at += end
	}
	value, ok := s.vars[name]
	switch {
	case !isName(name):
		return s.fail(s.line, "write the value itself", "${%s} is more than the value of a variable", name)
	case !ok && !given, !ok && strings.ContainsAny(without, "$`"):
		return s.fail(s.line, "write the value itself, or set the variable to a plain value above", "the variable %s has no value in this file", name)
	case !ok || value == "" && given:
		value = without
	}
	if s.expanded += len(value); s.expanded > mostExpanded {
		return s.fail(s.line, "", "the variables come to more than a command line can have")
	}
	s.put(value, quoted)
	return nil
}

// put adds a value, which outside of quotes may be several words.
func (s *shell) put(value string, quoted bool) {
	for i := range len(value) {
		switch c := value[i]; {
		case !quoted && (c == ' ' || c == '\t' || c == '\n'):
			s.endWord()
		default:
			s.add(c)
		}
	}
	if quoted {
		s.begin()
	}
}
