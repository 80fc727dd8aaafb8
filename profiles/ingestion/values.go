package ingestion

import (
	"strings"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// designer reads what is specific to this profile. It belongs to one call of Design.
type designer struct {
	*values.Reader
	flavour string
}

// testCase reads what a map's loaders do: whether they write batches, and the word to
// print in the document.
func (r *designer) testCase(m string) (putAll bool, word string) {
	p := testCase
	v := r.Pick(p, m+".testCase", "testCase")
	defer func() { r.Show(m+".testCase", map[bool]string{true: casePutAll, false: casePut}[putAll], v) }()
	if v.Origin == workload.OriginDefault && r.flavour == values.FlavourCoherence && r.Original() {
		r.Warn("%s.testCase is not in the file: PadoGrid for Coherence uses getall for it, which is not a test case of ingestion, and runs putall", m)
		if r.Compat {
			return true, caseGetAll
		}
		return true, casePutAll
	}
	if !values.FromProperties(v) {
		word, err := v.Choice(p.Choices...)
		r.Problems.Add(err)
		return word != casePut, word
	}
	text := v.Text
	if r.Trims(v) {
		text = r.Trim(v)
	}
	if t := strings.TrimSpace(text); t != text && !r.Compat {
		r.Warn("%s: %s: blanks around %q are dropped; PadoGrid would run putall", v.Where, v.Name, t)
		text = t
	}
	switch word = strings.ToLower(text); word {
	case casePut:
		return false, word
	case casePutAll:
		return true, word
	case "get", caseGetAll, "tx":
	default:
		word = caseGetAll
	}
	r.Warn("%s: %s: %q is not a test case of ingestion: putall is run, as PadoGrid does", v.Where, v.Name, v.Text)
	if !r.Compat {
		word = casePutAll
	}
	return true, word
}
