package request

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/workload"
)

// Whatever refuses a plan, the refusal names file and line, and advises in the words of a plan.
func TestEachRefusalOfAPlanNamesItsLine(t *testing.T) {
	file, err := Read("p.yaml", []byte("profile: mix\nrepeat: 3x\ntag: foo\nset:\n  kye: 3\nfind:\n  over: treads\n  from: 1\n"), nil)
	require.NoError(t, err)
	search := file.Runs[0]
	plain := search
	plain.Find = nil
	sweep := search
	sweep.Find, sweep.Sweep, sweep.Request.From = nil, &Sweep{}, map[string]string{"sweep.over": "plan p.yaml:9"}
	of := func(field, text, hint string) error { return fault.Field(field, fault.Input(errors.New(text), hint)) }
	for _, c := range []struct {
		run        Run
		err        error
		text, hint string
	}{
		{plain, of("repeat", `repeat: "3x" is no number`, "write it like --repeat 5"), `p.yaml:2: repeat: "3x" is no number`, "write it like repeat: 5"},
		{plain, of("tag", "tag: \"foo\" (plan p.yaml:3)", ""), "p.yaml:3: tag: \"foo\"", ""},
		{plain, of("kye", "there is none", ""), "p.yaml:5: there is none", ""},
		{plain, of("kye", "p.yaml:5:3: twice", ""), "p.yaml:5:3: twice", ""},
		{plain, of("duration", "duration: none", "add --duration 5s"), "duration: none", "add --duration 5s"},
		{search, of("over", "over: treads", "did you mean threads?"), "p.yaml:7: over: treads", "did you mean threads?"},
		{search, of("", "count: none (plan p.yaml:3)", ""), "p.yaml:3: count: none", ""},
		{search, of("from", "from: 1", "perfbench run mix --from 3"), "p.yaml:8: from: 1", "perfbench run mix --from 3"},
		{sweep, of("thread", `no "thread" (flag --over)`, ""), `p.yaml:9: no "thread"`, ""},
	} {
		got := c.run.Placed(c.err)
		assert.EqualError(t, got, c.text)
		assert.Equal(t, c.hint, fault.HintOf(got), c.text)
		assert.Equal(t, fault.FieldOf(c.err), fault.FieldOf(got), c.text)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(got))
	}
	assert.NoError(t, plain.Placed(nil))
	assert.Len(t, fault.Parts(plain.Placed(errors.Join(of("repeat", "a", ""), of("tag", "b", "")))), 2)
}

// An unknown name says in which profile it was looked up.
func TestAnUnknownNameSaysWhereItWasSought(t *testing.T) {
	p := &workload.Profile{Name: "mix"}
	v := workload.Value{Name: "thread", Text: "1", Origin: workload.OriginPlan, Where: "p.yaml:4"}
	errs := Unknown(workload.Values{"thread": v}, NamesOf(p, nil), []string{"a"})
	require.Len(t, errs, 1)
	assert.EqualError(t, errs[0], `there is no knob or parameter "thread" in profile mix (plan p.yaml:4)`)
	assert.Contains(t, fault.HintOf(errs[0]), "threads")
}

// What a profile lacks for a reason is refused with that.
func TestWhatAProfileLacksHasItsReason(t *testing.T) {
	p := &workload.Profile{Name: "loads", Lacks: workload.NoUsers("loads", "because nobody waits")}
	errs := Unknown(workload.Values{
		"session": {Name: "session", Text: "10", Origin: workload.OriginFlag}, "a.think": {Name: "a.think", Text: "1s", Origin: workload.OriginPlan, Where: "p.yaml:4"},
	}, NamesOf(p, nil), []string{"a"})
	require.Len(t, errs, 2)
	assert.EqualError(t, errs[0], "a.think (plan p.yaml:4): loads has no users, because nobody waits")
	assert.EqualError(t, errs[1], "session (flag): loads has no users, because nobody waits")
	assert.Equal(t, "leave it out; perfbench help run says which profiles have it", fault.HintOf(errs[1]))
}

// Of a list, the line is that of the item that is refused; one that a flag gives instead has none.
func TestARefusedItemOfAListNamesItsOwnLine(t *testing.T) {
	for name, text := range map[string]string{
		"a mapping":          "profile: mix\nat:\n  5s: threads=8\n  10s: treads=3\n  20s:\n    rte: 4\n",
		"a list":             "profile: mix\nat:\n- 5s:threads=8\n- 10s:treads=3\n- 20s:rte=4\n",
		"a list of mappings": "profile: mix\nat:\n- 5s: threads=8\n- 10s: treads=3\n- 20s: rte=4\n",
	} {
		file, err := Read("p.yaml", []byte(text), nil)
		require.NoError(t, err, name)
		r := file.Runs[0].Request
		assert.Equal(t, []string{"5s:threads=8", "10s:treads=3", "20s:rte=4"}, r.Timetable, name)
		assert.Equal(t, "plan p.yaml:4", r.Source("at", `at "10s:treads=3": there is none`), name)
		assert.Equal(t, "plan p.yaml:5", r.Source("at", `at "20s:rte=4": "10s:treads=3" has it, too`), name)
		assert.Equal(t, "plan p.yaml:2", r.Source("at", "at: too many"), name)
		over := Request{Timetable: []string{"10s:treads=3"}}.Over(r)
		assert.Empty(t, over.Source("at", `at "10s:treads=3": there is none`), name)
	}
	file, err := Read("p.yaml", []byte("profile: mix\nthreshold:\n- p99<1s\n- p98<<3\n"), nil)
	require.NoError(t, err)
	assert.EqualError(t, file.Runs[0].Placed(fault.Field("threshold", fault.Input(errors.New(`threshold "p98<<3": bad`), ""))), `p.yaml:4: threshold "p98<<3": bad`)
}

