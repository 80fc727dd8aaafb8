package eventstore

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

// boxStep is one step of the load as in the woodpecker's service. Missing numbers are
// 0: as configured.
type boxStep struct{ seconds, rate, batch, ticks int64 }

// maxBoxSteps limits steps times cycles.
const maxBoxSteps = 1000

// generatorsUnsaid is the number of generators if the file does not give one.
const generatorsUnsaid = 2

// schedule turns steps and cycles into what a run needs: initial settings, a duration,
// and live changes. A rate in a step is that of one generator.
func (b *boxFile) schedule() {
	if b.steps.Kind() == yaml.Nothing {
		if b.cycles.Kind() != yaml.Nothing {
			b.warn("%s: cycles has no effect: there are no steps", b.cycles.Where())
		}
		return
	}
	if len(b.steps.Items()) == 0 {
		b.steps.Fail("", "steps is not a list of steps such as {duration: 1800, rate: 50000, maxBatchSize: 300}")
		return
	}
	var list []boxStep
	for _, n := range b.steps.Items() {
		list = append(list, b.step(n))
	}
	cycles := int64(1)
	if b.cycles.Kind() != yaml.Nothing {
		cycles = b.cycles.Whole("cycles", 1, math.MaxInt64)
	}
	if cycles*int64(len(list)) > maxBoxSteps {
		b.steps.Fail("", "%d steps in %d cycles are more than %d", len(list), cycles, maxBoxSteps)
		return
	}
	b.lay(slices.Repeat(list, int(max(cycles, 1))))
}

func (b *boxFile) step(n yaml.Node) boxStep {
	var s boxStep
	b.pairs(n, "a step", func(k, v yaml.Node) {
		switch k.Text() {
		case "duration":
			s.seconds = v.Whole("duration of a step", 1, math.MaxInt64)
		case "rate":
			s.rate = v.Whole("rate of a step", 1, math.MaxInt64)
		case "maxBatchSize":
			s.batch = v.Whole("maxBatchSize of a step", 0, math.MaxInt64)
		case "tickRate":
			s.ticks = v.Whole("tickRate of a step", 0, math.MaxInt64)
		case "name":
		case "settings":
			b.ignores(k, "has no effect in a step: those of the box apply to all of them")
		default:
			b.ignores(k, "is unknown in a step and has no effect"+near(k.Text(), []string{"name", "duration", "rate", "maxBatchSize", "tickRate", "settings"}))
		}
	})
	if n.Kind() == yaml.Mapping && s.seconds == 0 {
		n.Fail("", "a step has no duration, in seconds")
	}
	if n.Kind() == yaml.Mapping && s.rate == 0 {
		n.Fail("", "a step has no rate, in events a second of one generator")
	}
	return s
}

// given returns a value set by the file, or "".
func (b *boxFile) given(name string) string {
	for _, v := range b.vs {
		if v.Name == name {
			return v.Text
		}
	}
	return ""
}

// lay lays out steps one after another.
func (b *boxFile) lay(list []boxStep) {
	generators := int64(generatorsUnsaid)
	if n, err := strconv.ParseInt(b.given("threads"), 10, 64); err == nil && n > 0 {
		generators = n
	} else {
		b.vs = append(b.vs, workload.Value{Name: "threads", Text: strconv.Itoa(generatorsUnsaid), Origin: workload.OriginFile, Where: b.path + " (steps are for so many generators)"})
	}
	batch, _ := strconv.ParseInt(b.given("batch"), 10, 64) // 0 if it is not given
	now := boxStep{batch: batch}
	if list[0].ticks > 0 {
		b.set(b.steps, "tickRate", strconv.FormatInt(list[0].ticks, 10))
	}
	var changes []string
	at := int64(0)
	for i, s := range list {
		if s.batch == 0 {
			s.batch = batch
		}
		if s.ticks != 0 && s.ticks != list[0].ticks {
			b.warn("%s: tickRate %d of step %d has no effect: it is that of the first step for all", b.steps.Where(), s.ticks, i+1)
		}
		change := s.since(now, generators)
		if i == 0 {
			for _, c := range change {
				name, text, _ := strings.Cut(c, "=")
				b.set(b.steps, name, text)
			}
		} else if len(change) > 0 {
			changes = append(changes, fmt.Sprintf("%ds:%s", at, strings.Join(change, ",")))
		}
		now, at = s, at+s.seconds
	}
	b.set(b.steps, "duration", fmt.Sprintf("%ds", at))
	if len(changes) > 0 {
		b.set(b.steps, "at", strings.Join(changes, "; "))
	}
}

// since returns what differs from the step before.
func (s boxStep) since(before boxStep, generators int64) []string {
	var out []string
	if s.rate != before.rate {
		out = append(out, fmt.Sprintf("rate=%d", s.rate*generators))
	}
	if s.batch != before.batch {
		out = append(out, fmt.Sprintf("batch=%d", s.batch))
	}
	return out
}
