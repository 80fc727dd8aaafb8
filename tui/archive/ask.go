package archive

import (
	"cmp"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// question is the confirmation before runs are deleted, or more than one may be archived. Beside its
// own answers it has those that do it to all, or archive the run.
type question struct {
	widget.Question

	verb string // "delete", "archive"
	do   func([]string) error
	// at are the selected run, or those of what is selected; all are those that pass the filter, empty without
	// a filter.
	at  []string
	all []string
	// pack archives the selected runs instead of deleting them, which can be undone; nil: it cannot be.
	pack func([]string) error
}

// note is what is being written on a run, its note or its tags, or the name of the plan that is made of runs.
type note struct {
	id    string
	lead  string // what it is
	verb  string // what enter does
	field widget.Field
	// keep keeps the text, and returns what that leads to.
	keep func(id, text string) (tea.Cmd, error)
	// refused is why the text was not kept, until it is changed.
	refused string
}

// between is what stands between tags, as in the form of a run.
const between = "; "

// annotate keeps a note.
func (s *RunList) annotate(id, text string) (tea.Cmd, error) {
	said := "note written"
	if text == "" {
		said = "note removed"
	}
	return written(said), s.keeper.Annotate(id, text)
}

// written says what was written on a run.
func written(said string) tea.Cmd {
	return func() tea.Msg { return DoneMsg{Text: said, seen: true} }
}

// AskPlan asks for the name of the file for a plan of runs, which is made then and opened from a screen. searched means that
// the plan is of one run that was a search.
func (s *RunList) AskPlan(by PlanMaker, ids []string, searched bool, from screen.Screen) {
	usual, without := by.PlanName(), ""
	if searched {
		without = ", without the search: f searches again"
	}
	plan := func(name string) tea.Msg {
		made, err := by.PlanOf(ids, name)
		if err != nil {
			return DoneMsg{Err: err}
		}
		made.Said = "the plan is in " + made.Path
		if one := made.File.Plain(); one != nil {
			return screen.SetUpMsg{Request: *one, Said: made.Said + without, From: from}
		}
		return screen.OpenMsg{To: made}
	}
	s.noting = &note{
		lead: " Plan of " + widget.Plural(int64(len(ids)), "run") + ", file: ", verb: "write the plan", field: widget.NewChosen(usual),
		keep: func(_, name string) (tea.Cmd, error) {
			return func() tea.Msg { return plan(cmp.Or(name, usual)) }, nil
		},
	}
}

// retag keeps tags.
func (s *RunList) retag(id, text string) (tea.Cmd, error) {
	var words []string
	for tag := range strings.SplitSeq(text, strings.TrimSpace(between)) {
		first := len(words)
		for word := range strings.FieldsSeq(tag) {
			if len(words) > first && !strings.Contains(word, "=") {
				words[len(words)-1] += " " + word // of a value with blanks
				continue
			}
			words = append(words, word)
		}
	}
	said := "tags written"
	if len(words) == 0 {
		said = "tags removed"
	}
	return written(said), s.keeper.Retag(id, words)
}

// DoneMsg reports the result of deleting, archiving, annotating or tagging runs.
type DoneMsg struct {
	Text string
	Err  error
	// seen means that the list shows what was done, so that the text goes soon.
	seen bool
	// restored means that deleted runs were brought back, deleted that some were deleted.
	restored, deleted bool
}

// ask asks for confirmation for the runs of what is selected, or for all that pass the filter.
func (s *RunList) ask(verb string, do func([]string) error, of *kept.Item, ids, listed []string) {
	what, but := ids[0], ""
	if of.Run == nil {
		what, but = fmt.Sprintf("%s of the %s", widget.Plural(int64(len(ids)), "run"), groupNames[of.Kind()]), ", keep what they came to"
	}
	q := &question{verb: verb, do: do, at: ids, Question: widget.Question{Text: "Archive " + what + "?", Yes: "archive", No: "leave it"}}
	if verb == "delete" {
		q.Question = widget.Question{Text: "Delete " + what + "?" + undoable, Yes: "delete" + but, No: "leave it"}
	}
	if s.Filter.Text() != "" && len(listed) > 1 {
		q.all = listed
	}
	s.asked = q
}

// answer handles a key while a question is open.
func (s *RunList) answer(msg tea.KeyPressMsg) tea.Cmd {
	q := s.asked
	yes, given := q.Answer(msg)
	switch k := msg.String(); {
	case given && !yes:
		s.asked = nil
		return nil
	case given:
		return s.doAsked(q.verb, q.do, q.at)
	case k == "Z" && q.pack != nil:
		return s.doAsked("archive", q.pack, q.at)
	case k == "a" && len(q.all) > 0:
		return s.doAsked(q.verb, q.do, q.all)
	}
	return nil
}

// doAsked does what was asked, and says how it is undone.
func (s *RunList) doAsked(verb string, do func([]string) error, ids []string) tea.Cmd {
	s.asked, s.packed = nil, verb == "archive"
	back := backAgain
	if s.packed {
		back = outAgain
	}
	return done(verb, back, do, ids)
}

// groupNames are the names of what has several runs.
var groupNames = map[string]string{kept.Sweep: "sweep", kept.Compare: "comparison", kept.Repeat: "repeats"}

// then says of one run or of several how what was done to them is undone.
func then(back string, runs int) string {
	if runs > 1 {
		return strings.ReplaceAll(back, " it ", " them ")
	}
	return back
}

// outAgain says how what was archived comes back.
const outAgain = "; u takes it out again"

// undoable says so in the question.
const undoable = " u undoes it until you quit"

// backAgain says how what was deleted comes back.
const backAgain = "; u brings it back until you quit"

// gone says why u brings nothing back.
const gone = "nothing to bring back: u undoes Z, and what was deleted in this workbench"

// done does something to runs, and says that it was done and how it is undone.
func done(verb, back string, do func([]string) error, ids []string) tea.Cmd {
	return func() tea.Msg {
		return DoneMsg{Text: widget.Plural(int64(len(ids)), "run") + " " + strings.TrimSuffix(verb, "e") + "ed" + then(back, len(ids)), Err: do(ids), deleted: verb == "delete"}
	}
}

// write handles a key while a note, tags or a name are being written.
func (s *RunList) write(msg tea.KeyPressMsg) tea.Cmd {
	n := s.noting
	switch msg.String() {
	case "esc":
		s.noting = nil
	case "enter":
		done, err := n.keep(n.id, strings.TrimSpace(n.field.Value())) // a line in a file
		if err != nil {
			n.refused, _, _ = strings.Cut(err.Error(), "\n")
			return nil
		}
		s.noting = nil
		return done
	default:
		n.refused = ""
		n.field, _ = n.field.Update(msg)
	}
	return nil
}

// Settle reports the result, and has the list read again.
func Settle(b screen.Archive, msg DoneMsg, toast *widget.Note, e screen.Env) tea.Cmd {
	Told(msg, toast, e)
	return screen.ReadHistory(b)
}

// Told reports the result.
func Told(msg DoneMsg, toast *widget.Note, e screen.Env) {
	if msg.Err != nil {
		text, _, _ := strings.Cut(msg.Err.Error(), "\n")
		toast.Say(e.Now, text, true)
		return
	}
	if msg.seen {
		toast.Tell(e.Now, msg.Text)
		return
	}
	toast.Say(e.Now, msg.Text, false)
}

// Line returns the question or the note being written in w cells; "" if there is
// neither.
func (s *RunList) Line(st *widget.Styles, w int) string {
	switch {
	case s.noting != nil:
		n := s.noting
		if n.refused != "" {
			typed := ansi.StringWidth(n.field.Value()) + 2
			text := st.Accent.On(n.lead) + n.field.View(st, typed)
			if room := w - ansi.StringWidth(n.lead) - typed; room < ansi.StringWidth(n.refused)+2 { // what it is to be like stays
				text = st.Accent.On(n.lead) + n.field.View(st, max(min(typed, w-ansi.StringWidth(n.lead)-w/3), 4))
			}
			return widget.Fit(text+st.Bad.On("✗ "+n.refused), w)
		}
		return widget.Fit(st.Accent.On(n.lead)+n.field.View(st, w-len(n.lead)), w)
	case s.asked == nil:
		return ""
	}
	text := s.asked.String()
	if ansi.StringWidth(text) >= w { // the answers stay
		text = strings.Replace(text, undoable, "", 1)
	}
	return widget.Fit(st.Warn.On(" "+text), w)
}

// Keys returns the keys that work while text is being typed or a question is open.
func (s *RunList) Keys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "keep", "enter"), widget.Bind("esc", "clear", "esc")}
	switch q := s.asked; {
	case s.noting != nil:
		list = []key.Binding{widget.Bind("enter", s.noting.verb, "enter"), widget.Bind("esc", "cancel", "esc")}
	case q != nil:
		own := q.Keys()
		list = own[:1:1]
		if q.pack != nil {
			list = append(list, widget.Bind("Z", "archive, which u undoes", "Z"))
		}
		if len(q.all) > 0 {
			list = append(list, widget.Bind("a", fmt.Sprintf("%s all %d that the filter lists", q.verb, len(q.all)), "a"))
		}
		list = append(list, own[1:]...)
	}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}