// What a flag asks of a search or a sweep in place of the plan is no line of the plan, and all else keeps its own.
func TestAFlagOfASearchOrASweepIsNoLineOfThePlan(t *testing.T) {
	read := func(text string) Run {
		file, err := Read("p.yaml", []byte(text), nil)
		require.NoError(t, err)
		return file.Runs[0]
	}
	of := func(field string) error { return fault.Field(field, fault.Input(errors.New(field+": bad"), "")) }
	plan := read("profile: mix\nfind:\n  under: p99<1s\n  over: rate\n  from: 1\n  to: 9\n")
	for word, flags := range map[string]find.Asked{"under": {Under: []string{"p50<1s"}}, "over": {Over: "threads"}, "from": {From: "3"}, "to": {To: "5"}} {
		got := plan.Searching(flags)
		for name, line := range map[string]string{"under": "3", "over": "4", "from": "5", "to": "6"} {
			want := "p.yaml:" + line + ": " + name + ": bad"
			if name == word {
				want = name + ": bad"
			}
			assert.EqualError(t, got.Placed(of(name)), want, "with --%s", word)
		}
		assert.EqualError(t, got.Placed(of("arrivals")), "p.yaml:2: arrivals: bad", "what is wrong with a search is so with its line")
	}
	assert.EqualError(t, plan.Placed(of("under")), "p.yaml:3: under: bad", "the plan is as it was")

	plan = read("profile: mix\nfind: {recovers: true}\n")
	assert.EqualError(t, plan.Searching(find.Asked{}).Placed(of("under")), "p.yaml:2: under: bad")
	assert.EqualError(t, plan.Searching(find.Asked{Under: []string{"p50<1s"}}).Placed(of("under")), "under: bad")

	plan = read("profile: mix\nthreshold:\n- p99<1s\n- p98<<3\n").Searching(find.Asked{})
	assert.Equal(t, []string{"p99<1s", "p98<<3"}, plan.Find.Under)
	assert.Empty(t, plan.Request.Thresholds)
	assert.EqualError(t, plan.Placed(fault.Field("under", fault.Input(errors.New(`under "p98<<3": bad`), ""))), `p.yaml:4: under "p98<<3": bad`)

	plan = read("profile: mix\nsweep:\n  over: threads=1,2\n  repeat: 3\n  fault: kill\n")
	for word, flags := range map[string]Sweep{"over": {Over: []string{"rate=1,2"}}, "repeat": {Repeat: "2"}, "fault": {Fault: "power-cut"}} {
		for name, line := range map[string]string{"over": "3", "repeat": "4", "fault": "5"} {
			want := "p.yaml:" + line + ": " + name + ": bad"
			if name == word {
				want = name + ": bad"
			}
			assert.EqualError(t, plan.Sweeping(flags).Placed(of(name)), want, "with --%s", word)
		}
	}
	assert.EqualError(t, plan.Sweeping(Sweep{Over: []string{"rat=1,2"}}).Placed(fault.Field("rat", errors.New(`no "rat" (flag --over)`))), `no "rat" (flag --over)`)
}

// What is wrong with a plan is told in the order of its lines, also the value of a key that is misspelt.
func TestMistakesAreToldByLine(t *testing.T) {
	t.Parallel()
	file, err := Read("p.yaml", []byte("profile: tx\nset: {x: 1}\nduratoin: soon\nthread: many\nthresholdd: p99<1ms\n"), nil)
	require.Error(t, err)
	require.NotNil(t, file)
	r := file.Runs[0]
	assert.Equal(t, "many", r.Request.Values["threads"].Text, "it is read, to be checked")
	assert.Equal(t, "p.yaml:4", r.Request.Values["threads"].Where)
	wrong := ByLine(errors.Join(errors.New("no place"), err, errors.New("p.yaml:2: x")))
	var lines []string
	for _, part := range fault.Parts(wrong) {
		text, _, _ := strings.Cut(part.Error(), ": ")
		lines = append(lines, text)
	}
	assert.Equal(t, []string{"p.yaml:2", "p.yaml:3:1", "p.yaml:4:1", "p.yaml:5:1", "no place"}, lines)
	assert.NoError(t, ByLine(nil))

	file, err = Read("p.yaml", []byte("profile: tx\nthreads: 4\nthread: many\n"), nil)
	require.Error(t, err)
	assert.Equal(t, "4", file.Runs[0].Request.Values["threads"].Text, "the key in its right spelling wins")
}
