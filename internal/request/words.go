package request

import (
	"strings"

	"github.com/perfbench/perfbench/internal/workload"
)

// Words returns the command line that makes the same request. It omits values of a
// lower origin than a plan, since preset and files provide them again, and also the
// password and the folder for run directories. The target is as it is in r.
func (r Request) Words() []string {
	words := []string{"perfbench", "run"}
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" {
				words = append(words, "--"+flag, v)
			}
		}
	}
	run, values := Run{Request: r}, false
	for _, f := range Fields() {
		switch {
		case f.here || f.terminal:
		case f.IsValue() && !values: // all of them stand where the first does
			values = true
			words = append(words, r.values()...)
		case f.text != nil:
			add(f.Name, *f.text(&run))
		case f.list != nil && f.Flag.Commas:
			add(f.Name, strings.Join(*f.list(&run), ","))
		case f.list != nil:
			add(f.Name, *f.list(&run)...)
		}
	}
	return words
}

// values returns the flags of what is a value.
func (r Request) values() []string {
	var words []string
	for _, name := range r.Values.Names() {
		v := r.Values[name]
		f, ok := FieldNamed(name)
		switch {
		case v.Origin < workload.OriginPlan:
		case !ok || !f.IsValue():
			words = append(words, "--set", name+"="+v.Text)
		case f.Kind != workload.Switch:
			words = append(words, "--"+name, v.Text)
		case v.Text == "on":
			words = append(words, "--"+name)
		}
	}
	return words
}

// Shell quotes words for a shell.
func Shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%") != "" {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
